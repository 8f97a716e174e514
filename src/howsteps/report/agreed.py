"""What narrators agree on besides the steps: tools and ingredients, and durations of steps."""

import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from howsteps.narration.relevance import job_words, stem
from howsteps.narration.wordnet import WordNet
from howsteps.task import Mention, Result, Sentence, Step

_MIN_VIDEOS = 2
_MIN_SHARE = 0.1  # of the videos
_MAX_THINGS = 12
# "You need a jack", "grab a towel": verbs whose object is a tool or an ingredient.
_NEEDING = frozenset("need have get grab take use want require gather".split())
_OF_THE_VIDEO = frozenset({"video", "link"})
# WordNet hypernyms of tools, materials and ingredients; hypernyms of other things; and
# nouns that are too vague to be listed.
_USED = (
    *("instrumentality", "fabric", "commodity", "covering", "decoration", "ware"),
    *("food", "foodstuff", "substance", "material", "liquid", "fuel", "plant part", "plant"),
)
_NOT_USED = (
    *("gas", "body part", "body substance", "person", "vehicle", "meal", "clothing", "footwear"),
    "waste",
)
_VAGUE = "artifact instrumentality commodity covering substance food plant device".split()
_VAGUE += "tool implement product ingredient equipment supply".split()
_MIN_SENSE_SHARE = 0.25  # of the occurrences of a noun, by the frequencies of its senses
_NUMBERS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
} | dict(
    zip("twenty thirty forty fifty sixty ninety".split(), (20, 30, 40, 50, 60, 90), strict=True)
)
_NUMBER = rf"(\d{{1,3}}|{'|'.join(_NUMBERS)})"
_DURATION = re.compile(
    rf"\b{_NUMBER}(?:\s*(?:to|or|-|–)\s*{_NUMBER})?\s+(second|minute|hour|day|week)s?\b"
)


def things_needed(result: Result) -> list[str]:
    """The tools and ingredients that several narrators mention, the most frequent first.

    The object of the job itself (the tire that is changed, the hat that is made) is left out.
    """
    videos_by_noun: dict[str, set[str]] = defaultdict(set)
    for video in result.task.videos:
        for mention in video.mentions:
            for noun in _things(mention):
                videos_by_noun[noun].add(video.id)
    min_videos = max(_MIN_VIDEOS, _MIN_SHARE * len(result.task.videos))
    product = job_words(result.task.name).head
    common = [
        noun
        for noun, videos in videos_by_noun.items()
        if len(videos) >= min_videos and stem(noun) != product
    ]
    is_usable = _usable() if common else bool
    found = [noun for noun in common if is_usable(noun)]
    return sorted(found, key=lambda noun: (-len(videos_by_noun[noun]), noun))[:_MAX_THINGS]


def duration(step: Step, sentences: Mapping[str, Sequence[Sentence]]) -> str:
    """How long a step takes, if at least two narrators say so in the same unit.

    For example "30 to 60 seconds"; otherwise empty.
    """
    by_unit: dict[str, dict[str, tuple[int, int]]] = defaultdict(dict)  # then by video
    for mention in step.mentions:
        narration = sentences.get(mention.video, ())
        if mention.sentence < len(narration):
            for shortest, longest, unit in _durations(narration[mention.sentence], mention):
                by_unit[unit].setdefault(mention.video, (shortest, longest))
    unit = max(by_unit, key=lambda unit: (len(by_unit[unit]), unit), default="")
    if len(by_unit.get(unit, ())) < _MIN_VIDEOS:
        return ""
    spans = by_unit[unit].values()
    low = round(statistics.median(shortest for shortest, _ in spans))
    high = round(statistics.median(longest for _, longest in spans))
    ending = "" if high == 1 else "s"
    return f"{low} to {high} {unit}s" if high > low else f"{high} {unit}{ending}"


def _things(mention: Mention) -> Iterable[str]:
    if mention.negated:
        return
    nouns = [*mention.tools, *([mention.noun] if mention.verb in _NEEDING else [])]
    yield from (noun for noun in nouns if noun.isalpha() and noun not in _OF_THE_VIDEO)


def _usable() -> Callable[[str], bool]:
    """A function that tells whether a noun often means a tool, a material or an ingredient."""
    wordnet = WordNet.load()

    def synsets(names: Iterable[str]) -> set[int]:
        return {s for name in names for s in wordnet.synset_ids(name, "noun").tolist()}

    physical = synsets(["physical entity"])
    used = {s for s in synsets(_USED) if not physical.isdisjoint(wordnet.ancestors(s))}
    food = used & synsets(["food", "foodstuff"])
    not_used = synsets(_NOT_USED)
    vague = synsets(_VAGUE) | {int(wordnet.synset_ids("material", "noun")[0])}

    def is_below(synset: int, heads: set[int]) -> bool:
        above = wordnet.ancestors(synset)
        return not heads.isdisjoint(above) and not_used.isdisjoint(above) and synset not in vague

    def usable(noun: str) -> bool:
        senses = wordnet.synset_ids(noun, "noun").tolist()
        # Sense frequencies with add-one smoothing.
        weights = [1 + count for count in wordnet.tag_counts(noun, "noun").tolist()]
        usable_weight = sum(w for s, w in zip(senses, weights, strict=True) if is_below(s, used))
        # Food may be the second sense: an egg and a fish are animals first.
        is_food = any(is_below(s, food) for s in senses[:2])
        return is_food or 0 < _MIN_SENSE_SHARE * sum(weights) <= usable_weight

    return usable


def _durations(sentence: Sentence, mention: Mention) -> Iterable[tuple[int, int, str]]:
    """The durations (shortest, longest, unit) said within five seconds of a mention."""
    near = [w for w in sentence.words if mention.start - 5 <= w.start <= mention.end + 5]
    text = " ".join(word.text.lower().strip(".,;:!?") for word in near)
    for first, second, unit in _DURATION.findall(text):
        low, high = _value(first), _value(second or first)
        if 0 < low <= high:
            yield low, high, unit


def _value(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS[text]
