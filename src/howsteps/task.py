"""The values that flow through howsteps, from captions to located steps.

A :class:`Task` is a set of :class:`Video` of the same job. Each stage returns new values with one
more part filled in; nothing is changed in place::

    captions ─► words ─► sentences ─► mentions ─► script ─► localisations
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Literal, NamedTuple, TypeAlias

from howsteps.errors import Problem

# Ours, what the paper's text says, what its authors' program did.
Mode: TypeAlias = Literal["default", "paper", "authors"]

# Why a step is placed where it is; empty where it is absent.
SAID = "said here"
LIKE_SAID = "like what others say"
LIKE_SEEN = "looks like the others"
BETWEEN = "between its neighbours"
BY_HAND = "placed by hand"
EVIDENCE = (SAID, LIKE_SAID, LIKE_SEEN, BETWEEN, BY_HAND)

# How sure a place is, in words.
Level: TypeAlias = Literal["sure", "likely", "guess"]
LEVELS: tuple[Level, ...] = ("sure", "likely", "guess")
SURE, LIKELY = 0.7, 0.4  # the least confidence of each
# A video with less than this share of the usual number of steps is odd, if there are some videos.
ODD, FEW = 0.8, 5


@dataclass(frozen=True, slots=True)
class Word:
    """One spoken word and when it is spoken, in seconds."""

    text: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Caption:
    """One line of captions; ``words`` holds word times where the file gives them."""

    start: float
    end: float
    text: str
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence put together again from caption lines."""

    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        """The words with spaces between them."""
        return " ".join(word.text for word in self.words)

    @property
    def start(self) -> float:
        """Start of the first word, in seconds."""
        return self.words[0].start

    @property
    def end(self) -> float:
        """End of the last word, in seconds."""
        return self.words[-1].end


class Relation(NamedTuple):
    """A direct object relation, as lemmas: what narrations are aligned by."""

    verb: str
    noun: str

    def __str__(self) -> str:
        return f"{self.verb} {self.noun}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an act goes: "in the *pan*", "around the *wrist*"; the noun is a lemma."""

    preposition: str
    noun: str


@dataclass(frozen=True, slots=True)
class Mention:
    """One occurrence of an act in one narration.

    ``phrase`` is how people read it ("take off the lug nuts"); ``verb`` and ``noun`` are the lemmas
    that are matched ("take", "nut"). A verb without an object has the noun "". ``places`` say where
    the act goes, ``tools`` what it is done with, ``modifiers`` what tells its object from another
    ("left", "dry"). ``work`` is the probability that this is work of the job that is being done
    now, not talk. ``sentence`` is an index into the video's sentences.
    """

    video: str
    verb: str
    noun: str
    phrase: str
    start: float
    end: float
    particle: str = ""
    modal: str = ""
    negated: bool = False
    resolved: bool = False
    passive: bool = False
    sentence: int = 0
    places: tuple[Place, ...] = ()
    tools: tuple[str, ...] = ()
    modifiers: tuple[str, ...] = ()
    work: float = 1.0

    @property
    def is_work(self) -> bool:
        """Whether this is rather work than talk."""
        return self.work >= 0.5

    @property
    def relation(self) -> Relation:
        """The pair of lemmas that narrations are aligned by.

        A verb without an object goes by its place: "go around the wrist".
        """
        place = self.places[0].noun if self.places else ""
        return Relation(self.verb, self.noun or place)


@dataclass(frozen=True, slots=True)
class Chapter:
    """A part of a video as its publisher named it, and when it begins, in seconds."""

    start: float
    title: str


