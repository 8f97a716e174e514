"""Names of steps in the style of a how-to, "dip the apples in the caramel", and examples.

A name is what two narrators or more say at the mentions of the step: a verb with its particle, its
object in the words of most of them, then a place or a tool if enough of them name one.

A name must be one that a reader can follow: a bare verb, a measure, a vague object ("scrub the
part"), a verb of placing without a place ("put the ham") or a helper that only prepares ("take the
egg") is not.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import dropwhile
from typing import NamedTuple, TypeVar

from howsteps.narration.grammar import is_blade, is_substance
from howsteps.narration.wordnet import WordNet
from howsteps.script.acts import VAGUE_NOUNS, title_words
from howsteps.script.similarity import classes_of, is_helper
from howsteps.task import Mention, Place, Relation, Task

EXAMPLES = 3
EXAMPLE_WORDS = 10  # the preferred length
PARTICLE_SHARE = 1 / 3  # of the mentions of the relation that names the step
DETAIL_SHARE, DETAIL_VIDEOS = 0.2, 2  # that must name the place or tool; and how many videos
OBJECT_SHARE = 0.2  # that must use the same words for the object
MAX_OBJECT_WORDS = 3  # of an object that is shown as it was said
MIN_NARRATORS = 4  # of a verb that names a step although they say different objects, or none
HELPER_SHARE = 1 / 3  # of the narrators, from which on "take the cuttings" is a step
MIN_WORK = 0.3  # of a mention that tells something about the job
MIXING_SHARE = 0.45  # of the narrators, who add or mix something: then a bowl goes without saying
NEED_A_PLACE = frozenset(
    "bring drop insert lay move place position put send set stick throw transfer".split()
)
_PLACING = frozenset("add attach cover dip insert place pour".split())  # classes of verbs
_TRANSITIVE = _PLACING | frozenset("mix remove wrap roll hold cut".split())
_CUT = frozenset("chop cut scrape slice".split())
_LET_VERBS = frozenset("sit rest stand drip cool".split())  # the object does it: "let it rest"
_DIRECTIONS = frozenset({"in", "on", "down"})  # particles that a place makes superfluous
_MEASURES = frozenset(
    "teaspoon tablespoon cup ounce pound gram half quarter piece pinch dash inch couple drop "
    "degree".split()
)
_BLEMISHES = frozenset(
    "bacteria buildup bubble dirt dust germ grease grime mark mess mildew mold mould odor pocket "
    "residue ring rust scratch smell smudge soot spot stain streak".split()
)
_NO_PLACES = VAGUE_NOUNS | frozenset("angle direction end middle one piece point side top".split())
# What is made of the ingredients; it goes where they were not.
PRODUCTS = frozenset("batter dough ingredient mix mixture".split())
# Prepositions of one kind of place.
_KINDS = {
    **dict.fromkeys(("in", "into", "inside"), "in"),
    **dict.fromkeys(("on", "onto", "on top of", "over"), "on"),
    "around": "around",
    **dict.fromkeys(("out of", "from", "out from"), "out of"),
}
# What precedes an object, and differs from narrator to narrator.
_DETERMINERS = frozenset(
    "the a an some all both each every my our your his her their its this that these those of "
    "half quarter cup cups teaspoon teaspoons tablespoon tablespoons ounce ounces pound pounds "
    "gram grams two three four".split()
)
_PLACE_OF_JOB = re.compile(r"[_ ](?:in|on|at|with|from)[_ ](.*)")
Key = TypeVar("Key", bound=Hashable)


class Name(NamedTuple):
    """The name of a step, and the mentions that it comes from."""

    label: str
    mentions: list[Mention]


class Namer:
    """Names the steps of a task.

    ``agreed`` is the number of narrators who must say the verb with its object.
    """

    def __init__(self, task: Task, agreed: int = 2) -> None:
        self.agreed = agreed
        # What is put somewhere in the job, by noun; and the videos that name a place of this kind.
        self._placed: defaultdict[str, list[Mention]] = defaultdict(list)
        self._places: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        said = (mention for video in task.videos for mention in video.mentions)
        work = [mention for mention in said if mention.work >= MIN_WORK and not mention.negated]
        for mention in work:
            if classes_of(mention.verb, mention.particle) & _PLACING:
                self._placed[mention.noun].append(mention)
            for place in mention.places:
                self._places[_KINDS.get(place.preposition, ""), place.noun].add(mention.video)
        # "Beat the eggs", although the whole job is done "in a microwave".
        place_of_job = _PLACE_OF_JOB.search(task.name)
        self._place_of_job = title_words(place_of_job[1] if place_of_job else "")
        self._narrators = _video_count(work)
        self._mixes = _video_count(filter(_is_mixing, work)) >= MIXING_SHARE * self._narrators

    def name(self, mentions: Sequence[Mention], used: Collection[str] = ()) -> Name | None:
        """A name that a reader can follow; None if there is none.

        ``used`` are names of other steps, which it must not repeat.
        """
        support = _video_count(mentions)
        for relation in _best_first(mentions):
            naming = [mention for mention in mentions if mention.relation == relation]
            spoken = (m for m in naming if not (m.noun and m.resolved))
            if _video_count(spoken) < min(self.agreed, support):
                continue  # what one says, or what "it" may be
            label = self.label(naming, mentions)
            if label is not None and label not in used:
                return Name(label, naming)
        named = _name_of_verb(mentions)
        return None if named is None or named.label in used else named

    def name_or_phrase(self, mentions: Sequence[Mention]) -> Name:
        """A name that a reader can follow; if there is none, the shortest thing narrators say."""
        if (name := self.name(mentions)) is not None:
            return name
        [relation, *_] = _best_first(mentions)
        naming = [mention for mention in mentions if mention.relation == relation]
        return Name(min((m.phrase for m in naming), key=lambda p: (len(p), p)), naming)

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
        if noun in VAGUE_NOUNS | _MEASURES or (verb in _CUT and is_blade(noun)):
            return None
        if verb in _LET_VERBS:
            return _joined("let", _object_phrase(naming), verb, particle)
        return self._label_with_details(usual, mentions, particle)

    def _label_with_details(
        self, usual: Sequence[Mention], mentions: Sequence[Mention], particle: str
    ) -> str | None:
        """The name of a step with its place or tool: "put the ham on the bread"."""
        verb, noun = usual[0].verb, usual[0].noun
        needs_place = verb in NEED_A_PLACE and particle in {"", *_DIRECTIONS}
        adds = is_substance(noun) and (needs_place or "add" in classes_of(verb, particle))
        helps = is_helper(verb, particle)
        similar = [m for m in mentions if m.relation.noun == noun and are_alike(m, usual[0])]
        share = 0.0 if needs_place or adds else DETAIL_SHARE
        place = _agreed_place(usual, noun, share) or _agreed_place(similar, noun, share)
        if not (needs_place or adds) and {*place.split()} & self._place_of_job:
            place = ""
        if (needs_place or helps) and not place:
            own = [mention for mention in mentions if mention.noun == noun]
            place = (
                self._likely_place(own, noun, ("out of",))
                if helps
                else self._likely_place([*own, *self._placed[noun]], noun, ("in", "on", "around"))
            )
        if adds and not place:
            if noun in PRODUCTS or not self._mixes:  # "add the water": to what?
                return None
            if needs_place:
                verb, particle, needs_place = "add", "", False
        tools = [(m.video, tool) for m in similar for tool in m.tools if tool not in VAGUE_NOUNS]
        tool = _agreed(tools, DETAIL_SHARE * len(similar))
        only_prepares = helps and _video_count(usual) < HELPER_SHARE * self._narrators
        # "Remove the stains" is an aim.
        incomplete = needs_place or only_prepares or noun in _BLEMISHES
        if incomplete and not place and tool is None:
            return None
        if verb == "add":
            place = place.replace("into the", "to the").replace("in the", "to the")
        if (place or is_substance(noun)) and particle in _DIRECTIONS:
            particle = ""
        object_ = _object_phrase(usual)
        object_first = " " in particle or particle in {"together", "aside", "apart"}
        words = (object_, particle) if object_first else (particle, object_)
        return _joined(verb, *words, place or (f"with the {tool}" if tool else ""))

    def _likely_place(self, mentions: Sequence[Mention], noun: str, kinds: Sequence[str]) -> str:
        """Where it is done, if narrators agree that it is in or on something, not on its name.

        One puts the cuttings in the pot, another in the soil: the name is the one that most
        narrators of the job use.
        """
        said: dict[str, set[tuple[str, str]]] = {kind: set() for kind in kinds}
        for mention in mentions:
            for place in _fitting_places(mention, noun):
                if (kind := _KINDS.get(place.preposition)) in said and place.noun not in _MEASURES:
                    said[kind].add((mention.video, place.noun))
        kind = max(said, key=lambda kind: len({video for video, _ in said[kind]}))
        if len({video for video, _ in said[kind]}) < DETAIL_VIDEOS:
            return ""
        nouns = sorted({noun for _, noun in said[kind]})
        usual = max(nouns, key=lambda noun: len(self._places[kind, noun]))
        return f"{kind} the {usual}" if len(self._places[kind, usual]) >= DETAIL_VIDEOS else ""


def name_of_additions(names: Sequence[Name]) -> Name:
    """The name of things that are added together: "add the salt, pepper and nutmeg"."""
    _, naming = max(names, key=lambda name: _video_count(name.mentions))
    objects = dict.fromkeys(_object_phrase(name.mentions).removeprefix("the ") for name in names)
    *others, last = objects
    verb = "add" if naming[0].verb in NEED_A_PLACE else naming[0].verb
    listed = f"{', '.join(others)} and {last}" if others else last
    return Name(f"{verb} the {listed}", naming)


def _label_without_object(
    naming: Sequence[Mention], particle: str, mentions: Sequence[Mention]
) -> str | None:
    """The name of a step whose verb has a place only: "go around the wrist"."""
    verb, noun = naming[0].verb, naming[0].relation.noun
    if not noun or noun in VAGUE_NOUNS:
        return None
    where = _place_phrase(naming, noun)
    if not classes_of(verb, particle) & _TRANSITIVE:
        return _joined(verb, particle, where)
    object_ = _usual_object([m for m in mentions if m.noun != noun and are_alike(m, naming[0])])
    return object_ and _joined(verb, object_, where)


def _name_of_verb(mentions: Sequence[Mention]) -> Name | None:
    """A name for a verb that many say of many things or of none: "let the caramel cool"."""
    videos = {(m.verb, m.video) for m in mentions if m.noun or not m.places}
    narrators = Counter(verb for verb, _ in videos)
    verb = _most_common(narrators)
    if verb is None or narrators[verb] < MIN_NARRATORS:
        return None
    if verb in NEED_A_PLACE or "add" in classes_of(verb, "") or is_helper(verb, ""):
        return None
    own = [mention for mention in mentions if mention.verb == verb]
    object_ = _usual_object([m for m in mentions if are_alike(m, own[0])])
    if object_ is None:
        return None
    return Name(f"let {object_} {verb}" if verb in _LET_VERBS else f"{verb} {object_}", own)


def _usual_object(mentions: Sequence[Mention]) -> str | None:
    """The object that two videos or more name, as they say it."""
    named = {(m.video, m.noun) for m in mentions if m.noun not in {"", m.verb, *VAGUE_NOUNS}}
    noun = _agreed(named, 0)
    return None if noun is None else _object_phrase([m for m in mentions if m.noun == noun])


def are_alike(one: Mention, two: Mention) -> bool:
    """Whether the verbs of two mentions are the same or of one class."""
    if one.verb == two.verb:
        return True
    return bool(classes_of(one.verb, one.particle) & classes_of(two.verb, two.particle))


def _is_mixing(mention: Mention) -> bool:
    """Whether a substance is added or mixed."""
    mixes = mention.verb == "add" or "mix" in classes_of(mention.verb, "")
    return mixes and mention.noun != "" and is_substance(mention.noun)


def _video_count(mentions: Iterable[Mention]) -> int:
    return len({mention.video for mention in mentions})


def _joined(*words: str) -> str:
    return " ".join(filter(None, words))


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
    """The object with its article: as most narrators say it, or its noun."""
    counts = Counter(
        _spoken_object(mention) for mention in mentions if mention.noun and not mention.resolved
    )
    counts.pop("", None)
    usual = _most_common(counts)
    enough = max(2.0, OBJECT_SHARE * counts.total())
    if usual is not None and counts[usual] >= enough and len(usual.split()) <= MAX_OBJECT_WORDS:
        return f"the {usual}"
    noun = _most_common(Counter(phrase.split()[-1] for phrase in counts.elements()))
    return f"the {noun or mentions[0].noun}"


def _spoken_object(mention: Mention) -> str:
    """The object of a phrase: "dip your apples into the caramel" has "apples"."""
    words = mention.phrase.split()[1:]
    for place in mention.places:
        words = _before(words, place.preposition.split())
    particle = {*mention.particle.split()}
    words = list(dropwhile(lambda word: word in particle, words))
    while len(words) > 1 and words[-1] in {*particle, mention.verb}:  # "let the steaks rest"
        words.pop()
    return " ".join(dropwhile(lambda word: word in _DETERMINERS or word[:1].isdigit(), words))


def _before(words: list[str], preposition: list[str]) -> list[str]:
    """The words before the first occurrence of a preposition; all words if there is none."""
    length = len(preposition)
    for i in range(len(words) - length + 1):
        if length and words[i : i + length] == preposition:
            return words[:i]
    return words


def _agreed_place(mentions: Sequence[Mention], noun: str, share: float) -> str:
    """The place that enough mentions name, whatever the preposition; empty if there is none."""
    places = [(m.video, place.noun) for m in mentions for place in _fitting_places(m, noun)]
    usual = _agreed(places, share * len(mentions))
    return "" if usual is None else _place_phrase(mentions, usual)


def _fitting_places(mention: Mention, noun: str) -> list[Place]:
    """The places of a mention that can be those of an act with this object."""
    return [p for p in mention.places if p.noun not in {mention.noun, noun, *_NO_PLACES}]


def _place_phrase(mentions: Sequence[Mention], noun: str) -> str:
    """A place as most narrators say it: "in half", "between the fingers"."""
    spoken = [
        (place.preposition, *_spoken_place(mention.phrase.split(), place))
        for mention in mentions
        for place in mention.places
        if place.noun == noun
    ]
    prepositions, articles, words = (Counter[str](column) for column in zip(*spoken, strict=True))
    article = "" if 2 * articles[""] > articles.total() else "the"
    return _joined(_most_common(prepositions) or "", article, _most_common(words) or noun)


def _spoken_place(words: list[str], place: Place) -> tuple[str, str]:
    """The article and the noun of a place as a phrase has them; "the" and its lemma if unclear."""
    preposition = place.preposition.split()
    after = words[len(_before(words, preposition)) + len(preposition) :]
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
