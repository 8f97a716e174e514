"""Annotations in the formats in which data sets publish them.

COIN and YouCook2 are a JSON database of videos, in the format of ActivityNet. CrossTask is a folder
of tables. A *feature folder* is the layout common in action segmentation; one folder is one task::

    mapping/mapping.txt       rows: number, label
    groundTruth/<video>.txt   (or without .txt) one label for each frame
    features/<video>.npy      T×d or d×T

Its labels ``background`` and ``SIL`` (silence) are not steps.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from msgspec import Struct, ValidationError, convert
from numpy.typing import NDArray

from howsteps.datasets.annotations import (
    GRID,
    AnnotationRow,
    Found,
    GroundTruth,
    Labelled,
    Segment,
    as_number,
    checked_features,
    resample,
    truth_of_rows,
    truth_of_segments,
    whole_number,
)
from howsteps.errors import InputError
from howsteps.io.arrays import read_matrix
from howsteps.io.text import read_lines, read_rows
from howsteps.store import reason_of
from howsteps.task import Task, Video


class CoinSegment(Struct):
    """A segment of COIN; the ids give the order of the steps of a task."""

    label: str
    segment: tuple[float, float]
    id: int


class CoinVideo(Struct, rename={"task": "class", "segments": "annotation"}):
    """A video of COIN."""

    task: str
    duration: float
    segments: list[CoinSegment]


class RecipeSegment(Struct, rename={"label": "sentence"}):
    """A segment of YouCook2, whose steps are in the order of their first appearance."""

    label: str
    segment: tuple[float, float]
    id: ClassVar[int] = 0


class RecipeVideo(Struct, rename={"task": "recipe_type", "segments": "annotations"}):
    """A video of YouCook2."""

    task: str | int
    duration: float
    segments: list[RecipeSegment]


Database: TypeAlias = type[CoinVideo | RecipeVideo]


def is_database(value: Any, kind: Database) -> bool:
    """Whether ``value`` is a database in which some video has a task and segments of this kind."""
    videos = value.get("database") if isinstance(value, dict) else None
    task, _, segments = kind.__struct_encode_fields__
    return isinstance(videos, dict) and any(
        isinstance(entry, dict) and task in entry and segments in entry for entry in videos.values()
    )


def database_truths(value: Any, kind: Database, path: Path) -> GroundTruth:
    """Return one truth for each task of a database; ``path`` is used in messages."""
    return truth_of_segments(path, _segments(value["database"], kind, path), merge=True)


def _segments(videos: Mapping[str, Any], kind: Database, path: Path) -> Iterator[Segment]:
    for video, entry in videos.items():
        try:
            clip = convert(entry, kind, strict=False)  # numbers may be written as text
        except ValidationError as error:
            raise InputError(path, f"video {video}: {reason_of(error)}") from None
        if not (task := str(clip.task)):
            raise InputError(path, f"video {video}: its task has no name")
        segments: Sequence[CoinSegment | RecipeSegment] = clip.segments
        for number, segment in enumerate(segments, 1):
            where = f"video {video}, segment {number}: "
            if not (label := segment.label.strip()):
                raise InputError(path, f"{where}has no label")
            row = AnnotationRow(video, 0, *segment.segment, where=where)
            yield Segment(task, label, row, clip.duration, segment.id)


_TASKS, _VIDEOS, _ANNOTATIONS = "tasks_primary.txt", "videos.csv", "annotations"
_BLOCK_LINES = 5


def is_crosstask(folder: Path) -> bool:
    """Whether ``folder`` contains CrossTask's list of tasks."""
    return (folder / _TASKS).is_file()


def read_crosstask(folder: Path) -> GroundTruth:
    """Read one truth for each listed task that has annotated videos.

    A listed video without a table was not annotated; a table of an unlisted video is an error.
    """
    listed: dict[str, list[str]] = {}
    for _, (task, video, _) in read_rows(folder / _VIDEOS, width=3):
        listed.setdefault(task.strip(), []).append(video.strip())
    tables = {path.stem: path for path in sorted((folder / _ANNOTATIONS).glob("*.csv"))}
    truths = []
    for task, title, steps in _crosstask_tasks(folder / _TASKS):
        annotated = {
            video: path
            for video in listed.get(task, [])
            if (path := tables.pop(f"{task}_{video}", None)) is not None
        }
        rows = [row for video, path in annotated.items() for row in _crosstask_rows(path, video)]
        if rows:
            durations = dict.fromkeys(annotated)
            truths.append(truth_of_rows(folder, title, steps, durations, rows, merge=True))
    if tables:
        stray = next(iter(tables.values()))
        raise InputError(stray, f"its task and video are not in {_TASKS} and {_VIDEOS}")
    if not truths:
        raise InputError(folder / _ANNOTATIONS, "has no table of a listed video")
    return Found.join(truths)


