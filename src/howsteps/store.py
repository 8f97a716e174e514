"""The JSON files of howsteps, each described once: read, checked and written by its description.

``result.json`` (``docs/reference/result.md``) and the cache hold narrations,
scripts and localisations as they are described here. A file may come from another person: an error
names the file and the place in it, as in ``videos[3].duration: expected float | null, got str``.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from sys import intern
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

import howsteps
from howsteps.errors import InputError
from howsteps.io.files import Folder
from howsteps.io.text import json_parts, read_text
from howsteps.task import (
    Chapter,
    Count,
    Index,
    Localisation,
    Mention,
    Reading,
    Relation,
    Result,
    Script,
    Seconds,
    Sentence,
    SetAside,
    Step,
    Task,
    Video,
    Word,
)

_T = TypeVar("_T")

VERSION: Literal[3] = 3  # of result.json
FILE = "result.json"
_LARGEST = 10**9  # bytes: about twenty thousand narrations
_LINES = 4  # nesting depth down to which JSON is split into lines: one per sentence or mention


class Record(Struct, forbid_unknown_fields=True):
    """An object of a file."""


class SentenceRecord(Record):
    """A sentence; ``text`` has the words separated by spaces."""

    start: Seconds
    end: Seconds
    text: str
    words: Annotated[
        list[tuple[str, Seconds, Seconds]],
        Meta(min_length=1, description="Every word with its start and end."),
    ]


# A mention is stored with its video, and does not repeat the id of it.
_FIELDS = [f for f in fields(Mention) if f.name != "video"]
_HINTS = get_type_hints(Mention, include_extras=True)
MentionRecord: Any = msgspec.defstruct(
    "MentionRecord",
    [
        (f.name, _HINTS[f.name], msgspec.NODEFAULT if f.default is MISSING else f.default)
        for f in _FIELDS
    ],
    bases=(Record,),
    module=__name__,
    namespace={"__doc__": Mention.__doc__},
)


class NarrationRecord(Record):
    """The sentences and mentions of one video."""

    sentences: list[SentenceRecord]
    mentions: list[MentionRecord]


class VideoRecord(Record, kw_only=True):
    """A video and its narration, without its captions."""

    id: Annotated[str, Meta(min_length=1)]
    title: str
    duration: Annotated[Seconds | None, Meta(description="Null if unknown.")]
    captions_end: Annotated[
        Seconds | UnsetType,
        Meta(description="Only if the duration is unknown, and captions follow the last sentence."),
    ] = UNSET
    media: Annotated[
        str | None,
        Meta(description="The video file, relative to the folder of this file, or null."),
    ]
    youtube: Annotated[str | None, Meta(description="The id of the video on YouTube.")] = None
    language: Annotated[str, Meta(description='Code from the publisher: "en".')] = ""
    chapters: Annotated[
        list[tuple[Seconds, str]], Meta(description="Start and title, set by the publisher.")
    ] = []
    sentences: list[SentenceRecord]
    mentions: list[MentionRecord]


class RelationRecord(Record):
    """A relation of a step, and how many of its mentions have it."""

    verb: str
    noun: str
    count: Count


class MentionIndex(Record):
    """A mention of a step: the id of a video, and an index into its mentions."""

    video: str
    mention: Index


class StepRecord(Record, kw_only=True):
    """A step; ``support`` is the number of videos in which it is said."""

    label: str
    support: Index
    optional: Annotated[bool, Meta(description="Whether the step may be left out.")] = False
    alternative: Annotated[bool, Meta(description="Whether it replaces the one before.")] = False
    learnt_from: Annotated[
        Index | UnsetType, Meta(description="Videos that mentioned it where it was learnt.")
    ] = UNSET
    also: Annotated[
        str | UnsetType, Meta(description='What a person wrote after "also:" in script.md.')
    ] = UNSET
    relations: Annotated[list[RelationRecord], Meta(description="Most frequent first.")]
    examples: list[str]
    mentions: list[MentionIndex]


class AlignmentRecord(Record):
    """The quality of the alignment behind a script; no alignment is below ``bound``."""

    objective: float = 0.0
    objective_per_token: float = 0.0
    bound: float = 0.0


class EditRecord(Record):
    """What a language model changed in a script."""

    editor: str
    changes: list[str]


class ScriptRecord(Record):
    """A script."""

    steps: list[StepRecord]
    alignment: AlignmentRecord = msgspec.field(default_factory=AlignmentRecord)
    edit: EditRecord | UnsetType = UNSET


class ResultRecord(Record, kw_only=True):
    """The steps of a job and their place in every video. Times are seconds, to the millisecond."""

    version: Literal[3]
    howsteps: Annotated[str, Meta(description="Version of the program that wrote the file.")]
    task: Annotated[str, Meta(description="Name of the job.")]
    videos: list[VideoRecord]
    steps: Annotated[list[StepRecord], Meta(description="The script: the steps in order.")]
    alignment: AlignmentRecord
    edit: EditRecord | UnsetType = UNSET
    localisations: Annotated[
        list[Localisation], Meta(description="At most one for each video and step.")
    ]
    set_aside: Annotated[list[SetAside], Meta(description="Videos of another job.")] = []
    readings: Annotated[
        list[Reading] | UnsetType,
        Meta(description="Where a language model read that a step is done; only if one was asked."),
    ] = UNSET
    read_videos: Annotated[
        list[str] | UnsetType, Meta(description="The videos that it read; only if one was asked.")
    ] = UNSET


def schema() -> dict[str, Any]:
    """The JSON schema (2020-12) that every ``result.json`` follows."""
    return msgspec.json.schema(ResultRecord)


# Reading


def read_record(path: Path, kind: type[_T], largest: int = _LARGEST) -> _T:
    """Read a JSON file that follows a description.

    Raises
    ------
    InputError
        It cannot be read, or does not follow it; the message says where.
    """
    data = read_text(path, largest).encode()
    try:
        return decoded(data, kind)
    except msgspec.DecodeError as error:
        at = re.search(r"\(byte (\d+)\)", str(error))
        line = data.rstrip().count(b"\n", 0, int(at[1]) if at else len(data)) + 1
        raise InputError(path, f"is not valid JSON: {error}", line) from None
    except ValueError as error:
        raise InputError(path, str(error)) from None


def write_record(folder: Folder, name: str, value: object) -> None:
    """Write a value as a JSON file, which :func:`read_record` reads."""
    text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False, indent=1)
    folder.write(name, f"{text}\n".encode())


def decoded(data: bytes, kind: type[_T]) -> _T:
    """Read JSON that follows a description; raise a ``ValueError`` if it does not.

    It is a ``msgspec.DecodeError`` if this is no JSON at all.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise ValueError(reason_of(error)) from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def converted(value: object, kind: type[_T]) -> _T:
    """Check a value by a description; raise a ``ValueError`` if it does not follow it."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        if get_origin(kind) is Literal and isinstance(value, str):
            names = ", ".join(map(repr, get_args(kind)))
            raise ValueError(f"Expected one of {names}") from None
        raise ValueError(reason_of(error)) from None


def reason_of(error: msgspec.ValidationError) -> str:
    """The message of an error, as in ``videos[3].duration: expected float``."""
    message, _, place = str(error).replace("`", "").partition(" - at ")
    message = re.sub(r"^Object missing required field (\w+)", r"has no '\1'", message)
    message = re.sub(r"^Object contains unknown field (.*)", r"unknown field '\1'", message)
    message = re.sub(r"^Expected str matching regex '.*S'$", "is empty", message)
    where = place.removeprefix("$").removeprefix(".")
    if where == "version" and message.startswith("Invalid enum value"):
        return f"is version {message.split()[-1]}, which this version of howsteps cannot read"
    return f"{where}: {message[0].lower()}{message[1:]}" if where else message


def result_file(path: Path) -> Path:
    """The ``result.json`` of a work folder, or the file itself.

    Raises
    ------
    InputError
        There is none; the message says what to do.
    """
    if path.is_file() or (path.suffix == ".json" and not path.is_dir()):
        return path
    if (path / FILE).is_file():
        return path / FILE
    reason = "is not a work folder of howsteps; run 'howsteps run' first"
    if jobs := sorted(folder.parent.name for folder in path.glob(f"*/{FILE}")):
        reason = f"holds the work folders of {len(jobs)} jobs; give one of them, e.g. {jobs[0]!r}"
    raise InputError(path, reason)


def read_result(path: Path | str) -> Result:
    """Read a ``result.json``, or the one in a work folder; it has sentences, but no captions.

    Raises
    ------
    InputError
        There is none, or it is invalid; the message says what is wrong and where.
    """
    path = result_file(Path(path))
    try:
        return result_of(read_record(path, ResultRecord), path.parent)
    except ValueError as error:
        raise InputError(path, str(error)) from None


def result_of(record: ResultRecord, folder: Path) -> Result:
    """Rebuild a result from its record in a folder; raise ``ValueError`` on a wrong reference."""
    videos = tuple(_video(entry, folder) for entry in record.videos)
    task = Task(record.task, videos)
    if len({video.id for video in videos}) < len(videos):
        raise ValueError("videos: duplicate id")
    script = script_of(record, task)
    places = tuple(record.localisations)
    check_localisations(places, task, script)
    readings = tuple(record.readings or ())
    read = frozenset(record.read_videos or ())
    check_localisations(readings, task, script, "readings")
    if unknown := read - {video.id for video in videos}:
        raise ValueError(f"read_videos: there is no video {min(unknown)!r}")
    script = script.read(readings)
    return Result(task, script, places, tuple(record.set_aside), readings, read)


def _video(entry: VideoRecord, folder: Path) -> Video:
    video = Video(
        id=entry.id,
        title=entry.title,
        duration=entry.duration,
        media=None if entry.media is None else Path(os.path.normpath(folder / entry.media)),
        youtube=entry.youtube,
        language=entry.language,
        chapters=tuple(Chapter(start, title) for start, title in entry.chapters),
        captions_end=entry.captions_end or 0.0,
    )
    return with_narration(video, entry)


def with_narration(video: Video, record: NarrationRecord | VideoRecord) -> Video:
    """Return the video with a narration."""
    sentences = tuple(
        # Interned to save memory: narrations repeat the same few thousand words.
        Sentence(tuple(Word(intern(text), start, end) for text, start, end in entry.words))
        for entry in record.sentences
    )
    mentions = tuple(
        Mention(video.id, *msgspec.structs.astuple(entry)) for entry in record.mentions
    )
    return replace(video, sentences=sentences, mentions=mentions)


def script_of(record: "ScriptRecord | ResultRecord", task: Task) -> Script:
    """Rebuild a script of this task; raise ``ValueError`` if it has a mention that is not there."""
    mentions = {video.id: video.mentions for video in task.videos}

    def step(entry: StepRecord, where: str) -> Step:
        for at in entry.mentions:
            if at.video not in mentions:
                raise ValueError(f"{where}: there is no video {at.video!r}")
            if at.mention >= len(mentions[at.video]):
                raise ValueError(f"{where}: video {at.video!r} has no mention {at.mention}")
        found = Step(
            entry.label,
            tuple(mentions[at.video][at.mention] for at in entry.mentions),
            tuple(entry.examples),
            entry.optional,
            entry.alternative,
            learnt_from=entry.learnt_from or 0,
            also=None if entry.also is UNSET else entry.also,
        )
        if not entry.relations:
            return found
        return found.named_after(Relation(entry.relations[0].verb, entry.relations[0].noun))

    steps = tuple(step(entry, f"steps[{i}]") for i, entry in enumerate(record.steps))
    script = Script(steps, **msgspec.structs.asdict(record.alignment))
    if record.edit is UNSET:
        return script
    return replace(script, editor=record.edit.editor, changes=tuple(record.edit.changes))


def check_localisations(
    found: Iterable[Localisation | Reading],
    task: Task,
    script: Script,
    where: str = "localisations",
) -> None:
    """Raise ``ValueError`` if a localisation refers to a video or step that does not exist."""
    ids = {video.id for video in task.videos}
    for i, localisation in enumerate(found):
        if localisation.video not in ids:
            raise ValueError(f"{where}[{i}]: there is no video {localisation.video!r}")
        if localisation.step >= len(script.steps):
            raise ValueError(f"{where}[{i}]: there is no step {localisation.step}")


# Writing


def text_of(result: Result, folder: Path) -> str:
    """The text of the ``result.json`` in ``folder``; video paths are relative to it."""
    return "".join(text_parts(result, folder))


def text_parts(result: Result, folder: Path) -> Iterator[str]:
    """The same in parts, video by video, for results that do not fit into memory twice."""
    whole = msgspec.to_builtins(_record(result))
    whole["videos"] = (msgspec.to_builtins(_video_record(v, folder)) for v in result.task.videos)
    yield from json_parts(whole, _LINES)
    yield "\n"


def _record(result: Result) -> ResultRecord:
    """The record of a result, without its videos."""
    script = script_record(result.script, result.task)
    return ResultRecord(
        version=VERSION,
        howsteps=howsteps.__version__,
        task=result.task.name,
        videos=[],
        steps=script.steps,
        alignment=script.alignment,
        edit=script.edit,
        localisations=[rounded(found) for found in result.localisations],
        set_aside=list(result.set_aside),
        readings=list(result.readings) if result.read_videos else UNSET,
        read_videos=sorted(result.read_videos) if result.read_videos else UNSET,
    )


def _video_record(video: Video, folder: Path) -> VideoRecord:
    video, narration = without_captions(video), narration_record(video)
    return VideoRecord(
        id=video.id,
        title=video.title,
        duration=video.duration,
        captions_end=video.captions_end or UNSET,
        media=None if video.media is None else _relative(video.media, folder),
        youtube=video.youtube,
        language=video.language,
        chapters=[(chapter.start, chapter.title) for chapter in video.chapters],
        sentences=narration.sentences,
        mentions=narration.mentions,
    )


def without_captions(video: Video) -> Video:
    """The video as ``result.json`` has it: without captions, its times to the millisecond.

    The times of its sentences and mentions are rounded when they are made.
    """
    said = stored_time(replace(video, captions=(), captions_end=0.0).length)
    end = stored_time(video.length) if video.duration is None else 0.0
    return replace(
        video,
        captions=(),
        media=None if video.media is None else Path(os.path.abspath(video.media)),
        duration=None if video.duration is None else stored_time(video.duration),
        chapters=tuple(Chapter(stored_time(c.start), c.title) for c in video.chapters),
        captions_end=end if end > said else 0.0,
    )


def narration_record(video: Video) -> NarrationRecord:
    """The record of the sentences and mentions of a video."""

    def mention(said: Mention) -> Any:
        values = {field.name: getattr(said, field.name) for field in _FIELDS}
        times = {"start": stored_time(said.start), "end": stored_time(said.end)}
        return MentionRecord(**(values | times))

    return NarrationRecord(
        sentences=[
            SentenceRecord(
                start=stored_time(sentence.start),
                end=stored_time(sentence.end),
                text=sentence.text,
                words=[(w.text, stored_time(w.start), stored_time(w.end)) for w in sentence.words],
            )
            for sentence in video.sentences
        ],
        mentions=[mention(said) for said in video.mentions],
    )


def mention_indices(task: Task) -> dict[str, dict[Mention, int]]:
    """The index of every mention of every video; equal mentions have that of the first."""
    return {
        video.id: {mention: index for index, mention in reversed([*enumerate(video.mentions)])}
        for video in task.videos
    }


def script_record(script: Script, task: Task) -> ScriptRecord:
    """The record of a script; mentions are indices into those of the task's videos."""
    indices = mention_indices(task)
    return ScriptRecord(
        steps=[
            StepRecord(
                label=step.label,
                support=step.support,
                optional=step.optional,
                alternative=step.alternative,
                learnt_from=step.learnt_from or UNSET,
                also=UNSET if step.also is None else step.also,
                relations=[
                    RelationRecord(verb=relation.verb, noun=relation.noun, count=count)
                    for relation, count in step.relations
                ],
                examples=list(step.examples),
                mentions=[
                    MentionIndex(video=said.video, mention=indices[said.video][said])
                    for said in step.mentions
                ],
            )
            for step in script.steps
        ],
        alignment=AlignmentRecord(
            objective=float(script.objective),
            objective_per_token=float(script.objective_per_token),
            bound=float(script.bound),
        ),
        edit=EditRecord(editor=script.editor, changes=list(script.changes))
        if script.editor
        else UNSET,
    )


