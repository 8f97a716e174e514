"""The JSON shape that ActivityNet began, and COIN and YouCook2 share.

``{"database": {video: {"duration": seconds, …, list of {"segment": [start, end], …}}}}``
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howsteps.datasets.annotations import Row, number, settle
from howsteps.errors import InputError, Problem
from howsteps.task import Truth


@dataclass(frozen=True, slots=True)
class Segment:
    """One annotated stretch of a video; ``place`` says where it stands in the file."""

    label: str
    start: float
    end: float
    place: str
    entry: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Clip:
    """One video of the database."""

    video: str
    duration: float
    segments: tuple[Segment, ...]
    entry: Mapping[str, Any]


def has(value: Any, *keys: str) -> bool:
    """Whether ``value`` is a database in which some video has all of ``keys``."""
    videos = value.get("database") if isinstance(value, dict) else None
    return isinstance(videos, dict) and any(
        isinstance(entry, dict) and all(key in entry for key in keys) for entry in videos.values()
    )


def clips(value: Any, path: Path, *, segments: str, label: str) -> Iterator[Clip]:
    """The videos of a database, with what their entries call ``segments`` and ``label``."""
    for video, entry in value["database"].items():
        if not (isinstance(entry, dict) and isinstance(entry.get(segments), list)):
            raise InputError(path, f"video {video}: has no list {segments!r}")
        duration = number(entry.get("duration"), path, f"video {video}: duration")
        found = tuple(
            _segment(row, f"video {video}, {segments} {place}: ", label, path)
            for place, row in enumerate(entry[segments], 1)
        )
        yield Clip(video, duration, found, entry)


def _segment(row: Any, place: str, label: str, path: Path) -> Segment:
    name = row.get(label) if isinstance(row, dict) else None
    times = row.get("segment") if isinstance(row, dict) else None
    if not (isinstance(name, str) and name.strip()):
        raise InputError(path, f"{place}has no {label}")
    if not (isinstance(times, list) and len(times) == 2):
        raise InputError(path, f"{place}segment is not [start, end]")
    start, end = (number(time, path, f"{place}a time") for time in times)
    return Segment(name.strip(), start, end, place, row)


def truths(
    tasks: Mapping[str, Sequence[Clip]], steps: Mapping[str, Sequence[str]], path: Path
) -> tuple[tuple[Truth, ...], list[Problem]]:
    """One truth for each task, its steps numbered as in ``steps``."""
    found: list[Truth] = []
    problems: list[Problem] = []
    for task, members in tasks.items():
        names = steps.get(task, ())
        numbers = {name: place for place, name in enumerate(names)}
        rows = (
            Row(clip.video, numbers[s.label], s.start, s.end, place=s.place)
            for clip in members
            for s in clip.segments
        )
        durations = {clip.video: clip.duration for clip in members}
        truth, flaws = settle(path, task, names, durations, rows, merge=True)
        found.append(truth)
        problems += flaws
    return tuple(found), problems
