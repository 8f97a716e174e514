"""``result.json``: convert a :class:`~howsteps.task.Result` to JSON and back.

The format is specified in ``schemas/result.schema.json`` (``docs/reference/result.md``); its parts
are those of :mod:`howsteps.records`.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from importlib.resources import files
from pathlib import Path
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
    seconds,
    text,
)
from howsteps.io.text import json_parts, read_json
from howsteps.records import (
    check_localisations,
    localisation_records,
    localisations_from,
    narration_record,
    script_from,
    script_record,
    stored_time,
    with_narration,
)
from howsteps.task import (
    Chapter,
    OtherWay,
    Result,
    SetAside,
    Task,
    Video,
    WayStep,
)

VERSION = 1
FILE = "result.json"
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
        "duration": None if video.duration is None else stored_time(video.duration),
        **_captions_end(video),
        "media": None if video.media is None else _relative(video.media, folder),
        "youtube": video.youtube,
        "language": video.language,
        "chapters": [[stored_time(chapter.start), chapter.title] for chapter in video.chapters],
        **narration_record(video),
    }


def _captions_end(video: Video) -> dict[str, float]:
    """The length of a video of unknown duration, if its sentences and mentions do not tell."""
    length = stored_time(video.length)
    said = stored_time(replace(video, captions=(), captions_end=0.0).length)
    return {"captions_end": length} if video.duration is None and length > said else {}


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


def as_stored(result: Result) -> Result:
    """The result as it is read back from its file: times to the millisecond, no captions."""
    folder = Path.cwd()
    # Video by video, because the records of thousands of videos would take too much memory.
    videos = tuple(_video(_video_record(v, folder), folder) for v in result.task.videos)
    return _with_findings(Task(result.task.name, videos), _findings(result))


def _video(entry: Mapping[str, Any], folder: Path) -> Video:
    media = entry["media"]
    video = Video(
        id=text(entry["id"]),
        title=text(entry["title"]),
        duration=field(entry, "duration", optional(seconds)),
        captions_end=field({"captions_end": 0.0, **entry}, "captions_end", seconds),
        media=None if media is None else Path(os.path.normpath(folder / text(media))),
        youtube=field({"youtube": None, **entry}, "youtube", optional(text)),
        language=text(entry.get("language", "")),
        chapters=tuple(Chapter(seconds(t), text(title)) for t, title in entry.get("chapters", ())),
    )
    return with_narration(video, entry)


def _relative(path: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return path.absolute().as_posix()