def _crosstask_tasks(path: Path) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the id, the title and the steps of every listed task."""
    lines = list(read_lines(path))
    for first in range(0, len(lines), _BLOCK_LINES):
        block = lines[first : first + _BLOCK_LINES]
        line, task = block[0]
        if len(block) < _BLOCK_LINES:
            reason = f"the block of task {task} has fewer than {_BLOCK_LINES} lines"
            raise InputError(path, reason, line)
        (_, title), (count_line, count), (_, names) = block[1], block[3], block[4]
        steps = tuple(name.strip() for name in names.split(","))
        if as_number(count, path, "the number of steps", count_line) != len(steps):
            reason = f"task {task} says {count} steps and lists {len(steps)}"
            raise InputError(path, reason, count_line)
        yield task, title, steps


def _crosstask_rows(path: Path, video: str) -> Iterator[AnnotationRow]:
    for line, (step, *times) in read_rows(path, width=3):
        start, end = (as_number(time, path, "a time", line) for time in times)
        number = whole_number(step, path, "a step", line)
        yield AnnotationRow(video, number - 1, start, end, line, file=path)


_BACKGROUND = frozenset({"background", "bg", "sil", "none", "-1"})
FRAMES_PER_SECOND = 15.0


def is_feature_folder(folder: Path) -> bool:
    """Whether ``folder`` contains frame-wise labels and the list of labels."""
    return (folder / "groundTruth").is_dir() and (folder / "mapping" / "mapping.txt").is_file()


def feature_folder_truth(folder: Path, rate: float = FRAMES_PER_SECOND) -> GroundTruth:
    """Read the labels of all videos; ``rate`` is in frames per second."""
    if not 0 < rate < inf:
        raise InputError(folder, f"{rate:g} frames a second is not a frame rate")
    labels = _mapping(folder / "mapping" / "mapping.txt")
    steps = [label for label in labels if label.casefold() not in _BACKGROUND]
    index_of = {label: index for index, label in enumerate(steps)}
    rows: list[AnnotationRow] = []
    durations: dict[str, float] = {}
    for path in sorted(path for path in (folder / "groundTruth").iterdir() if path.is_file()):
        video, frames = path.name.removesuffix(".txt"), 0
        for label, run in groupby(read_lines(path), key=lambda numbered: numbered[1]):
            lines = [line for line, _ in run]
            if label not in labels:
                raise InputError(path, f"label {label!r} is not in mapping.txt", lines[0])
            begin, frames = frames / rate, frames + len(lines)
            if label in index_of:
                rows.append(AnnotationRow(video, index_of[label], begin, frames / rate, lines[0]))
        durations[video] = frames / rate
    if not durations:
        raise InputError(folder / "groundTruth", "has no file")
    return truth_of_rows(folder, folder.resolve().name, steps, durations, rows, merge=False)


def read_feature_folder(folder: Path, rate: float = FRAMES_PER_SECOND) -> Labelled:
    """Read the labels, and features averaged over the intervals of the grid, if there are any."""
    [truth] = feature_folder_truth(folder, rate)
    features: dict[str, NDArray[np.float32]] = {}
    for video, duration in truth.durations.items() if (folder / "features").is_dir() else ():
        path, count = folder / "features" / f"{video}.npy", round((duration or 0.0) * rate)
        matrix = read_matrix(path)
        frames = matrix if matrix.shape[:1] == (count,) else matrix.T
        checked_features(frames, path, features)
        if len(frames) != count:
            shape = "×".join(map(str, matrix.shape))
            raise InputError(path, f"is {shape}, but {count} frames have labels")
        intervals = round(len(frames) / rate / GRID)
        if rate * GRID >= 1:  # a last interval may be partial
            intervals = int((len(frames) - 0.5) / rate / GRID) + 1
        features[video] = resample(frames, rate, GRID, intervals)
    videos = tuple(Video(video, duration=length) for video, length in truth.durations.items())
    return Labelled(Task(truth.task, videos), truth, features)


def _mapping(path: Path) -> dict[str, None]:
    """Return the labels in order; a dictionary, as there may be very many."""
    labels: dict[str, None] = {}
    for line, text in read_lines(path):
        number, _, label = text.partition(" ")
        if not (number.isdecimal() and label.strip()):
            raise InputError(path, "is not: number label", line)
        if label.strip() in labels:
            raise InputError(path, f"label {label.strip()!r} appears twice", line)
        labels[label.strip()] = None
    return labels
