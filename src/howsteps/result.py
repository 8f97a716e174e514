"""``result.json``: convert a :class:`~howsteps.task.Result` to JSON and back.

The format is specified in ``schemas/result.schema.json`` (``docs/reference/result.md``). Stages
cache narrations, scripts and localisations in the same format.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from importlib.resources import files
from pathlib import Path
from sys import intern
from typing import Any

import howsteps
from howsteps.errors import InputError
from howsteps.io.checked import (
    Malformed,
    build,
    each,
    field,
    integer,
    optional,
    part,
    probability,
    seconds,
    text,
)
from howsteps.io.text import json_parts, read_json
from howsteps.task import (
    Chapter,
    Localisation,
    Mention,
    OtherWay,
    Place,
    Relation,
    Result,
    Script,
    Sentence,
    SetAside,
    Step,
    Task,
    Video,
    WayStep,
    Word,
)

VERSION = 1
FILE = "result.json"
_MENTION = tuple(f.name for f in fields(Mention) if f.name != "video")
_LARGEST = 10**9  # bytes: about twenty thousand narrations
_LINES = 4  # nesting depth down to which JSON is split into lines: one per sentence or mention


def schema() -> dict[str, Any]:
    """The JSON schema (2020-12) that every ``result.json`` follows."""
    text = (files("howsteps") / "schemas" / "result.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def record(result: Result, folder: Path) -> dict[str, Any]:
    """Convert a result to JSON values; video paths are relative to ``folder``."""
    videos = [_video_record(video, folder) for video in result.task.videos]
    return {**_head(result), "videos": videos, **_findings(result)}


def text_of(result: Result, folder: Path) -> str:
    """The text of the ``result.json`` in ``folder``."""
    return "".join(text_parts(result, folder))


def text_parts(result: Result, folder: Path) -> Iterator[str]:
    """The same in parts, for results that do not fit into memory."""
    videos = (_video_record(video, folder) for video in result.task.videos)
    yield from json_parts({**_head(result), "videos": videos, **_findings(result)}, _LINES)
    yield "\n"


def _head(result: Result) -> dict[str, Any]:
    return {"version": VERSION, "howsteps": howsteps.__version__, "task": result.task.name}


def _video_record(video: Video, folder: Path) -> dict[str, Any]:
    return {
        "id": video.id,
        "title": video.title,
        "duration": None if video.duration is None else _seconds(video.duration),
        "media": None if video.media is None else _relative(video.media, folder),
        "youtube": video.youtube,
        "language": video.language,
        "chapters": [[_seconds(chapter.start), chapter.title] for chapter in video.chapters],
        **narration_record(video),
    }


def _findings(result: Result) -> dict[str, Any]:
    return {
        **script_record(result.script, result.task),
        "localisations": localisation_records(result.localisations),
        "odd": [{"video": video, "reason": reason} for video, reason in result.odd_videos.items()],
        "set_aside": [asdict(video) for video in result.set_aside],
        "other_ways": [
            {
                "reason": way.reason,
                "videos": list(way.videos),
                "steps": [step._asdict() for step in way.steps],
            }
            for way in result.other_ways
        ],
    }


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
    """Read a ``result.json``, or the one in a work folder.

    Raises
    ------
    InputError
        There is none, or it is invalid; the message says what is wrong and where.
    """
    path = result_file(Path(path))
    value = read_json(path, _LARGEST)
    if not (isinstance(value, dict) and "localisations" in value and "steps" in value):
        raise InputError(path, "is not a result of howsteps")
    if value.get("version") != VERSION:
        found = value.get("version")
        raise InputError(path, f"is version {found!r} of the result; this howsteps reads {VERSION}")
    try:
        return from_record(value, path.parent)
    except Malformed as error:
        raise InputError(path, str(error)) from error


def from_record(value: Mapping[str, Any], folder: Path) -> Result:
    """Rebuild a result from :func:`record`; it has sentences, but no captions.

    Raises
    ------
    Malformed
        A part is missing, of the wrong type, or refers to something that does not exist.
    """
    videos = each(value, "videos", lambda entry: _video(entry, folder))
    task = Task(part("task", lambda: text(value["task"])), videos)
    return _with_findings(task, value)


def _with_findings(task: Task, value: Mapping[str, Any]) -> Result:
    if len({video.id for video in task.videos}) < len(task.videos):
        raise Malformed("videos: duplicate id")
    script = script_from(value, task)
    localisations = localisations_from(value)
    check_localisations(localisations, task, script)
    aside = each({"set_aside": [], **value}, "set_aside", lambda entry: build(SetAside, **entry))
    ways = each({"other_ways": [], **value}, "other_ways", _other_way)
    return Result(task, script, localisations, aside, ways)


def _other_way(entry: Mapping[str, Any]) -> OtherWay:
    return OtherWay(
        text(entry["reason"]),
        tuple(text(video) for video in entry["videos"]),
        tuple(WayStep(text(step["label"]), integer(step["support"])) for step in entry["steps"]),
    )


def check_localisations(found: Sequence[Localisation], task: Task, script: Script) -> None:
    """Raise ``Malformed`` if a localisation refers to a video or step that does not exist."""
    ids = {video.id for video in task.videos}
    for i, localisation in enumerate(found):
        if localisation.video not in ids:
            raise Malformed(f"localisations[{i}]: there is no video {localisation.video!r}")
        if not 0 <= localisation.step < len(script.steps):
            raise Malformed(f"localisations[{i}]: there is no step {localisation.step}")


def checked_narration(video: Video) -> Video:
    """Return the video; raise ``Malformed`` if a mention refers to a missing sentence."""
    for i, mention in enumerate(video.mentions):
        if not 0 <= mention.sentence < len(video.sentences):
            raise Malformed(f"mentions[{i}]: there is no sentence {mention.sentence}")
    return video


def as_stored(result: Result) -> Result:
    """The result as it is read back from its file: times to the millisecond, no captions."""
    folder = Path.cwd()
    # Video by video, because the records of thousands of videos would take too much memory.
    videos = tuple(_video(_video_record(v, folder), folder) for v in result.task.videos)
    return _with_findings(Task(result.task.name, videos), _findings(result))


def narration_record(video: Video) -> dict[str, Any]:
    """Convert the sentences and mentions of one video to JSON values."""
    return {
        "sentences": [
            {
                "start": _seconds(sentence.start),
                "end": _seconds(sentence.end),
                "text": sentence.text,
                "words": [[w.text, _seconds(w.start), _seconds(w.end)] for w in sentence.words],
            }
            for sentence in video.sentences
        ],
        "mentions": [_mention_record(mention) for mention in video.mentions],
    }


def with_narration(video: Video, value: Mapping[str, Any]) -> Video:
    """Return the video with the narration from :func:`narration_record`."""

    def mention(entry: Mapping[str, Any]) -> Mention:
        parts = {
            "places": each({"places": [], **entry}, "places", lambda place: build(Place, **place)),
            "tools": tuple(map(text, entry.get("tools", ()))),
            "modifiers": tuple(map(text, entry.get("modifiers", ()))),
            "start": field(entry, "start", seconds),
            "end": field(entry, "end", seconds),
            "work": field({"work": 1.0, **entry}, "work", probability),
        }
        return build(Mention, video=video.id, **{**entry, **parts})

    sentences = each(value, "sentences", _sentence)
    mentions = each(value, "mentions", mention)
    return replace(video, sentences=sentences, mentions=mentions)


def script_record(script: Script, task: Task) -> dict[str, Any]:
    """Convert a script to JSON values; mentions are indices into those of the task's videos.

    The run time of the alignment is left out: the same input must give the same bytes.
    """
    # Reversed, so that equal mentions get the index of the first.
    indices = {
        video.id: {mention: index for index, mention in reversed([*enumerate(video.mentions)])}
        for video in task.videos
    }
    return {
        "steps": [
            {
                "label": step.label,
                "support": step.support,
                "stability": step.stability,
                "optional": step.optional,
                "alternative": step.alternative,
                **({"learnt_from": step.learnt_from} if step.learnt_from else {}),
                "relations": [
                    {"verb": relation.verb, "noun": relation.noun, "count": count}
                    for relation, count in step.relations
                ],
                "examples": list(step.examples),
                "mentions": [
                    {"video": mention.video, "mention": indices[mention.video][mention]}
                    for mention in step.mentions
                ],
            }
            for step in script.steps
        ],
        "alignment": {
            "objective": script.objective,
            "objective_per_token": script.objective_per_token,
            "bound": script.bound,
        },
        **_edit_record(script),
    }


def _edit_record(script: Script) -> dict[str, Any]:
    if not script.editor:
        return {}
    return {"edit": {"editor": script.editor, "changes": list(script.changes)}}


def script_from(value: Mapping[str, Any], task: Task) -> Script:
    """Rebuild a script of this task from :func:`script_record`."""
    mentions = {video.id: video.mentions for video in task.videos}

    def step(entry: Mapping[str, Any]) -> Step:
        found: Step = build(
            Step,
            label=entry["label"],
            mentions=tuple(
                _mention_at(mentions, at["video"], at["mention"]) for at in entry["mentions"]
            ),
            examples=tuple(text(example) for example in entry["examples"]),
            stability=field(entry, "stability", optional(probability)),
            optional=entry.get("optional", False),
            alternative=entry.get("alternative", False),
            learnt_from=entry.get("learnt_from", 0),
        )
        first = next(iter(entry["relations"]), None)
        return found.led_by(Relation(first["verb"], first["noun"])) if first else found

    steps = each(value, "steps", step)
    script = part("alignment", lambda: build(Script, steps=steps, **value["alignment"]))
    return part("edit", lambda: _edited(script, value["edit"])) if "edit" in value else script


def _edited(script: Script, value: Mapping[str, Any]) -> Script:
    changes = tuple(text(change) for change in value["changes"])
    return replace(script, editor=text(value["editor"]), changes=changes)


def localisation_records(localisations: Iterable[Localisation]) -> list[dict[str, Any]]:
    """Convert localisations to JSON values, one object per video and step."""
    return [
        {
            **asdict(found),
            **{
                name: None if time is None else _seconds(time)
                for name, time in (
                    ("time", found.time),
                    ("start", found.start),
                    ("end", found.end),
                )
            },
            "confidence": round(found.confidence, 4),
            "presence": round(found.presence, 4),
        }
        for found in localisations
    ]


def localisations_from(value: Mapping[str, Any]) -> tuple[Localisation, ...]:
    """Rebuild localisations from :func:`localisation_records`, under the key ``localisations``."""
    return each(value, "localisations", _localisation)


def _localisation(entry: Mapping[str, Any]) -> Localisation:
    whole = {"start": None, "end": None, "confidence": 0.0, "presence": 0.0, **entry}
    times = {name: field(whole, name, optional(seconds)) for name in ("time", "start", "end")}
    shares = {name: field(whole, name, probability) for name in ("confidence", "presence")}
    return build(Localisation, **{**whole, **times, **shares})


def _mention_record(mention: Mention) -> dict[str, Any]:
    # Not by ``asdict``: its deep copies would take most of the time of writing a result.
    values: dict[str, Any] = {name: getattr(mention, name) for name in _MENTION}
    return values | {
        "start": _seconds(mention.start),
        "end": _seconds(mention.end),
        "places": [{"preposition": p.preposition, "noun": p.noun} for p in mention.places],
        "tools": list(mention.tools),
        "modifiers": list(mention.modifiers),
    }


def _video(entry: Mapping[str, Any], folder: Path) -> Video:
    media = entry["media"]
    video = Video(
        id=text(entry["id"]),
        title=text(entry["title"]),
        duration=field(entry, "duration", optional(seconds)),
        media=None if media is None else Path(os.path.normpath(folder / text(media))),
        youtube=field({"youtube": None, **entry}, "youtube", optional(text)),
        language=text(entry.get("language", "")),
        chapters=tuple(Chapter(seconds(t), text(title)) for t, title in entry.get("chapters", ())),
    )
    return with_narration(video, entry)


def _sentence(entry: Mapping[str, Any]) -> Sentence:
    words = tuple(
        # Interned to save memory: narrations repeat the same few thousand words.
        Word(intern(text(word)), seconds(start), seconds(end))
        for word, start, end in entry["words"]
    )
    if not words:
        raise Malformed("has no words")
    return Sentence(words)


def _mention_at(mentions: Mapping[str, Sequence[Mention]], video: str, index: int) -> Mention:
    if video not in mentions:
        raise Malformed(f"there is no video {video!r}")
    if not 0 <= index < len(mentions[video]):
        raise Malformed(f"video {video!r} has no mention {index}")
    return mentions[video][index]


def _seconds(time: float) -> float:
    return round(time, 3)


def _relative(path: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return path.absolute().as_posix()
