"""Annotations in the formats in which data sets publish them.

COIN and YouCook2 are a JSON database of videos, in the format of ActivityNet. CrossTask is a folder
of tables. A *feature folder* is the layout common in action segmentation; one folder is one task::

    mapping/mapping.txt       rows: number, label
    groundTruth/<video>.txt   (or without .txt) one label for each frame
    features/<video>.npy      T×d or d×T

Its labels ``background`` and ``SIL`` (silence) are not steps.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, ValidationError, convert
from numpy.typing import NDArray

from howsteps.datasets.annotations import (
    GRID,
    AnnotationRow,
    GroundTruth,
    Labelled,
    as_number,
    checked_features,
    resample,
    truth_of_rows,
    whole_number,
)
from howsteps.errors import InputError, Problem
from howsteps.io.arrays import read_matrix
from howsteps.io.text import read_lines, read_rows
from howsteps.store import reason_of
from howsteps.task import Task, Truth, Video


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


class RecipeVideo(Struct, rename={"task": "recipe_type", "segments": "annotations"}):
    """A video of YouCook2."""

    task: str | int
    duration: float
    segments: list[RecipeSegment]


def is_database(value: Any, kind: type[CoinVideo | RecipeVideo]) -> bool:
    """Whether ``value`` is a database in which some video has a task and segments of this kind."""
    videos = value.get("database") if isinstance(value, dict) else None
    task, _, segments = kind.__struct_encode_fields__
    return isinstance(videos, dict) and any(
        isinstance(entry, dict) and task in entry and segments in entry for entry in videos.values()
    )


def database_truths(value: Any, kind: type[CoinVideo | RecipeVideo], path: Path) -> GroundTruth:
    """Return one truth for each task of a database; ``path`` is used in messages."""
    durations: dict[str, dict[str, float | None]] = {}
    steps: dict[str, dict[str, int]] = {}  # the rank of each label
    found: dict[str, list[tuple[str, AnnotationRow]]] = {}  # with their labels
    for video, entry in value["database"].items():
        try:
            clip = convert(entry, kind, strict=False)  # numbers may be written as text
        except ValidationError as error:
            raise InputError(path, f"video {video}: {reason_of(error)}") from None
        if not (task := str(clip.task)):
            raise InputError(path, f"video {video}: its task has no name")
        durations.setdefault(task, {})[video] = clip.duration
        ranks, rows = steps.setdefault(task, {}), found.setdefault(task, [])
        segments: Sequence[CoinSegment | RecipeSegment] = clip.segments
        for number, segment in enumerate(segments, 1):
            where = f"video {video}, segment {number}: "
            if not (label := segment.label.strip()):
                raise InputError(path, f"{where}has no label")
            ranks.setdefault(label, segment.id if isinstance(segment, CoinSegment) else len(ranks))
            start, end = segment.segment
            rows.append((label, AnnotationRow(video, 0, start, end, where=where)))
    return GroundTruth.join(
        _truth_of_labels(path, task, ranks, durations[task], found[task])
        for task, ranks in steps.items()
    )


def _truth_of_labels(
    path: Path,
    task: str,
    ranks: Mapping[str, int],
    durations: Mapping[str, float | None],
    rows: list[tuple[str, AnnotationRow]],
) -> GroundTruth:
    names = sorted(ranks, key=lambda label: ranks[label])
    index_of = {name: index for index, name in enumerate(names)}
    numbered = (row._replace(step=index_of[label]) for label, row in rows)
    return truth_of_rows(path, task, names, durations, numbered, merge=True)


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
    truths: list[Truth] = []
    problems: list[Problem] = []
    for task, title, steps in _crosstask_tasks(folder / _TASKS):
        annotated: dict[str, float | None] = {}
        rows: list[AnnotationRow] = []
        for video in listed.get(task, []):
            if (path := tables.pop(f"{task}_{video}", None)) is None:
                continue
            annotated[video] = None
            # Checked on its own first, so that an error names this file.
            table = truth_of_rows(
                path, title, steps, {video: None}, _crosstask_rows(path, video), merge=True
            )
            problems += table.problems
            found = table.truths[0].annotations
            rows += (AnnotationRow(a.video, a.step, a.start, a.end) for a in found)
        if rows:
            truths += truth_of_rows(folder, title, steps, annotated, rows, merge=False)
    if tables:
        stray = next(iter(tables.values()))
        raise InputError(stray, f"its task and video are not in {_TASKS} and {_VIDEOS}")
    if not truths:
        raise InputError(folder / _ANNOTATIONS, "has no table of a listed video")
    return GroundTruth(tuple(truths), tuple(problems))


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
        yield AnnotationRow(video, number - 1, start, end, line)


_BACKGROUND = frozenset({"background", "bg", "sil", "none", "-1"})
FRAMES_PER_SECOND = 15.0


@dataclass(frozen=True, slots=True)
class FeatureFolder:
    """Ground truth, the number of frames and the feature file of each video, and the frame rate."""

    truth: Truth
    frames: Mapping[str, int]
    paths: Mapping[str, Path]
    rate: float

    def labelled(self) -> Labelled:
        """Return the task, with features averaged over the intervals of the grid."""
        durations = self.truth.durations
        features: dict[str, NDArray[np.float32]] = {}
        for video, path in self.paths.items():
            matrix, count = read_matrix(path), self.frames[video]
            frames = matrix if matrix.shape[:1] == (count,) else matrix.T
            checked_features(frames, path, features)
            if len(frames) != count:
                shape = "×".join(map(str, matrix.shape))
                raise InputError(path, f"is {shape}, but {count} frames have labels")
            intervals = round(len(frames) / self.rate / GRID)
            if self.rate * GRID >= 1:  # a last interval may be partial
                intervals = int((len(frames) - 0.5) / self.rate / GRID) + 1
            features[video] = resample(frames, self.rate, GRID, intervals)
        videos = tuple(Video(video, duration=length) for video, length in durations.items())
        return Labelled(Task(self.truth.task, videos), self.truth, features)


def is_feature_folder(folder: Path) -> bool:
    """Whether ``folder`` contains frame-wise labels and the list of labels."""
    return (folder / "groundTruth").is_dir() and (folder / "mapping" / "mapping.txt").is_file()


def read_feature_folder(folder: Path, rate: float = FRAMES_PER_SECOND) -> FeatureFolder:
    """Read the labels of all videos; ``rate`` is in frames per second."""
    if not 0 < rate < inf:
        raise InputError(folder, f"{rate:g} frames a second is not a frame rate")
    labels = _mapping(folder / "mapping" / "mapping.txt")
    steps = [label for label in labels if label.casefold() not in _BACKGROUND]
    index_of = {label: index for index, label in enumerate(steps)}
    rows: list[AnnotationRow] = []
    frames: dict[str, int] = {}
    for path in sorted(path for path in (folder / "groundTruth").iterdir() if path.is_file()):
        video = path.name.removesuffix(".txt")
        frames[video] = 0
        for label, run in groupby(read_lines(path), key=lambda numbered: numbered[1]):
            lines = [line for line, _ in run]
            if label not in labels:
                raise InputError(path, f"label {label!r} is not in mapping.txt", lines[0])
            start = frames[video]
            frames[video] += len(lines)
            if label in index_of:
                begin, end = start / rate, frames[video] / rate
                rows.append(AnnotationRow(video, index_of[label], begin, end, lines[0]))
    if not frames:
        raise InputError(folder / "groundTruth", "has no file")
    durations = {video: count / rate for video, count in frames.items()}
    [truth] = truth_of_rows(folder, folder.resolve().name, steps, durations, rows, merge=False)
    return FeatureFolder(truth, frames, _feature_files(folder / "features", frames), rate)


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


def _feature_files(folder: Path, videos: Mapping[str, int]) -> dict[str, Path]:
    if not folder.is_dir():
        return {}  # ground truth is enough for statistics
    paths = {video: folder / f"{video}.npy" for video in videos}
    for path in paths.values():
        if not path.is_file():
            raise InputError(path, "no such file, though the video has labels")
    return paths
