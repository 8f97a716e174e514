"""Names of steps in the style of a how-to, "dip the apples in the caramel", and examples.

A name is what two narrators or more say at the mentions of the step: a verb with its particle and
its object, in the number and with the article that most of them use, then a place or a tool if
enough of them name one. Only where something is put may come from the rest of the job.

A name must be one that a reader can follow: a bare verb, a measure, a vague object ("scrub the
part"), a verb of placing without a place ("put the ham") or a helper that only prepares ("take the
egg") is not.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import dropwhile
from typing import TypeVar

from howsteps.narration.grammar import is_blade, is_container, is_substance
from howsteps.narration.wordnet import WordNet
from howsteps.script.acts import VAGUE_NOUNS, title_words
from howsteps.script.similarity import classes_of, is_helper
from howsteps.task import Mention, Place, Relation, Step, Task

EXAMPLES = 3
EXAMPLE_WORDS = 10  # the preferred length
PARTICLE_SHARE = 1 / 3  # of the mentions of the relation that names the step
DETAIL_SHARE, DETAIL_VIDEOS = 0.2, 2  # that must name the place or tool; and how many videos
OBJECT_SHARE = 0.2  # that must use the same words for the object
MAX_OBJECT_WORDS = 4  # of an object that is shown as it was said
MAX_OBJECTS = 3  # that a name lists
MIN_COMPLETE = 3  # narrators who say no place: then "set the hook" needs none
MIN_NARRATORS = 4  # of a verb that names a step although they say different objects, or none
HELPER_SHARE = 1 / 3  # of the narrators, from which on "take the cuttings" is a step
MIN_WORK = 0.3  # of a mention that tells something about another
KIND_SHARE = 0.25  # of the narrators, who put it in something, whatever they call it
ELSEWHERE_SHARE = 0.15  # of what is done with the object in the rest of the job
MIXING_SHARE = 0.45  # of the narrators, who add or mix something: then a bowl goes without saying
_PUT = frozenset("insert lay place put stick".split())
# "Put the butter" is incomplete without a place; "set the hook" is not.
NEED_A_PLACE = _PUT | frozenset("bring drop move position send set throw transfer".split())
_PLACING = frozenset("add attach cover dip insert place pour".split())  # classes
_TRANSITIVE = _PLACING | frozenset("mix remove wrap roll hold cut".split())
_LET_VERBS = frozenset("sit rest stand drip cool".split())  # the object does it: "let it rest"
_VAGUE = VAGUE_NOUNS | frozenset("amount area excess part place position spot surface".split())
_VAGUE_PLACES = _VAGUE | frozenset(
    "angle bit direction end middle minute one part piece point side top".split()
)
# What is made of the ingredients; it goes where they were not.
PRODUCTS = frozenset("batter dough ingredient mix mixture".split())
_MEASURES = frozenset(
    "teaspoon tablespoon cup ounce pound gram half quarter piece pinch dash inch minute second "
    "hour amount bit lot couple drop degree".split()
)
_BLEMISHES = frozenset(
    "bacteria buildup bubble dirt dust germ grease grime mark mess mildew mold mould odor pocket "
    "residue ring rust scratch smell smudge soot spot stain streak".split()
)
# Prepositions of one kind of place.
_WHERE = ("in", "on", "around")
_KINDS = {
    **dict.fromkeys(("in", "into", "inside"), "in"),
    **dict.fromkeys(("on", "onto", "on top of", "over"), "on"),
    "around": "around",
    **dict.fromkeys(("out of", "from", "out from"), "out of"),
}
_CUT = frozenset("chop cut scrape slice".split())
_AMOUNTS = frozenset(
    "half quarter cup cups teaspoon teaspoons tablespoon tablespoons ounce ounces pound pounds "
    "gram grams of".split()
)
_POSSESSIVES = frozenset("my our your his her their its this that these those".split())
_PLACE_OF_JOB = re.compile(r"[_ ](?:in|on|at|with|from)[_ ].*")
_FUNCTION_WORDS = frozenset("the a an some all up down over off out".split())
_DETERMINERS = frozenset("the a an some all both each every one two three four".split())
# Verbs of what is new in the job, or of a quantity: "add milk", "draw lines".
_INDEFINITE = frozenset("add choose dig draw drill make measure plant season serve".split())
Key = TypeVar("Key", bound=Hashable)


class Namer:
    """Names the steps of a task.

    ``agreed`` is the number of narrators who must say the verb with its object.
    """

    def __init__(self, task: Task, agreed: int = 2) -> None:
        self.agreed = agreed
        self._of_noun: defaultdict[str, list[Mention]] = defaultdict(list)
        # The videos that name a place of this kind, and that put an object there.
        self._places: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        self._put: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        said = (mention for video in task.videos for mention in video.mentions)
        work = [mention for mention in said if mention.work >= MIN_WORK and not mention.negated]
        for mention in work:
            self._of_noun[mention.noun].append(mention)
            for place in mention.places:
                kind = _KINDS.get(place.preposition, "")
                self._places[kind, place.noun].add(mention.video)
                if kind in _WHERE:
                    self._put[mention.noun, place.noun].add(mention.video)
        self._title = title_words(task.name)
        # "Beat the eggs", although the whole job is done "in a microwave".
        self._title_places = self._title - title_words(_PLACE_OF_JOB.sub("", task.name))
        self._narrators = _video_count(work)
        self._mixes = _video_count(filter(_is_mixing, work)) >= MIXING_SHARE * self._narrators

    def name(
        self, mentions: Sequence[Mention], used: Collection[str] = ()
    ) -> tuple[str, list[Mention]] | None:
        """A name that a reader can follow, and the mentions it comes from; None if there is none.

        ``used`` are names of other steps, which it must not repeat.
        """
        support = _video_count(mentions)
        if (named := _name_everything(mentions)) and named[0] not in used:
            return named
        for relation in _best_first(mentions):
            naming = [mention for mention in mentions if mention.relation == relation]
            spoken = (m for m in naming if not (m.noun and m.resolved))
            if _video_count(spoken) < min(self.agreed, support):
                continue  # what one says, or what "it" may be
            label = self.label(naming, mentions)
            if label is not None and not any(_repeats(label, other) for other in used):
                return label, naming
        return self._name_of_verb(mentions, used)

    def label(self, naming: Sequence[Mention], mentions: Sequence[Mention]) -> str | None:
        """The name of a step after one of its relations; None if a reader could not follow it.

        Parameters
        ----------
        naming
            The mentions of that relation.
        mentions
            All mentions of the step.
        """
        naming = [mention for mention in naming if mention.noun] or naming
        particle = usual_particle(naming)
        usual = [mention for mention in naming if mention.particle == particle] or naming
        verb, noun = usual[0].verb, usual[0].noun
        if not noun:
            return _label_without_object(usual, particle, mentions)
        if (
            noun in _VAGUE | _MEASURES
            or (verb in _CUT and is_blade(noun))  # what is cut with it?
            or (verb == "turn" and not particle and is_substance(noun))  # on or off?
        ):
            return None
        object_ = self._definite(_object_phrase(naming), verb, particle, noun)
        if verb != "let" and (verb in _LET_VERBS or _is_let(naming)):
            return _joined("let", object_, verb, particle)
        return self._label_with_details(usual, mentions, particle, object_)

    def _label_with_details(
        self, usual: Sequence[Mention], mentions: Sequence[Mention], particle: str, object_: str
    ) -> str | None:
        """The name of a step with its place or tool: "put the ham on the bread"."""
        verb, noun = usual[0].verb, usual[0].noun
        if particle in {"in", "on", "down"} and is_substance(noun):
            particle = ""
        never_bare = verb in _PUT or is_substance(noun) or is_container(noun)
        needs_place = (
            verb in NEED_A_PLACE
            and particle in {"", "in", "down"}
            and (never_bare or _video_count(usual) < MIN_COMPLETE)
        )
        is_addition = is_substance(noun) and (needs_place or "add" in classes_of(verb, particle))
        similar = [m for m in mentions if m.relation.noun == noun and _are_alike(m, usual[0])]
        place = self._place(usual, similar, is_put=needs_place or is_addition)
        if is_addition and not place:
            if noun in PRODUCTS or not self._mixes:  # "add the water": to what?
                return None
            if needs_place:
                verb, particle, needs_place = "add", "", False
        place = place or self._likely_place(usual, mentions, is_put=needs_place)
        tools = [(m.video, t) for m in similar for t in m.tools if t not in {noun, *_VAGUE}]
        tool = _agreed(tools, DETAIL_SHARE * len(similar))
        is_rare = _video_count(usual) < HELPER_SHARE * self._narrators
        only_prepares = is_helper(verb, particle) and is_rare
        # "Remove the stains" is an aim.
        incomplete = needs_place or only_prepares or noun in _BLEMISHES
        if incomplete and not place and tool is None:
            return None
        verb, place = _going_together(verb, place)
        if place and particle in {"in", "on", "down"}:
            particle = ""
        detail = place or (f"with the {tool}" if tool else "")
        object_first = " " in particle or particle in {"together", "aside", "apart"}
        words = (object_, particle) if object_first else (particle, object_)
        return _joined(verb, *words, detail)

    def _place(self, usual: Sequence[Mention], similar: Sequence[Mention], *, is_put: bool) -> str:
        """Where it is done, if enough mentions of the step say so: "in the pan".

        What is put somewhere goes where narrators put it in the rest of the job.
        """
        noun = usual[0].noun
        share = 0.0 if is_put else DETAIL_SHARE
        put = [m for m in self._of_noun[noun] if classes_of(m.verb, m.particle) & _PLACING]
        sources = [(usual, share), (similar, share), (put, ELSEWHERE_SHARE)]
        for source, share in sources[: 2 + is_put]:
            place = self._agreed_place(source, noun, share)
            if place and (is_put or place not in self._title_places):
                return _place_phrase(source, place)
        return ""

    def _agreed_place(self, mentions: Sequence[Mention], noun: str, share: float) -> str | None:
        """The noun of the place that enough mentions name, whatever the preposition."""
        places = [
            (mention.video, place.noun)
            for mention in mentions
            for place in self._fitting_places(mention, noun)
        ]
        return _agreed(places, share * len(mentions))

    def _fitting_places(self, mention: Mention, noun: str) -> list[Place]:
        """The places of a mention that fit what is done.

        Nothing is removed *onto* the ground, and where apples go into the caramel, no caramel goes
        into the apples.
        """
        is_removed = "remove" in classes_of(mention.verb, mention.particle)
        return [
            place
            for place in mention.places
            if place.noun not in {mention.noun, noun, *_VAGUE_PLACES}
            and not (is_removed and _KINDS.get(place.preposition) in _WHERE)
            and len(self._put[mention.noun, place.noun]) >= len(self._put[place.noun, mention.noun])
        ]

    def _likely_place(
        self, usual: Sequence[Mention], mentions: Sequence[Mention], *, is_put: bool
    ) -> str:
        """Where it is done, if narrators agree that it is in or on something, not on its name.

        One puts the cuttings in the pot, another in the soil: the name is the one that most
        narrators of the job use.
        """
        noun, helps = usual[0].noun, is_helper(usual[0].verb, usual[0].particle)
        own, share = [mention for mention in mentions if mention.noun == noun], 0.0
        if is_substance(noun) and noun not in PRODUCTS and not helps:
            own, share = [m for m in own if _are_alike(m, usual[0])], KIND_SHARE
        elif is_put:
            own += [m for m in self._of_noun[noun] if classes_of(m.verb, m.particle) & _PLACING]
        elif not helps:
            return ""
        unlikely = _MEASURES | self._title_places
        said: dict[str, set[tuple[str, str]]] = {
            kind: {
                (mention.video, place.noun)
                for mention in own
                for place in self._fitting_places(mention, noun)
                if _KINDS.get(place.preposition) == kind and place.noun not in unlikely
            }
            for kind in (("out of",) if helps else _WHERE)
        }
        narrators = {kind: len({video for video, _ in said[kind]}) for kind in said}
        kind = max(narrators, key=lambda kind: narrators[kind])
        if narrators[kind] < max(DETAIL_VIDEOS, share * _video_count(own)):
            return ""
        nouns = sorted({noun for _, noun in said[kind]})
        usual_one = max(nouns, key=lambda noun: len(self._places[kind, noun]))
        enough = len(self._places[kind, usual_one]) >= DETAIL_VIDEOS
        return f"{kind} the {usual_one}" if enough else ""

    def _definite(self, phrase: str, verb: str, particle: str, noun: str) -> str:
        """An object with its article: what the job is about is known, and so is most else."""
        words = phrase.split()
        if words[0] in {"a", "an"} and noun in self._title:
            return " ".join(("the", *words[1:]))
        bare = len(words) <= 2 and words[0] not in _DETERMINERS
        return f"the {phrase}" if bare and not classes_of(verb, particle) & _INDEFINITE else phrase

    def _name_of_verb(
        self, mentions: Sequence[Mention], used: Collection[str]
    ) -> tuple[str, list[Mention]] | None:
        """A name for a verb that many say of many things or of none: "let the caramel cool"."""
        verb, narrators = _usual_verb(m for m in mentions if m.noun or not m.places)
        if narrators < MIN_NARRATORS or verb in NEED_A_PLACE or "add" in classes_of(verb, ""):
            return None
        own = [mention for mention in mentions if mention.verb == verb]
        object_ = _usual_object([m for m in mentions if _are_alike(m, own[0])])
        if object_ is None or is_helper(verb, ""):
            return None
        label = f"let the {object_} {verb}" if verb in _LET_VERBS else f"{verb} the {object_}"
        return None if any(_repeats(label, other) for other in used) else (label, own)


def _label_without_object(
    naming: Sequence[Mention], particle: str, mentions: Sequence[Mention]
) -> str | None:
    """The name of a step whose verb has a place only: "go around the wrist"."""
    verb, noun = naming[0].verb, naming[0].relation.noun
    if not noun or noun in _VAGUE:
        return None
    where = _place_phrase(naming, noun)
    if not classes_of(verb, particle) & _TRANSITIVE:
        return _joined(verb, particle, where)
    object_ = _usual_object([m for m in mentions if _are_alike(m, naming[0])])
    return f"{verb} the {object_} {where}" if object_ and object_ != noun else None


def _usual_object(mentions: Sequence[Mention]) -> str | None:
    """The object that two videos or more name, as they say it, without its article."""
    named = {(m.video, m.noun) for m in mentions if m.noun not in {"", m.verb, *_VAGUE}}
    noun = _agreed(named, 0)
    if noun is None:
        return None
    return _without_article(_object_phrase([m for m in mentions if m.noun == noun]))


def name_steps(
    task: Task, events: Sequence[Sequence[Sequence[Mention]]], namer: Namer | None = None
) -> tuple[Step, ...]:
    """Make steps with distinct names and with examples.

    Parameters
    ----------
    events
        The mentions of each step; of one that joins several small ones, the mentions of each.
    """
    namer = namer or Namer(task)
    steps: list[Step] = []
    used: set[str] = set()
    for parts in events:
        label, naming = _event_name(namer, parts, used)
        while label in used:
            label = f"{label} again"
        used.add(label)
        mentions = sorted((m for part in parts for m in part), key=lambda m: (m.video, m.start))
        step = Step(label, tuple(mentions), examples(task, naming))
        steps.append(step.named_after(naming[0].relation))
    return tuple(steps)


def _event_name(
    namer: Namer, parts: Sequence[Sequence[Mention]], used: Collection[str]
) -> tuple[str, list[Mention]]:
    """The name of a step, and the mentions that it comes from."""
    if len(parts) == 1:
        named = namer.name(parts[0], used) or namer.name(parts[0])
        if named is None:
            [relation, *_] = _best_first(parts[0])
            naming = [mention for mention in parts[0] if mention.relation == relation]
            return min((m.phrase for m in naming), key=lambda p: (len(p), p)), naming
        return named
    named_parts = [_event_name(namer, [part], used) for part in parts]
    _, naming = max(named_parts, key=lambda named: _video_count(named[1]))
    objects = dict.fromkeys(_without_article(_object_phrase(own)) for _, own in named_parts)
    *others, last = list(objects)[:MAX_OBJECTS]
    listed = f"{', '.join(others)} and {last}" if others else last
    return f"{'add' if naming[0].verb in NEED_A_PLACE else naming[0].verb} the {listed}", naming


def _name_everything(mentions: Sequence[Mention]) -> tuple[str, list[Mention]] | None:
    """What is mixed or rolled up with few saying what it is: "roll up everything"."""
    verb, narrators = _usual_verb(mentions)
    own = [mention for mention in mentions if mention.verb == verb]
    classes = classes_of(verb, "") & {"mix", "wrap"}
    objects = Counter(noun for noun, _ in {(m.noun, m.video) for m in own if m.noun})
    few = max(objects.values(), default=0) < OBJECT_SHARE * narrators
    if narrators < MIN_NARRATORS or not classes or not few:
        return None
    return f"{verb} everything {'together' if 'mix' in classes else 'up'}", own


def _usual_verb(mentions: Iterable[Mention]) -> tuple[str, int]:
    """The verb that most narrators use, and how many do."""
    counts: Counter[str] = Counter(verb for verb, _ in {(m.verb, m.video) for m in mentions})
    verb: str | None = _most_common(counts)
    return verb or "", counts[verb or ""]


def _video_count(mentions: Iterable[Mention]) -> int:
    return len({mention.video for mention in mentions})


def _repeats(name: str, other: str) -> bool:
    """Whether one of two names says nothing new: "wipe down the stove", "wipe it with a cloth"."""
    one, two = _content(name), _content(other)
    return one <= two or two <= one


def _content(name: str) -> set[str]:
    """The words of a name without articles, directions and endings."""
    return {word.removesuffix("s") for word in name.split() if word not in _FUNCTION_WORDS}


def _joined(*words: str) -> str:
    return " ".join(filter(None, words))


def _without_article(phrase: str) -> str:
    return phrase.removeprefix("the ").removeprefix("some ").removeprefix("a ").removeprefix("an ")


def _are_alike(one: Mention, two: Mention) -> bool:
    """Whether the verbs of two mentions are the same or of one class."""
    if one.verb == two.verb:
        return True
    return bool(classes_of(one.verb, one.particle) & classes_of(two.verb, two.particle))


def _is_mixing(mention: Mention) -> bool:
    """Whether a substance is added or mixed."""
    mixes = mention.verb == "add" or "mix" in classes_of(mention.verb, "")
    return mixes and mention.noun != "" and is_substance(mention.noun)


def _going_together(verb: str, place: str) -> tuple[str, str]:
    """A verb and a place as they are said together: "add to", "put on" and "mix in"."""
    if verb == "add":
        onto = place.startswith("on")
        return "put" if onto else verb, re.sub(r"^in(to)? the", "to the", place)
    return verb, re.sub("^into the", "in the", place) if "mix" in classes_of(verb, "") else place


def _is_let(mentions: Sequence[Mention]) -> bool:
    return 2 * sum(mention.phrase.startswith("let ") for mention in mentions) > len(mentions)


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


def usual_particle(mentions: Sequence[Mention]) -> str:
    """The most frequent particle, if a third of the mentions have it; otherwise empty."""
    counts = Counter(mention.particle for mention in mentions if mention.particle)
    usual = _most_common(counts)
    if usual is None or counts[usual] < max(PARTICLE_SHARE * len(mentions), min(2, len(mentions))):
        return ""
    phrasal = f"{mentions[0].verb}_{usual}"
    known = WordNet.load().knows(phrasal, "verb") or classes_of(mentions[0].verb, usual)
    return usual if known or usual not in {"on", "in", "at", "by", "through"} else ""


def _best_first(group: Sequence[Mention]) -> list[Relation]:
    """The relations of a step, best first for naming it.

    Each video counts by its probability of work and not talk: more narrators *eat sushi* than *cut*
    it. Those of one video, then those without an object, are last.
    """
    work: defaultdict[Relation, dict[str, float]] = defaultdict(dict)
    for mention in group:
        own = work[mention.relation]
        own[mention.video] = max(own.get(mention.video, 0.0), mention.work)
    weight = {relation: sum(own.values()) for relation, own in work.items()}
    return sorted(work, key=lambda r: (not r.noun, -min(2, len(work[r])), -weight[r], r))


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
    return f"the {noun}"


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
    preposition = _most_common(prepositions) or ""
    if preposition == "between" and (plural := {word for word in words if word != noun}):
        words = Counter({word: words[word] for word in plural})  # "between each finger"
    phrase = (preposition, article, _most_common(words) or noun)
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
