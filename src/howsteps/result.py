"""``result.json``: a :class:`~howsteps.task.Result` as JSON, and back.

The layout is published as ``schemas/result.schema.json`` (``docs/reference/result.md``). Stages
cache narrations, scripts and localisations in the same form, so that each value has one on disk.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache, partial
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import howsteps
from howsteps.errors import InputError
from howsteps.io.text import read_json
from howsteps.task import (
    Chapter,
    Localisation,
    Mention,
    Place,
    Relation,
    Result,
    Script,
    Sentence,
    SetAside,
    Step,
    Task,
    Video,
    Word,
)

VERSION = 1
FILE = "result.json"

_T = TypeVar("_T")

# What JSON may hold for a field of each kind: whole numbers are numbers too.
_PLAIN: dict[Any, tuple[type, ...]] = {
    str: (str,),
    bool: (bool,),
    int: (int,),
    float: (int, float),
    float | None: (int, float, type(None)),
}


def schema() -> dict[str, Any]:
    """The JSON schema (2020-12) that every ``result.json`` follows."""
    text = (files("howsteps") / "schemas" / "result.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def record(result: Result, folder: Path) -> dict[str, Any]:
    """A result as plain values; the paths of videos are written relative to ``folder``."""
    return {
        "version": VERSION,
        "howsteps": howsteps.__version__,
        "task": result.task.name,
        "videos": [
            {
                "id": video.id,
                "title": video.title,
                "duration": None if video.duration is None else _seconds(video.duration),
                "media": None if video.media is None else _relative(video.media, folder),
                "youtube": video.youtube,
                "language": video.language,
                "chapters": [[_seconds(each.start), each.title] for each in video.chapters],
                **narration_record(video),
            }
            for video in result.task.videos
        ],
        **script_record(result.script, result.task),
        "localisations": localisation_records(result.localisations),
        "set_aside": [asdict(video) for video in result.set_aside],
    }


def text_of(result: Result, folder: Path) -> str:
    """The text of the ``result.json`` that stands in ``folder``."""
    return json.dumps(record(result, folder), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def read_result(path: Path | str) -> Result:
    """Read a ``result.json``, or the one in a work folder.

    Raises
    ------
    InputError
        There is none, or it is not one that howsteps wrote; the message says what is wrong where.
    """
    path = Path(path)
    if path.is_dir():
        path = path / FILE
    value = read_json(path)
    if not (isinstance(value, dict) and "localisations" in value and "steps" in value):
        raise InputError(path, "is not a result of howsteps")
    if value.get("version") != VERSION:
        found = value.get("version")
        raise InputError(path, f"is version {found!r} of the result; this howsteps reads {VERSION}")
    try:
        return from_record(value, path.parent)
    except Malformed as error:
        raise InputError(path, str(error)) from error


class Malformed(ValueError):
    """A value of the record is missing or not of its kind; the message says which."""


def from_record(value: Mapping[str, Any], folder: Path) -> Result:
    """The result that :func:`record` wrote; it has sentences, but no captions.

    Raises
    ------
    Malformed
        A part is missing, of the wrong kind, or points at something that is not there.
    """
    videos = _each(value, "videos", lambda entry: _video(entry, folder))
    task = Task(_part("task", lambda: _text(value["task"])), videos)
    ids = {video.id for video in videos}
    if len(ids) < len(videos):
        raise Malformed("videos: an id stands twice")
    script = script_from(value, task)
    localisations = localisations_from(value)
    check_localisations(localisations, task, script)
    aside = _each({"set_aside": [], **value}, "set_aside", lambda entry: _made(SetAside, **entry))
    return Result(task, script, localisations, aside)


def check_localisations(found: Sequence[Localisation], task: Task, script: Script) -> None:
    """Raise ``Malformed`` if a localisation is of a video or step that is not there."""
    ids = {video.id for video in task.videos}
    for n, one in enumerate(found):
        if one.video not in ids:
            raise Malformed(f"localisations[{n}]: there is no video {one.video!r}")
        if not 0 <= one.step < len(script.steps):
            raise Malformed(f"localisations[{n}]: there is no step {one.step}")


def checked_narration(video: Video) -> Video:
    """The video, if its mentions are in its sentences; else raises ``Malformed``."""
    for n, mention in enumerate(video.mentions):
        if not 0 <= mention.sentence < len(video.sentences):
            raise Malformed(f"mentions[{n}]: there is no sentence {mention.sentence}")
    return video


def settled(result: Result) -> Result:
    """The result as it is read back from its file: times to the millisecond, no captions."""
    folder = Path.cwd()
    return from_record(record(result, folder), folder)


def narration_record(video: Video) -> dict[str, Any]:
    """The sentences and mentions of one video."""
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
    """The video with the narration that :func:`narration_record` wrote."""

    def mention(entry: Mapping[str, Any]) -> Mention:
        parts = {
            "places": _each({"places": [], **entry}, "places", lambda place: _made(Place, **place)),
            "tools": tuple(map(_text, entry.get("tools", ()))),
            "modifiers": tuple(map(_text, entry.get("modifiers", ()))),
        }
        return _made(Mention, video=video.id, **{**entry, **parts})

    sentences = _each(value, "sentences", _sentence)
    mentions = _each(value, "mentions", mention)
    return replace(video, sentences=sentences, mentions=mentions)


def script_record(script: Script, task: Task) -> dict[str, Any]:
    """A script, its mentions as places in the lists of the task's videos.

    The time that the alignment took is left out: the same input must give the same bytes.
    """
    places = {
        video.id: {mention: place for place, mention in reversed([*enumerate(video.mentions)])}
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
                "relations": [
                    {"verb": relation.verb, "noun": relation.noun, "count": count}
                    for relation, count in step.relations
                ],
                "examples": list(step.examples),
                "mentions": [
                    {"video": mention.video, "mention": places[mention.video][mention]}
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
    """The script that :func:`script_record` wrote for this task."""
    mentions = {video.id: video.mentions for video in task.videos}

    def step(entry: Mapping[str, Any]) -> Step:
        found: Step = _made(
            Step,
            label=entry["label"],
            mentions=tuple(
                _place(mentions, at["video"], at["mention"]) for at in entry["mentions"]
            ),
            examples=tuple(_text(example) for example in entry["examples"]),
            stability=entry["stability"],
            optional=entry.get("optional", False),
            alternative=entry.get("alternative", False),
        )
        first = next(iter(entry["relations"]), None)
        return found.led_by(Relation(first["verb"], first["noun"])) if first else found

    steps = _each(value, "steps", step)
    script = _part("alignment", lambda: _made(Script, steps=steps, **value["alignment"]))
    return _part("edit", lambda: _edited(script, value["edit"])) if "edit" in value else script


def _edited(script: Script, value: Mapping[str, Any]) -> Script:
    changes = tuple(_text(change) for change in value["changes"])
    return replace(script, editor=_text(value["editor"]), changes=changes)


def localisation_records(localisations: Iterable[Localisation]) -> list[dict[str, Any]]:
    """Where the steps are, one object for each video and step."""
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
    """What :func:`localisation_records` wrote, from under the name ``localisations``."""
    return _each(value, "localisations", lambda entry: _made(Localisation, **entry))


def _mention_record(mention: Mention) -> dict[str, Any]:
    fields = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(mention).items()
        if name != "video"
    }
    return {**fields, "start": _seconds(mention.start), "end": _seconds(mention.end)}


def _video(entry: Mapping[str, Any], folder: Path) -> Video:
    media = entry["media"]
    video = Video(
        id=_text(entry["id"]),
        title=_text(entry["title"]),
        duration=None if entry["duration"] is None else _number(entry["duration"]),
        media=None if media is None else Path(os.path.normpath(folder / _text(media))),
        youtube=None if entry.get("youtube") is None else _text(entry["youtube"]),
        language=_text(entry.get("language", "")),
        chapters=tuple(
            Chapter(_number(at), _text(title)) for at, title in entry.get("chapters", ())
        ),
    )
    return with_narration(video, entry)


def _sentence(entry: Mapping[str, Any]) -> Sentence:
    words = tuple(
        Word(_text(text), _number(start), _number(end)) for text, start, end in entry["words"]
    )
    if not words:
        raise Malformed("has no words")
    return Sentence(words)


def _place(mentions: Mapping[str, Sequence[Mention]], video: str, place: int) -> Mention:
    if video not in mentions:
        raise Malformed(f"there is no video {video!r}")
    if not 0 <= place < len(mentions[video]):
        raise Malformed(f"video {video!r} has no mention {place}")
    return mentions[video][place]


def _part(name: str, make: Callable[[], _T]) -> _T:
    """Make one part; an error in it is raised with its name."""
    try:
        return make()
    except KeyError as error:
        raise Malformed(f"{name}: has no {error.args[0]!r}") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise Malformed(f"{name}: {error}") from error


def _made(kind: Callable[..., _T], **values: object) -> _T:
    """A value of a dataclass, whose numbers and texts must be of their types."""
    wanted = _hints(kind)
    for name, value in values.items():
        if wanted.get(name) in _PLAIN and not (
            isinstance(value, _PLAIN[wanted[name]]) and _is_finite(value)
        ):
            raise Malformed(f"{name} is {value!r}")
    return kind(**values)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """The types of a dataclass's fields."""
    return get_type_hints(kind)


def _each(
    value: Mapping[str, Any], name: str, make: Callable[[Mapping[str, Any]], _T]
) -> tuple[_T, ...]:
    """Make a value of every entry of a list."""
    entries = value.get(name)
    if not isinstance(entries, list):
        raise Malformed(f"{name}: is not a list")
    return tuple(
        _part(f"{name}[{place}]", partial(make, entry)) for place, entry in enumerate(entries)
    )


def _number(value: object) -> float:
    if not (isinstance(value, int | float) and _is_finite(value)):
        raise Malformed(f"{value!r} is not a number")
    return float(value)


def _is_finite(value: object) -> bool:
    """Whether a value, if it is a number, is finite."""
    try:
        return not isinstance(value, int | float) or isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Malformed(f"{value!r} is not a text")
    return value


def _seconds(time: float) -> float:
    return round(time, 3)


def _relative(path: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return path.absolute().as_posix()