@dataclass(frozen=True, slots=True)
class Video:
    """One video of a task and what its narrator says.

    ``sentences`` and ``mentions`` are empty until the narration stage has read the captions;
    ``media`` is the video file, where there is one. ``youtube`` is the id under which YouTube has
    the video; ``language`` (a code such as ``en``) and ``chapters`` are as its publisher says.
    """

    id: str
    captions: tuple[Caption, ...] = ()
    title: str = ""
    duration: float | None = None
    media: Path | None = None
    sentences: tuple[Sentence, ...] = ()
    mentions: tuple[Mention, ...] = ()
    youtube: str | None = None
    language: str = ""
    chapters: tuple[Chapter, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """Videos of the same job."""

    name: str
    videos: tuple[Video, ...]


@dataclass(frozen=True)
class Step:
    """One step of the job: the mentions that were aligned in one slot of the script.

    ``stability`` is the share of subsamples of the videos in which the step is found again. An
    ``optional`` step may be left out; an ``alternative`` is done in place of the step before it.
    ``named_by`` is the relation that says best what the step is, where that is not its most
    frequent one. ``learnt_from`` other videos named it, where the script was learnt from others.
    """

    label: str
    mentions: tuple[Mention, ...]
    examples: tuple[str, ...] = ()
    stability: float | None = None
    optional: bool = False
    alternative: bool = False
    named_by: Relation | None = None
    learnt_from: int = 0

    @cached_property
    def support(self) -> int:
        """How many videos name this step."""
        return len({mention.video for mention in self.mentions})

    @cached_property
    def relations(self) -> list[tuple[Relation, int]]:
        """The relations of the step with their counts.

        The one that names it comes first, then the most frequent; verbs without an object last.
        """
        counts = Counter(mention.relation for mention in self.mentions)
        return sorted(
            counts.items(),
            key=lambda item: (item[0] != self.named_by, not item[0].noun, -item[1], item[0]),
        )

    def led_by(self, relation: Relation) -> "Step":
        """The step named by one of its relations; as it is where it has no such relation."""
        found = [one for one, _ in replace(self, named_by=None).relations]
        if relation not in found:
            return self
        return replace(self, named_by=relation if relation != found[0] else None)


@dataclass(frozen=True, slots=True)
class Script:
    """The steps of a task in order, with the objective of what they came from; lower is better.

    Attributes
    ----------
    steps
        The steps in order.
    objective
        In modes ``paper`` and ``authors`` Tr(UᵀBU), the cost of the alignment. In mode ``default``
        minus the score of the model of the steps; the two cannot be compared.
    objective_per_token
        ``objective`` divided by the number of aligned mentions.
    bound
        A value that no objective of the same mode can be below.
    seconds
        How long the search took.
    editor, changes
        The language model that edited the steps, if any did, and what it changed.
    """

    steps: tuple[Step, ...]
    objective: float = 0.0
    objective_per_token: float = 0.0
    bound: float = 0.0
    seconds: float = 0.0
    editor: str = ""
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Localisation:
    """Where one step happens in one video; the step is absent when ``time`` is None.

    ``confidence`` is the probability that the place is right: that the step is in the video, and
    that ``time`` is inside it; 0 where the step is absent. ``presence`` is the probability that the
    step is in the video at all. ``evidence`` is one of :data:`EVIDENCE`, or empty.
    """

    video: str
    step: int
    time: float | None
    start: float | None = None
    end: float | None = None
    confidence: float = 0.0
    evidence: str = ""
    presence: float = 0.0

    @property
    def level(self) -> Level | None:
        """How sure the place is; None where the step is absent, or nothing speaks for the place."""
        measured = self.time is not None and (self.evidence or self.confidence)
        return level(self.confidence) if measured else None


def level(confidence: float) -> Level:
    """How sure a place of this confidence is, in a word."""
    if confidence >= SURE:
        return "sure"
    return "likely" if confidence >= LIKELY else "guess"


@dataclass(frozen=True, slots=True)
class SetAside:
    """A video that is of another job, and how that shows."""

    video: str
    title: str
    reason: str


class WayStep(NamedTuple):
    """A step of another way: its label, and how many videos of that way name it."""

    label: str
    support: int


@dataclass(frozen=True, slots=True)
class OtherWay:
    """Videos that were set aside together, with a script of their own.

    ``reason`` says what tells them: another way of the job, or another job.
    """

    reason: str
    videos: tuple[str, ...]
    steps: tuple[WayStep, ...]


@dataclass(frozen=True)
class Result:
    """A task, its script, and the place of every step in every video.

    ``set_aside`` are the videos that came with the task and are of another job; ``other_ways`` the
    scripts of those among them that have one. ``problems`` lists
    what was repaired or set aside on the way; it is not part of ``result.json``.
    """

    task: Task
    script: Script
    localisations: tuple[Localisation, ...]
    set_aside: tuple[SetAside, ...] = ()
    other_ways: tuple[OtherWay, ...] = ()
    problems: tuple[Problem, ...] = field(default=(), compare=False)

    @cached_property
    def by_video(self) -> dict[str, list[Localisation]]:
        """The localisations of every video, by its id."""
        videos: dict[str, list[Localisation]] = {video.id: [] for video in self.task.videos}
        for place in self.localisations:
            videos.setdefault(place.video, []).append(place)
        return videos

    @cached_property
    def odd_videos(self) -> dict[str, str]:
        """Videos that fit the job badly, by id, and how that shows: few of its steps are there."""
        there = {v: sum(p.presence for p in own) for v, own in self.by_video.items() if own}
        usual = median(there.values()) if len(there) >= FEW else 0.0
        steps = len(self.script.steps)
        return {
            video: (
                f"probably has only about {count:.0f} of the {steps} steps; "
                f"most videos have about {usual:.0f}"
            )
            for video, count in there.items()
            if count < ODD * usual
        }


@dataclass(frozen=True, slots=True)
class Annotation:
    """An interval of a video in which a step is truly done; ``step`` counts in ``Truth.steps``."""

    video: str
    step: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Truth:
    """What people marked in the videos of a task: its true steps, and where each of them is done.

    ``durations`` has every annotated video, also one without any step, with its length in seconds
    where that is known. The order of ``steps`` is that of the source, which need not be the
    order in which the job is done.
    """

    task: str
    steps: tuple[str, ...]
    annotations: tuple[Annotation, ...]
    durations: Mapping[str, float | None]

    @property
    def by_video(self) -> dict[str, list[Annotation]]:
        """The annotations of every video, in the order in which they begin."""
        videos: dict[str, list[Annotation]] = {video: [] for video in self.durations}
        for annotation in sorted(self.annotations, key=lambda a: (a.start, a.end)):
            videos[annotation.video].append(annotation)
        return videos


@dataclass(frozen=True, slots=True)
class Rule:
    """Relations that people accept as naming a true step: any of the verbs, any of the nouns."""

    verbs: frozenset[str]
    nouns: frozenset[str]

    def allows(self, relation: Relation) -> bool:
        """Whether the relation is one of them."""
        return relation.verb in self.verbs and relation.noun in self.nouns
