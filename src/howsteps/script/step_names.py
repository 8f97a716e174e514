"""Names of steps as a how-to would have them: "dip the apples in the caramel".

A name is made of what narrators agree on: the most usual verb with its particle and its object, in
the number and with the article that most of them use, then the place or the tool where enough of
them name one. What a single narrator says is no name while another is to be had.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import dropwhile, pairwise
from typing import TypeVar

from howsteps.script.labels import examples
from howsteps.script.verb_classes import classes_of, is_helper
from howsteps.task import Mention, Relation, Step, Task

PARTICLE_SHARE = 1 / 3  # of the mentions that must have a particle
DETAIL_SHARE, DETAIL_VIDEOS = 0.2, 2  # of the mentions, and videos, that must name a place or tool
CLEARER_SHARE = 0.4  # of the mentions of the usual relation that a clearer one must have
THING_SHARE = 0.2  # of the mentions that must call the object the same
LONGEST = 4  # words of an object that is shown as it is said
_PREPOSITIONS = frozenset("in into on onto at to from around over under through across".split())
_OF_THINGS = frozenset("place insert add mix remove attach cover dip".split())  # classes of verbs
_OF_THEMSELVES = frozenset("sit rest stand drip cool".split())  # things do: "let it rest"
# "Put the butter" is half a sentence; so is "take the egg" where the egg is cracked.
_WANT_A_SPOT = frozenset("lay place position put transfer".split())
_VAGUE_SPOTS = frozenset("side way time minute".split())
_AMOUNTS = frozenset(
    "half quarter cup cups teaspoon teaspoons tablespoon tablespoons ounce ounces pound pounds "
    "gram grams of".split()
)
_OWNERS = frozenset("my our your his her their its this that these those".split())

Key = TypeVar("Key", bound=Hashable)


def named(task: Task, groups: Sequence[Sequence[Mention]]) -> tuple[Step, ...]:
    """Steps with their names and examples; no two have the same name."""
    steps: list[Step] = []
    used: set[str] = set()
    for group in groups:
        label, own = "", list(group)
        for relation in _by_clarity(group):
            own = [mention for mention in group if mention.relation == relation]
            label = name_of(own)
            if label not in used:
                break
        while label in used:
            label = f"{label} again"
        used.add(label)
        step = Step(label, tuple(group), examples(task, own))
        steps.append(step.led_by(own[0].relation) if own else step)
    return tuple(steps)


def name_of(mentions: Sequence[Mention]) -> str:
    """The name of a step from mentions of one verb and noun."""
    with_noun = [mention for mention in mentions if mention.noun] or list(mentions)
    particle = usual_particle(with_noun)
    own = [mention for mention in with_noun if mention.particle == particle] or with_noun
    one = own[0]
    thing = _thing(own) if one.noun else _missing(one, particle)
    if one.verb in _OF_THEMSELVES and one.noun:
        return " ".join(filter(None, ("let", thing, one.verb, particle)))
    spot = _spot(own, 0.0 if _is_half(one.verb, particle) else DETAIL_SHARE)
    where = f" {_spot_words(own, spot)}" if spot else ""
    tool = _detail([(m.video, tool) for m in own for tool in m.tools], DETAIL_SHARE * len(own))
    by = f" with the {tool}" if tool and not spot else ""
    apart = " " in particle or (bool(thing) and particle in {"together", "aside", "apart"})
    words = (one.verb, thing, particle) if apart else (one.verb, particle, thing)
    return " ".join(filter(None, words)) + where + by


def _missing(mention: Mention, particle: str) -> str:
    """What stands for an object that nobody names: "put *it* in the microwave"."""
    return "it" if classes_of(mention.verb, particle) & _OF_THINGS else ""


def _spot(mentions: Sequence[Mention], share: float = DETAIL_SHARE) -> str | None:
    """The noun of the place that narrators agree on; in, into and onto say the same."""
    one = mentions[0]
    if not one.noun:
        return one.relation.noun or None
    said = [
        (m.video, p.noun)
        for m in mentions
        for p in m.places
        if p.noun not in {m.noun, *_VAGUE_SPOTS}
    ]
    return _detail(said, share * len(mentions))


def _is_half(verb: str, particle: str) -> bool:
    """Whether a verb says little without a place."""
    return verb in _WANT_A_SPOT and not particle


def usual_particle(mentions: Sequence[Mention]) -> str:
    """The particle that a third of the mentions have; none where they disagree."""
    counts = Counter(mention.particle for mention in mentions if mention.particle)
    usual = _most(counts)
    enough = max(PARTICLE_SHARE * len(mentions), min(2, len(mentions)))
    return usual if usual is not None and counts[usual] >= enough else ""


def _by_clarity(group: Sequence[Mention]) -> list[Relation]:
    """The relations of a step, those that name it best first.

    The usual one goes first, unless it only readies a thing or lacks its place, and another that
    many say as well does not.
    """
    usual, *others = _by_videos(group)
    counts = Counter(mention.relation for mention in group)
    if not _is_vague(usual, group):
        return [usual, *others]
    clearer = [
        relation
        for relation in others
        if relation.noun
        and counts[relation] >= max(2, CLEARER_SHARE * counts[usual])
        and not _is_vague(relation, group)
    ]
    return [*clearer, usual, *(relation for relation in others if relation not in clearer)]


def _is_vague(relation: Relation, group: Sequence[Mention]) -> bool:
    own = [mention for mention in group if mention.relation == relation]
    particle = usual_particle(own)
    if is_helper(relation.verb, particle):
        return True
    return _is_half(relation.verb, particle) and _spot(own, 0.0) is None


def _by_videos(group: Sequence[Mention]) -> list[Relation]:
    """The relations of a step, those of most videos first; a slip of one narrator last."""
    videos: defaultdict[Relation, set[str]] = defaultdict(set)
    counts: Counter[Relation] = Counter()
    for mention in group:
        videos[mention.relation].add(mention.video)
        counts[mention.relation] += 1
    return sorted(
        counts,
        key=lambda r: (not r.noun, min(2, len(videos[r])) * -1, -counts[r], r),
    )


def _thing(mentions: Sequence[Mention]) -> str:
    """The object with its article: as most narrators say it, or "the" and the noun."""
    said = Counter(
        _object(mention) for mention in mentions if mention.noun and not mention.resolved
    )
    said.pop("", None)
    usual = _most(said)
    enough = max(2.0, THING_SHARE * said.total())
    if usual is not None and said[usual] >= enough and len(usual.split()) <= LONGEST:
        return usual
    noun = _most(Counter(text.split()[-1] for text in said.elements())) or mentions[0].noun
    return f"the {noun}"


def _object(mention: Mention) -> str:
    """The object of a phrase: "dip your apples into the caramel" is "the apples"."""
    words = mention.phrase.split()[1:]
    particle = mention.particle.split()
    if words[: len(particle)] == particle:
        words = words[len(particle) :]
    for place in mention.places:
        words = _before(words, place.preposition.split())
    words = ["the" if word in _OWNERS else word for word in words]
    words = list(dropwhile(_is_amount, words)) or words
    if len(words) > 1 and words[0] in {"all", "both"} and words[1] == "the":
        words = words[1:]
    if particle and words[-len(particle) :] == particle:
        words = words[: -len(particle)]
    if len(words) > 1 and words[-1] == mention.verb:  # "let the steaks rest"
        words = words[:-1]
    return " ".join(words)


def _is_amount(word: str) -> bool:
    """Whether a word is of an amount: those differ from narrator to narrator."""
    return word[:1].isdigit() or word in _AMOUNTS


def _before(words: list[str], preposition: list[str]) -> list[str]:
    many = len(preposition)
    for at in range(len(words) - many + 1):
        if many and words[at : at + many] == preposition:
            return words[:at]
    return words


def _spot_words(mentions: Sequence[Mention], noun: str) -> str:
    """A place as most narrators say it: "in half", "in the pan"."""
    prepositions = Counter(p.preposition for m in mentions for p in m.places if p.noun == noun)
    preposition = _most(prepositions) or ""
    bare = 0
    for mention in mentions:
        words = mention.phrase.split()
        for before, word in pairwise(words):
            if before in _PREPOSITIONS and word.startswith(noun):
                bare += 1
    article = "" if 2 * bare > prepositions.total() else "the"
    return " ".join(filter(None, (preposition, article, noun)))


def _detail(said: Iterable[tuple[str, Key]], fewest: float) -> Key | None:
    """What enough mentions of enough videos name."""
    videos: defaultdict[Key, set[str]] = defaultdict(set)
    counts: Counter[Key] = Counter()
    for video, what in said:
        videos[what].add(video)
        counts[what] += 1
    usual = _most(counts)
    if usual is None or len(videos[usual]) < DETAIL_VIDEOS or counts[usual] < fewest:
        return None
    return usual


def _most(counts: Counter[Key]) -> Key | None:
    return min(counts, key=lambda key: (-counts[key], str(key)), default=None)
