"""Names of steps in the style of a how-to, "dip the apples in the caramel", and examples.

A name is built from what narrators agree on, over all mentions of the step: the most common verb
with its particle and its object, in the number and with the article that most of them use, then a
place or a tool if enough of them name one. A relation of a single narrator is used only if there is
no other. A name must be one that a reader can follow: a bare verb, a measure, or a verb of placing
without a place ("put the ham") is not; of a substance, "add the ham" is.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import dropwhile
from typing import TypeVar

from howsteps.narration.grammar import is_blade, is_cloth, is_substance
from howsteps.script.similarity import classes_of, is_helper
from howsteps.task import Mention, Place, Relation, Step, Task

EXAMPLES = 3
EXAMPLE_WORDS = 10  # the preferred length
# Shares are of the mentions of the relation that names the step.
PARTICLE_SHARE = 1 / 3  # that must have the particle
DETAIL_SHARE, DETAIL_VIDEOS = 0.2, 2  # that must name the place or tool; and how many videos
OBJECT_SHARE = 0.2  # that must use the same words for the object
MAX_OBJECT_WORDS = 4  # of an object that is shown as it was said
# A clearer relation replaces a vague one if it has this share of its mentions.
CLEARER_SHARE = 0.4
VAGUE_WEIGHT = 0.6
# Classes of verbs that need an object.
_TRANSITIVE_CLASSES = frozenset("place insert add mix remove attach cover dip".split())
_LET_VERBS = frozenset("sit rest stand drip cool".split())  # the object does it: "let it rest"
# "Put the butter" is incomplete without a place.
_NEED_A_PLACE = frozenset("lay place position put transfer".split())
_VAGUE_PLACES = frozenset(
    "side way time minute area spot place end part thing point position bit middle direction "
    "one".split()
)
_MEASURES = frozenset(
    "teaspoon tablespoon cup ounce pound gram half quarter piece pinch dash inch minute second "
    "hour amount bit lot couple drop".split()
)
# What is wiped is not the cloth.
_WIPE = frozenset("buff dab dry pat polish rub scrub wipe".split())
_CUT = frozenset("chop cut scrape slice".split())
MAX_NAMINGS = 4  # relations of a step that are tried as its name
MAX_OBJECTS = 3  # that a name lists
# A step of so many videos is named after an object only if two of them name it.
MIN_SUPPORT = 4
_AMOUNTS = frozenset(
    "half quarter cup cups teaspoon teaspoons tablespoon tablespoons ounce ounces pound pounds "
    "gram grams of".split()
)
_POSSESSIVES = frozenset("my our your his her their its this that these those".split())
Key = TypeVar("Key", bound=Hashable)


def name_steps(task: Task, events: Sequence[Sequence[Sequence[Mention]]]) -> tuple[Step, ...]:
    """Make steps with distinct names and with examples.

    Parameters
    ----------
    events
        The mentions of each step; of one that joins several small ones, the mentions of each.
    """
    steps: list[Step] = []
    used: set[str] = set()
    for parts in events:
        label, naming = _event_name(parts, used)
        while label in used:
            label = f"{label} again"
        used.add(label)
        mentions = sorted((m for part in parts for m in part), key=lambda m: (m.video, m.start))
        step = Step(label, tuple(mentions), examples(task, naming))
        steps.append(step.named_after(naming[0].relation))
    return tuple(steps)


def _event_name(
    parts: Sequence[Sequence[Mention]], used: Collection[str]
) -> tuple[str, list[Mention]]:
    """The name of a step, and the mentions that it comes from."""
    if len(parts) == 1:
        named = followable_name(parts[0], used) or followable_name(parts[0])
        if named is None:
            [relation, *_] = _by_clarity(parts[0])
            naming = [mention for mention in parts[0] if mention.relation == relation]
            return step_name(naming) or str(relation), naming
        return named
    named_parts = [_event_name([part], used) for part in parts]
    _, naming = max(named_parts, key=lambda named: len({m.video for m in named[1]}))
    objects = dict.fromkeys(_without_article(_object_phrase(own)) for _, own in named_parts)
    *others, last = list(objects)[:MAX_OBJECTS]
    listed = f"{', '.join(others)} and {last}" if others else last
    verb = "add" if naming[0].verb in _NEED_A_PLACE else naming[0].verb
    return f"{verb} the {listed}", naming


def _without_article(phrase: str) -> str:
    return phrase.removeprefix("the ").removeprefix("some ").removeprefix("a ").removeprefix("an ")


def followable_name(
    mentions: Sequence[Mention], used: Collection[str] = ()
) -> tuple[str, list[Mention]] | None:
    """A name that a reader can follow, and the mentions it comes from; None if there is none.

    ``used`` are names of other steps.
    """
    support = len({mention.video for mention in mentions})
    for relation in _by_clarity(mentions)[:MAX_NAMINGS]:
        naming = [mention for mention in mentions if mention.relation == relation]
        if not relation.noun or relation.noun in _MEASURES:
            continue
        if support >= MIN_SUPPORT and len({mention.video for mention in naming}) < 2:
            break  # what many do to different things
        similar = [
            m for m in mentions if m.relation.noun == relation.noun and _are_alike(m, naming[0])
        ]
        label = step_name(naming, similar)
        if label is not None and label not in used:
            return label, naming
    verbs = Counter(mention.verb for mention in mentions)
    verb = min(verbs, key=lambda verb: (-verbs[verb], verb))
    label = f"{verb} everything together"
    if support >= MIN_SUPPORT and "mix" in classes_of(verb, "") and label not in used:
        return label, [mention for mention in mentions if mention.verb == verb]
    return None


def _are_alike(one: Mention, two: Mention) -> bool:
    """Whether the verbs of two mentions are the same or of one class."""
    if one.verb == two.verb:
        return True
    return bool(classes_of(one.verb, one.particle) & classes_of(two.verb, two.particle))


def examples(task: Task, mentions: Sequence[Mention]) -> tuple[str, ...]:
    """Example sentences, each of another video, easiest to read first.

    Sentences that name the object come before pronouns ("take it off"), active before passive
    ("it is taken off"), then those of a convenient length.
    """
    sentences = {video.id: video.sentences for video in task.videos}
    found: list[tuple[bool, bool, int, str, str]] = []
    for mention in mentions:
        if mention.sentence < len(sentences[mention.video]):
            text = sentences[mention.video][mention.sentence].text
            length = abs(len(text.split()) - EXAMPLE_WORDS)
            found.append((mention.resolved, mention.passive, length, text, mention.video))
    chosen: dict[str, str] = {}
    for *_, text, video in sorted(found):
        if text not in chosen and video not in chosen.values():
            chosen[text] = video
    return tuple(chosen)[:EXAMPLES]


def step_name(mentions: Sequence[Mention], similar: Sequence[Mention] = ()) -> str | None:
    """The name of a step, from mentions of one relation.

    Parameters
    ----------
    similar
        Mentions with the same object and similar verbs, which may name the place or the tool. With
        them, a name that cannot be followed is None.
    """
    with_noun = [mention for mention in mentions if mention.noun] or list(mentions)
    particle = usual_particle(with_noun)
    usual = [mention for mention in with_noun if mention.particle == particle] or with_noun
    first = usual[0]
    verb, noun = first.verb, first.relation.noun
    if not first.noun:
        object_ = _implied_object(first, particle)
        where = _place_phrase(usual, noun) if noun else ""
        return " ".join(filter(None, (verb, particle, object_, where)))
    object_ = _object_phrase(with_noun)
    if verb in _LET_VERBS:
        return " ".join(filter(None, ("let", object_, verb, particle)))
    if verb in _WIPE and is_cloth(noun):
        return " ".join(filter(None, (verb, particle, "with", object_)))
    needs_place = _needs_place(verb, particle)
    share = 0.0 if needs_place else DETAIL_SHARE
    place, placed = _agreed_place(usual, share, noun), usual
    if place is None and similar:
        place, placed = _agreed_place(similar, share, noun), list(similar)
    tools = [(m.video, tool) for m in similar or usual for tool in m.tools if tool != noun]
    tool = _agreed(tools, DETAIL_SHARE * len(similar or usual))
    if needs_place and place is None and similar:
        if is_substance(noun):
            verb = "add"
        elif tool is None:
            return None
    where = f" {_place_phrase(placed, place)}" if place and particle != "in" else ""
    with_tool = f" with the {tool}" if tool and tool not in _VAGUE_PLACES and not where else ""
    object_first = " " in particle or particle in {"together", "aside", "apart"}
    words = (object_, particle) if object_first else (particle, object_)
    return " ".join(filter(None, (verb, *words))) + where + with_tool


def _implied_object(mention: Mention, particle: str) -> str:
    """The pronoun for an object that no mention names: "put *it* in the microwave"."""
    return "it" if classes_of(mention.verb, particle) & _TRANSITIVE_CLASSES else ""


def _agreed_place(mentions: Sequence[Mention], share: float, object_noun: str) -> str | None:
    """The noun of the place that enough mentions name, whatever the preposition."""
    places = [
        (mention.video, place.noun)
        for mention in mentions
        for place in mention.places
        if place.noun not in {mention.noun, object_noun, *_VAGUE_PLACES}
    ]
    return _agreed(places, share * len(mentions))


def _needs_place(verb: str, particle: str) -> bool:
    """Whether a verb says little without a place."""
    return verb in _NEED_A_PLACE and not particle


def usual_particle(mentions: Sequence[Mention]) -> str:
    """The most frequent particle, if a third of the mentions have it; otherwise empty."""
    counts = Counter(mention.particle for mention in mentions if mention.particle)
    usual = _most_common(counts)
    enough = max(PARTICLE_SHARE * len(mentions), min(2, len(mentions)))
    return usual if usual is not None and counts[usual] >= enough else ""


def _by_clarity(group: Sequence[Mention]) -> list[Relation]:
    """The relations of a step, best first for naming it.

    That is the one most videos state as work, unless it is vague and a clearer one is frequent
    enough.
    """
    mentions: defaultdict[Relation, list[Mention]] = defaultdict(list)
    for mention in group:
        mentions[mention.relation].append(mention)
    vague = {relation for relation, own in mentions.items() if _is_vague(relation, own)}
    usual, *others = _by_work(mentions, vague)
    if usual not in vague:
        return [usual, *others]
    enough = max(2, CLEARER_SHARE * len(mentions[usual]))
    clearer = [r for r in others if r.noun and len(mentions[r]) >= enough and r not in vague]
    return [*clearer, usual, *(relation for relation in others if relation not in clearer)]


def _is_vague(relation: Relation, mentions: Sequence[Mention]) -> bool:
    """Whether a relation only prepares ("take the egg") or lacks a place ("put the butter").

    Nor does "cut the knife" say what is cut.
    """
    particle = usual_particle(mentions)
    if is_helper(relation.verb, particle) or (relation.verb in _CUT and is_blade(relation.noun)):
        return True
    return (
        _needs_place(relation.verb, particle)
        and _agreed_place(mentions, 0.0, relation.noun) is None
    )


def _by_work(
    mentions: Mapping[Relation, Sequence[Mention]], vague: Collection[Relation]
) -> list[Relation]:
    """Sort relations by the number of videos that state them as work.

    Each video counts by its probability of work and not talk: more narrators *eat sushi* than
    *cut* it. Vague relations count less; those of one video, then those without an object, are
    last.
    """
    weight: dict[Relation, float] = {}
    n_videos: dict[Relation, int] = {}
    for relation, own in mentions.items():
        work: defaultdict[str, float] = defaultdict(float)
        for mention in own:
            work[mention.video] = max(work[mention.video], mention.work)
        weight[relation] = sum(work.values()) * (VAGUE_WEIGHT if relation in vague else 1.0)
        n_videos[relation] = len(work)
    return sorted(mentions, key=lambda r: (not r.noun, -min(2, n_videos[r]), -weight[r], r))


def _object_phrase(mentions: Sequence[Mention]) -> str:
    """The object with its article: as most narrators say it, or "the" and the noun."""
    counts = Counter(
        _spoken_object(mention) for mention in mentions if mention.noun and not mention.resolved
    )
    counts.pop("", None)
    usual = _most_common(counts)
    enough = max(2.0, OBJECT_SHARE * counts.total())
    if usual is not None and counts[usual] >= enough and len(usual.split()) <= MAX_OBJECT_WORDS:
        return usual
    nouns = Counter(phrase.split()[-1] for phrase in counts.elements())
    noun = _most_common(nouns) or mentions[0].noun
    return " ".join(filter(None, ("the", _agreed_modifier(mentions), noun)))


def _agreed_modifier(mentions: Sequence[Mention]) -> str | None:
    """The word before the noun that most videos use: "the *baking* soda"."""
    modifiers = {(m.video, m.modifiers[-1]) for m in mentions if m.noun and m.modifiers}
    return _agreed(modifiers, len({mention.video for mention in mentions}) // 2 + 1)


def _spoken_object(mention: Mention) -> str:
    """The object of a phrase: "dip your apples into the caramel" has "the apples"."""
    words = mention.phrase.split()[1:]
    particle = mention.particle.split()
    if words[: len(particle)] == particle:
        words = words[len(particle) :]
    for place in mention.places:
        words = _before(words, place.preposition.split())
    words = ["the" if word in _POSSESSIVES else word for word in words]
    words = list(dropwhile(_is_amount, words)) or words
    if len(words) > 1 and words[0] in {"all", "both"} and words[1] == "the":
        words = words[1:]
    if particle and words[-len(particle) :] == particle:
        words = words[: -len(particle)]
    if len(words) > 1 and words[-1] == mention.verb:  # "let the steaks rest"
        words = words[:-1]
    return " ".join(words)


def _is_amount(word: str) -> bool:
    """Whether a word belongs to an amount, which differs from narrator to narrator."""
    return word[:1].isdigit() or word in _AMOUNTS


def _before(words: list[str], preposition: list[str]) -> list[str]:
    """The words before the first occurrence of a preposition; all words if there is none."""
    length = len(preposition)
    for i in range(len(words) - length + 1):
        if length and words[i : i + length] == preposition:
            return words[:i]
    return words


def _place_phrase(mentions: Sequence[Mention], noun: str) -> str:
    """A place as most narrators say it: "in half", "between the fingers"."""
    prepositions: Counter[str] = Counter()
    articles: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for mention in mentions:
        for place in mention.places:
            if place.noun == noun:
                article, word = _spoken_place(mention.phrase.split(), place)
                prepositions[place.preposition] += 1
                articles[article] += 1
                words[word] += 1
    article = "" if 2 * articles[""] > articles.total() else "the"
    phrase = (_most_common(prepositions) or "", article, _most_common(words) or noun)
    return " ".join(filter(None, phrase))


def _spoken_place(words: list[str], place: Place) -> tuple[str, str]:
    """The article and the noun of a place as a phrase has them; "the" and its lemma if unclear."""
    after = words[len(_before(words, place.preposition.split())) :]
    after = after[len(place.preposition.split()) :]
    stem = place.noun[: max(3, len(place.noun) - 2)]
    index = next((i for i, word in enumerate(after) if word.startswith(stem)), None)
    if index is None:
        return "the", place.noun
    return ("the" if index else "", after[index])


def _agreed(named: Iterable[tuple[str, Key]], min_count: float) -> Key | None:
    """The most frequent detail, if enough mentions of enough videos name it.

    Parameters
    ----------
    named
        (video, detail) for each mention of a detail.
    """
    videos: defaultdict[Key, set[str]] = defaultdict(set)
    counts: Counter[Key] = Counter()
    for video, detail in named:
        videos[detail].add(video)
        counts[detail] += 1
    usual = _most_common(counts)
    if usual is None or len(videos[usual]) < DETAIL_VIDEOS or counts[usual] < min_count:
        return None
    return usual


def _most_common(counts: Counter[Key]) -> Key | None:
    """The key with the highest count; ties go to the first in the alphabet."""
    return min(counts, key=lambda key: (-counts[key], str(key)), default=None)