def rounded(found: Localisation) -> Localisation:
    """A localisation as files have it: milliseconds, and probabilities of four digits."""
    time, start, end = (
        None if t is None else stored_time(t) for t in (found.time, found.start, found.end)
    )
    confidence, presence = round(float(found.confidence), 4), round(float(found.presence), 4)
    return replace(found, time=time, start=start, end=end, confidence=confidence, presence=presence)


def stored_time(seconds: float) -> float:
    """Round a time to milliseconds, as files have it."""
    return round(float(seconds), 3)


def _relative(path: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return path.absolute().as_posix()


# Other files


class ActRecord(Record):
    """An act by which narrators mention a step, and the places and tools around it."""

    verb: str
    particle: str
    noun: str
    around: tuple[str, ...]


class LearntStep(Record):
    """A step of a model: how many videos mentioned it, and its most frequent acts."""

    label: str
    support: Index
    acts: list[ActRecord]


class LearntSteps(Record):
    """``steps.json`` of a model: the name of the job, and its steps in order."""

    version: Literal[1]
    job: str
    steps: list[LearntStep]


@dataclass(frozen=True)
class ModelOptions:
    """The options a model was learnt with; new features must agree with them.

    ``learnt_from`` is the kind of features, a key of
    :data:`howsteps.localise.self_training.KINDS`. The last three are what was learnt
    about the segments of videos (:class:`howsteps.localise.evidence.SegmentPrior`).
    """

    mode: Literal["default"] = "default"
    regularisation: Annotated[float, Meta(ge=0, le=1e9)] | None = None
    seconds_per_interval: Annotated[float, Meta(ge=0.01, le=3600)] | None = None
    learnt_from: str = ""
    lag: Annotated[float, Meta(ge=0, le=60)] | None = None
    separation: Annotated[float, Meta(ge=0, le=100)] | None = None
    duration: Annotated[float, Meta(ge=0.1, le=3600)] | None = None


@dataclass(frozen=True)
class ModelRecord:
    """``model.json``: the labels of the steps in order, and the options."""

    version: Literal[4]
    steps: tuple[str, ...]
    options: ModelOptions


Choices: TypeAlias = dict[str, Literal["keep", "drop"]]  # by id of the video


class WantedExport(Record):
    """An export that a person asked for, and the hash of the ``result.json`` that it shows."""

    guesses: bool
    shows: str


class PlacedByHand(Record):
    """Where a person placed a step, by its label; without times, it is not in the video."""

    video: str
    step: str
    time: Seconds | None
    start: Seconds | None
    end: Seconds | None


class Decisions(Record):
    """``decisions.json``: what a person decided in a work folder; all else can be made anew."""

    videos: Choices = {}
    places: list[PlacedByHand] = []
    exports: dict[str, WantedExport] = {}


class PlacesRecord(Record):
    """The localisations of a task, and the files of the model by name; none if none was learnt."""

    localisations: list[Localisation]
    model: dict[Annotated[str, Meta(pattern=r"^\w+\.\w+$")], bytes]  # never a path
