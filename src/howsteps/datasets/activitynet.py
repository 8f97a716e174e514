"""Ground truth of COIN and YouCook2: JSON in the format of ActivityNet.

``{"database": {video: {"duration": seconds, …, list of {"segment": [start, end], …}}}}``

``COIN.json`` has one truth for each ``class``. A video has ``class``, ``duration``, ``subset`` and
``annotation``: a list of ``{"id", "label", "segment"}``. The steps of a task are its labels in the
order of their ids.

``youcookii_annotations_trainval.json`` has one truth for each ``recipe_type``. A video has
``recipe_type``, ``duration``, ``subset`` and ``annotations``: a list of ``{"id", "sentence",
"segment"}``. Videos of a recipe share no list of steps: every sentence is a step of its own, so
scores that match steps across videos mean little here.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howsteps.datasets.annotations import AnnotationRow, as_number, truth_of_rows
from howsteps.errors import InputError, Problem
from howsteps.task import Truth


@dataclass(frozen=True, slots=True)
class _Segment:
    """One annotated segment of a video; ``where`` is its position in the file, for messages."""

    label: str
    start: float
    end: float
    where: str
    entry: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Clip:
    """One video of the database."""

    video: str
    duration: float
    segments: tuple[_Segment, ...]
    entry: Mapping[str, Any]


def is_coin(value: Any) -> bool:
    """Look for a database of videos with a class."""
    return _has(value, "class", "annotation")


def coin_truths(value: Any, path: Path) -> tuple[tuple[Truth, ...], list[Problem]]:
    """Return the truths in the contents of ``COIN.json``; ``path`` is used in messages."""
    tasks: dict[str, list[_Clip]] = defaultdict(list)
    ids: dict[str, dict[str, int]] = defaultdict(dict)
    for clip in _clips(value, path, segments="annotation", label="label"):
        task = clip.entry.get("class")
        if not (isinstance(task, str) and task):
            raise InputError(path, f"video {clip.video}: has no class")
        tasks[task].append(clip)
        for segment in clip.segments:
            ids[task].setdefault(segment.label, _id(segment, path))
    steps = {
        task: sorted(id_of_label, key=lambda label: id_of_label[label])
        for task, id_of_label in ids.items()
    }
    return _truths(tasks, steps, path)


def is_youcook2(value: Any) -> bool:
    """Look for a database of videos with a recipe."""
    return _has(value, "recipe_type", "annotations")


def youcook2_truths(value: Any, path: Path) -> tuple[tuple[Truth, ...], list[Problem]]:
    """Return the truths in the contents of YouCook2's file; ``path`` is used in messages."""
    tasks: dict[str, list[_Clip]] = defaultdict(list)
    for clip in _clips(value, path, segments="annotations", label="sentence"):
        recipe = clip.entry.get("recipe_type")
        if not isinstance(recipe, str | int):
            raise InputError(path, f"video {clip.video}: has no recipe_type")
        tasks[str(recipe)].append(clip)
    steps = {
        task: list(dict.fromkeys(segment.label for clip in clips for segment in clip.segments))
        for task, clips in tasks.items()
    }
    return _truths(tasks, steps, path)


def _has(value: Any, *keys: str) -> bool:
    """Whether ``value`` is a database in which some video has all of ``keys``."""
    videos = value.get("database") if isinstance(value, dict) else None
    return isinstance(videos, dict) and any(
        isinstance(entry, dict) and all(key in entry for key in keys) for entry in videos.values()
    )


def _clips(value: Any, path: Path, *, segments: str, label: str) -> Iterator[_Clip]:
    """Yield the videos of a database; ``segments`` and ``label`` are the keys of this data set."""
    for video, entry in value["database"].items():
        if not (isinstance(entry, dict) and isinstance(entry.get(segments), list)):
            raise InputError(path, f"video {video}: has no list {segments!r}")
        duration = as_number(entry.get("duration"), path, f"video {video}: duration")
        parsed = tuple(
            _segment(row, f"video {video}, {segments} {number}: ", label, path)
            for number, row in enumerate(entry[segments], 1)
        )
        yield _Clip(video, duration, parsed, entry)


def _segment(row: Any, where: str, label: str, path: Path) -> _Segment:
    name = row.get(label) if isinstance(row, dict) else None
    times = row.get("segment") if isinstance(row, dict) else None
    if not (isinstance(name, str) and name.strip()):
        raise InputError(path, f"{where}has no {label}")
    if not (isinstance(times, list) and len(times) == 2):
        raise InputError(path, f"{where}segment is not [start, end]")
    start, end = (as_number(time, path, f"{where}a time") for time in times)
    return _Segment(name.strip(), start, end, where, row)


def _id(segment: _Segment, path: Path) -> int:
    try:
        return int(segment.entry["id"])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError(path, f"{segment.where}has no numeric id") from None


def _truths(
    tasks: Mapping[str, Sequence[_Clip]], steps: Mapping[str, Sequence[str]], path: Path
) -> tuple[tuple[Truth, ...], list[Problem]]:
    """Return one truth for each task, with its steps in the order of ``steps``."""
    truths: list[Truth] = []
    problems: list[Problem] = []
    for task, clips in tasks.items():
        names = steps.get(task, ())
        index_of = {name: index for index, name in enumerate(names)}
        rows = (
            AnnotationRow(clip.video, index_of[s.label], s.start, s.end, where=s.where)
            for clip in clips
            for s in clip.segments
        )
        durations = {clip.video: clip.duration for clip in clips}
        truth, row_problems = truth_of_rows(path, task, names, durations, rows, merge=True)
        truths.append(truth)
        problems += row_problems
    return tuple(truths), problems
