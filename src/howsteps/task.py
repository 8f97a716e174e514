"""The data model of howsteps: frozen dataclasses, from captions to localised steps.

A :class:`Task` is a set of :class:`Video` of the same job. Each stage returns copies with one more
field filled in; nothing is changed in place::

    captions ─► words ─► sentences ─► mentions ─► script ─► localisations

The ranges of their values are those that :mod:`howsteps.store` accepts from a file.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from msgspec import Meta

from howsteps.errors import Problem

LATEST = 1e6  # seconds; times beyond eleven days are errors
LONGEST = 24 * 3600.0  # seconds of a video; every third of a second of it takes memory
Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=LONGEST)]  # from the start of a video
Probability: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Index: TypeAlias = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Count: TypeAlias = Annotated[int, Meta(ge=1, le=2**63 - 1)]

# Our method, the paper as published, and the authors' released program.
Mode: TypeAlias = Literal["default", "paper", "authors"]

# Start and end of a place: those found, or widened until the steps cover the whole video.
Extents: TypeAlias = Literal["found", "filled"]

# Evidence for the placement of a step in a video.
SAID = "said here"
LIKE_SAID = "like what others say"
LIKE_SEEN = "looks like the others"
BETWEEN = "between its neighbours"
READ = "read here"
BY_HAND = "placed by hand"
EVIDENCE = (SAID, LIKE_SAID, LIKE_SEEN, BETWEEN, READ, BY_HAND)

# Confidence in words.
Level: TypeAlias = Literal["sure", "likely", "guess"]
LEVELS: tuple[Level, ...] = ("sure", "likely", "guess")
LIKELY = 0.4  # minimum confidence
# Evidence of which four places in five are right on any job, also one that nothing was fitted on.
SURE_EVIDENCE = frozenset({BY_HAND})


@dataclass(frozen=True, slots=True)
class Word:
    """One spoken word with its start and end, in seconds."""

    text: str
    start: Seconds
    end: Seconds


@dataclass(frozen=True, slots=True)
class Caption:
    """One line of captions; ``words`` has the word times, if the file contains them."""

    start: Seconds
    end: Seconds
    text: str
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence reassembled from caption lines."""

    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        """The words, separated by spaces."""
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
    """A verb and its direct object, as lemmas; narrations are aligned by their relations."""

    verb: str
    noun: str

    def __str__(self) -> str:
        return f"{self.verb} {self.noun}"


@dataclass(frozen=True, slots=True)
class Place:
    """A phrase of place: "in the *pan*", "around the *wrist*"; the noun is a lemma."""

    preposition: str
    noun: str


