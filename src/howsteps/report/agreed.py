"""What narrators agree on besides the steps: what they use, and how long a step takes."""

import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from howsteps.narration.job_words import job_words, stem
from howsteps.task import Mention, Result, Sentence, Step
from howsteps.wordnet import WordNet

_FEWEST_VIDEOS = 2
_SHARE = 0.1  # of the videos that must name a thing
_MOST_THINGS = 12
# "You need a jack", "grab a towel": verbs whose object is a thing to have ready.
_NEEDING = frozenset("need have get grab take use want require gather".split())
_OF_THE_VIDEO = frozenset({"video", "link"})
# What WordNet puts below these can be used, or used up; below those, it is no tool or ingredient;
# and the last say too little to be listed.
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
_USUAL = 0.25  # of what a noun means, by how often each sense is meant
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
    """The tools and ingredients that several narrators name, those that most name first.

    What the job is done to (the tire that is changed, the hat that is made) is none of them.
    """
    named: dict[str, set[str]] = defaultdict(set)
    for video in result.task.videos:
        for mention in video.mentions:
            for noun in _things(mention):
                named[noun].add(video.id)
    fewest = max(_FEWEST_VIDEOS, _SHARE * len(result.task.videos))
    product = job_words(result.task.name).head
    common = [n for n, videos in named.items() if len(videos) >= fewest and stem(n) != product]
    is_used = _usable() if common else bool
    found = [noun for noun in common if is_used(noun)]
    return sorted(found, key=lambda noun: (-len(named[noun]), noun))[:_MOST_THINGS]


def duration(step: Step, sentences: Mapping[str, Sequence[Sentence]]) -> str:
    """How long a step takes, where at least two narrators say so in the same unit.

    "30 to 60 seconds"; empty where nothing is agreed on.
    """
    said: dict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    for mention in step.mentions:
        own = sentences.get(mention.video, ())
        if mention.sentence < len(own):
            for shortest, longest, unit in _durations(own[mention.sentence], mention):
                said[unit].setdefault(mention.video, (shortest, longest))
    unit = max(said, key=lambda unit: (len(said[unit]), unit), default="")
    if len(said.get(unit, ())) < _FEWEST_VIDEOS:
        return ""
    spans = said[unit].values()
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
    """Whether a noun often enough names a tool, a material or an ingredient."""
    wordnet = WordNet.load()

    def synsets(names: Iterable[str]) -> set[int]:
        return {s for name in names for s in wordnet.synset_ids(name, "noun").tolist()}

    bodily = synsets(["physical entity"])
    used = {s for s in synsets(_USED) if not bodily.isdisjoint(wordnet.ancestors(s))}
    food = used & synsets(["food", "foodstuff"])
    not_used = synsets(_NOT_USED)
    vague = synsets(_VAGUE) | {int(wordnet.synset_ids("material", "noun")[0])}

    def is_below(synset: int, heads: set[int]) -> bool:
        above = wordnet.ancestors(synset)
        return not heads.isdisjoint(above) and not_used.isdisjoint(above) and synset not in vague

    def usable(noun: str) -> bool:
        senses = wordnet.synset_ids(noun, "noun").tolist()
        # Each sense was meant once more than WordNet's corpora show.
        weights = [1 + count for count in wordnet.tag_counts(noun, "noun").tolist()]
        meant = sum(w for s, w in zip(senses, weights, strict=True) if is_below(s, used))
        # An egg and a fish are animals first, and eaten second.
        eaten = any(is_below(s, food) for s in senses[:2])
        return eaten or 0 < _USUAL * sum(weights) <= meant

    return usable


def _durations(sentence: Sentence, mention: Mention) -> Iterable[tuple[int, int, str]]:
    """The durations that are said within five seconds of a mention."""
    near = [w for w in sentence.words if mention.start - 5 <= w.start <= mention.end + 5]
    text = " ".join(word.text.lower().strip(".,;:!?") for word in near)
    for first, second, unit in _DURATION.findall(text):
        low, high = _value(first), _value(second or first)
        if 0 < low <= high:
            yield low, high, unit


def _value(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS[text]