@dataclass(frozen=True, slots=True)
class Mention:
    """One occurrence of an act in one narration.

    ``phrase`` is the text shown to people ("take off the lug nuts"); ``verb`` and ``noun`` are the
    lemmas used for matching ("take", "nut"). ``noun`` is empty for a verb without an object.
    ``tools`` are lemmas of instruments ("with a *wrench*"), ``modifiers`` distinguish the object
    from others of its kind ("left", "dry"). ``resolved`` is true if the object was a pronoun or
    left out. ``work`` is the probability that the act is part of the job and done now, not talk.
    ``start`` and ``end`` are in seconds; ``sentence`` is an index into the video's sentences.
    """

    video: str
    verb: str
    noun: str
    phrase: str
    start: Seconds
    end: Seconds
    particle: str = ""
    negated: bool = False
    resolved: bool = False
    passive: bool = False
    sentence: Index = 0
    places: tuple[Place, ...] = ()
    tools: tuple[str, ...] = ()
    modifiers: tuple[str, ...] = ()
    work: Probability = 1.0

    @property
    def is_work(self) -> bool:
        """Whether this is more likely work than talk."""
        return self.work >= 0.5

    @property
    def relation(self) -> Relation:
        """The pair of lemmas by which narrations are aligned.

        The noun of a verb without an object is that of its first place: "go around the *wrist*".
        """
        place = self.places[0].noun if self.places else ""
        return Relation(self.verb, self.noun or place)


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter of a video, as set by its publisher: start in seconds and title."""

    start: float
    title: str


@dataclass(frozen=True, slots=True)
class Video:
    """One video of a task and its narration.

    ``sentences`` and ``mentions`` are empty until the narration stage has processed the captions;
    ``media`` is the video file, if there is one. ``duration`` is in seconds, None if unknown;
    ``length`` is always known. ``youtube`` is the YouTube id; ``language`` (a code such as ``en``)
    and ``chapters`` come from its metadata. ``captions_end`` is the end of captions that are no
    longer here: those of a video that was read from ``result.json``.
    """

    id: str
    captions: tuple[Caption, ...] = field(default=(), repr=False)  # too long for a terminal
    title: str = ""
    duration: float | None = None
    media: Path | None = None
    sentences: tuple[Sentence, ...] = field(default=(), repr=False)
    mentions: tuple[Mention, ...] = field(default=(), repr=False)
    youtube: str | None = None
    language: str = ""
    chapters: tuple[Chapter, ...] = ()
    captions_end: float = 0.0

    @property
    def length(self) -> float:
        """The duration in seconds; if unknown, the end of the captions and of what is said."""
        if self.duration is not None:
            return self.duration
        spoken = [part.end for part in self.captions or self.sentences]
        return max([self.captions_end, *spoken, *(mention.end for mention in self.mentions)])


@dataclass(frozen=True, slots=True)
class Task:
    """Videos of the same job."""

    name: str
    videos: tuple[Video, ...]


@dataclass(frozen=True)
class Step:
    """One step of the job: the mentions that were aligned in one slot of the script.

    An ``optional`` step may be left out; an ``alternative`` replaces the step before it.
    ``named_by`` is the relation that describes the step best, if that is not its most frequent one.
    If the script was learnt from other videos, ``learnt_from`` is the number of those that mention
    it. ``read_in`` are the videos in which a language model read that it is done. ``also`` is what
    a person wrote after "also:", nothing included; None if howsteps writes it.
    """

    label: str
    mentions: tuple[Mention, ...] = field(repr=False)
    examples: tuple[str, ...] = ()
    optional: bool = False
    alternative: bool = False
    named_by: Relation | None = None
    learnt_from: int = 0
    read_in: frozenset[str] = frozenset()
    also: str | None = None

    @cached_property
    def support(self) -> int:
        """The number of videos in which this step is said, as mentions or a model show."""
        return len(self.read_in.union(mention.video for mention in self.mentions))

    @cached_property
    def relations(self) -> list[tuple[Relation, int]]:
        """The relations of the step with their counts.

        ``named_by`` comes first, then the others by frequency; verbs without an object are last.
        """
        counts = Counter(mention.relation for mention in self.mentions)
        return sorted(
            counts.items(),
            key=lambda item: (item[0] != self.named_by, not item[0].noun, -item[1], item[0]),
        )

    def named_after(self, relation: Relation) -> "Step":
        """Return the step with ``named_by`` set; unchanged if it has no such relation."""
        by_frequency = [other for other, _ in replace(self, named_by=None).relations]
        if relation not in by_frequency:
            return self
        return replace(self, named_by=relation if relation != by_frequency[0] else None)


@dataclass(frozen=True, slots=True)
class Script:
    """The steps of a task in order, and the objective value of the solution (lower is better).

    Attributes
    ----------
    steps
        The steps in order.
    objective
        Tr(UᵀBU), the cost of the alignment, in modes ``paper`` and ``authors``; else 0.
    objective_per_token
        ``objective`` divided by the number of aligned mentions.
    bound
        A lower bound of the objective in the same mode.
    editor, changes
        The language model that edited the steps, if any, and the changes it made.
    """

    steps: tuple[Step, ...]
    objective: float = 0.0
    objective_per_token: float = 0.0
    bound: float = 0.0
    editor: str = ""
    changes: tuple[str, ...] = ()

    def within(self, videos: Collection[str]) -> "Script":
        """The script without the mentions of other videos."""
        steps = (
            replace(
                step,
                mentions=tuple(m for m in step.mentions if m.video in videos),
                read_in=step.read_in.intersection(videos),
            )
            for step in self.steps
        )
        return replace(self, steps=tuple(steps))

    def read(self, readings: "Iterable[Reading]") -> "Script":
        """The script with the videos in which each step was read."""
        videos: dict[int, set[str]] = {index: set() for index in range(len(self.steps))}
        for reading in readings:
            videos[reading.step].add(reading.video)
        steps = (replace(s, read_in=frozenset(videos[k])) for k, s in enumerate(self.steps))
        return replace(self, steps=tuple(steps))


@dataclass(frozen=True, slots=True)
class Reading:
    """A language model read that a step is done from ``start`` to ``end``, in seconds.

    ``first_line`` and ``last_line`` are its lines in the numbered transcript, counted from 1.
    """

    video: str
    step: Index
    start: Seconds
    end: Seconds
    first_line: Count
    last_line: Count

    def has(self, mention: Mention, slack: float = 1.0) -> bool:
        """Whether a mention is in it, or at most some seconds away."""
        near = self.start - slack <= mention.start <= self.end + slack
        return near and self.video == mention.video


@dataclass(frozen=True, slots=True)
class Localisation:
    """Where one step happens in one video; the step is absent when ``time`` is None.

    ``time``, ``start`` and ``end`` are in seconds. ``confidence`` is the probability that the
    placement is right: that the step is in the video and ``time`` is inside it; 0 if the step is
    absent. ``presence`` is the probability that the step is in the video at all. ``evidence`` is
    one of :data:`EVIDENCE`, or empty if the step is absent.
    """

    video: str
    step: Index
    time: Seconds | None
    start: Seconds | None = None
    end: Seconds | None = None
    confidence: Probability = 0.0
    evidence: str = ""
    presence: Probability = 0.0

    @property
    def level(self) -> Level | None:
        """Confidence in a word; None if the step is absent or was not assessed.

        Whether a place is *sure* depends on the kind of its evidence, however high the number.
        """
        if self.time is None or not (self.evidence or self.confidence):
            return None
        if self.evidence in SURE_EVIDENCE:
            return "sure"
        return "likely" if self.confidence >= LIKELY else "guess"


@dataclass(frozen=True, slots=True)
class PlacedStep(Localisation):
    """A step that was found in a video: its localisation, with the label of the step."""

    label: str = ""


@dataclass(frozen=True, slots=True)
class SetAside:
    """A video that was set aside because it shows another job or a person left it out; and why.

    ``probability`` is that of showing another job, if it was estimated.
    """

    video: str
    title: str
    reason: str
    probability: Probability | None = None

    @property
    def because(self) -> str:
        """The reason with the probability: ``hardly says 'egg' (another job: 78% probable)``."""
        return f"{self.reason}{of_another_job([self])}"


def of_another_job(videos: Sequence[SetAside]) -> str:
    """``, about 5 of them of another job``; nothing if that was not estimated."""
    estimated = [video.probability for video in videos if video.probability is not None]
    if len(videos) == len(estimated) == 1:
        return f" (another job: {estimated[0]:.0%} probable)"
    return f", about {sum(estimated):.0f} of them of another job" if estimated else ""


@dataclass(frozen=True)
class Result:
    """A task, its script, and the localisation of every step in every video.

    ``set_aside`` are videos of the input that show another job. ``readings`` are what a language
    model read in the videos ``read_videos``.
    ``problems`` lists what was repaired or left out; it is not part of ``result.json``.
    """

    task: Task
    script: Script
    localisations: tuple[Localisation, ...]
    set_aside: tuple[SetAside, ...] = ()
    readings: tuple[Reading, ...] = ()
    read_videos: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        n_steps, n_videos = len(self.steps), len(self.task.videos)
        return f"<Result {self.task.name!r}: {n_steps} steps in {n_videos} videos>"

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the script, in order."""
        return self.script.steps

    def within(self, videos: Collection[str]) -> "Result":
        """The part of the result that is about these videos."""
        task = replace(self.task, videos=tuple(v for v in self.task.videos if v.id in videos))
        return replace(
            self,
            task=task,
            script=self.script.within(videos),
            localisations=tuple(each for each in self.localisations if each.video in videos),
            readings=tuple(each for each in self.readings if each.video in videos),
            read_videos=self.read_videos & frozenset(videos),
        )

    @cached_property
    def places(self) -> tuple[PlacedStep, ...]:
        """The localisations of the steps that were found, each with the label of its step."""
        return tuple(self._labelled(at) for at in self.localisations if at.time is not None)

    def _labelled(self, at: Localisation) -> PlacedStep:
        return PlacedStep(**asdict(at), label=self.steps[at.step].label)

    def to_json(self) -> str:
        """The text of ``result.json``; paths of videos are relative to the current folder."""
        from howsteps.store import text_of  # noqa: PLC0415 - which needs this module

        return text_of(self, Path.cwd())

    def to_table(self) -> list[dict[str, Any]]:
        """One row for each step and video, absent steps included: ``pandas.DataFrame`` takes it.

        The columns are those of the export ``csv``; values that do not exist are None.
        """
        return [
            {
                "video": at.video,
                "number": at.step + 1,
                "step": self.steps[at.step].label,
                "start": at.start,
                "end": at.end,
                "time": at.time,
                "level": at.level,
                "confidence": at.confidence,
                "evidence": at.evidence,
                "presence": at.presence,
                "supporting_videos": self.steps[at.step].support,
            }
            for at in self.localisations
        ]

    @cached_property
    def by_video(self) -> dict[str, list[PlacedStep]]:
        """The localisations of every video, by video id, each with the label of its step."""
        videos: dict[str, list[PlacedStep]] = {video.id: [] for video in self.task.videos}
        for at in self.localisations:
            videos.setdefault(at.video, []).append(self._labelled(at))
        return videos


@dataclass(frozen=True, slots=True)
class Annotation:
    """A ground-truth segment, in seconds; ``step`` is an index into ``Truth.steps``."""

    video: str
    step: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Truth:
    """Ground truth of a task: its steps, and the annotated segments of each.

    ``durations`` has every annotated video, including those without any step, with its length in
    seconds if known. ``steps`` are in the order of the source, which need not be the order in
    which the job is done.
    """

    task: str
    steps: tuple[str, ...]
    annotations: tuple[Annotation, ...]
    durations: Mapping[str, float | None]

    @property
    def by_video(self) -> dict[str, list[Annotation]]:
        """The annotations of every video, by video id, sorted by start."""
        videos: dict[str, list[Annotation]] = {video: [] for video in self.durations}
        for annotation in sorted(self.annotations, key=lambda a: (a.start, a.end)):
            videos[annotation.video].append(annotation)
        return videos

    def of(self, videos: Iterable[str]) -> "Truth":
        """The truth of only these videos, by id."""
        chosen = set(videos)
        return replace(
            self,
            annotations=tuple(a for a in self.annotations if a.video in chosen),
            durations={v: d for v, d in self.durations.items() if v in chosen},
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """Relations that annotators accept for a true step: any of the verbs with any of the nouns."""

    verbs: frozenset[str]
    nouns: frozenset[str]

    def allows(self, relation: Relation) -> bool:
        """Whether the relation is accepted."""
        return relation.verb in self.verbs and relation.noun in self.nouns
