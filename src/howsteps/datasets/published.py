"""Annotations in the formats in which data sets publish them.

COIN is a JSON database of videos, in the format of ActivityNet. CrossTask is a folder of tables. A
*feature folder* is the layout common in action segmentation; one folder is one task::

    mapping/mapping.txt       rows: number, label
    groundTruth/<video>.txt   (or without .txt) one label for each frame
    features/<video>.npy      T×d or d×T

Its labels ``background`` and ``SIL`` (silence) are not steps.
"""

from collections.abc import Iterator
from itertools import groupby
from math import inf
from pathlib import Path

import numpy as np
from msgspec import Struct, ValidationError, convert
from numpy.typing import NDArray

from howsteps.datasets.annotations import (
    GRID,
    DataSet,
    Found,
    GroundTruth,
    Labelled,
    Row,
    Source,
    as_number,
    checked_features,
    resample,
    truth_of,
)
from howsteps.errors import InputError
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


def _is_coin(source: Source) -> bool:
    """Look for a database in which some video has a class and annotations."""
    videos = source.json.get("database") if isinstance(source.json, dict) else None
    return isinstance(videos, dict) and any(
        isinstance(entry, dict) and {"class", "annotation"} <= entry.keys()
        for entry in videos.values()
    )


def _read_coin(source: Source) -> GroundTruth:
    """Read one truth for each task that has annotated videos."""
    tasks: dict[str, dict[str, CoinVideo]] = {}
    for video, entry in source.json["database"].items():
        try:
            found = convert(entry, CoinVideo, strict=False)  # numbers may be written as text
        except ValidationError as error:
            raise InputError(source.path, f"video {video}: {reason_of(error)}") from None
        if not found.task:
            raise InputError(source.path, f"video {video}: its task has no name")
        if found.segments:
            tasks.setdefault(found.task, {})[video] = found
    return Found.join(_coin_truth(source.path, *each) for each in tasks.items())


def _coin_truth(path: Path, task: str, videos: dict[str, CoinVideo]) -> GroundTruth:
    ids: dict[str, int] = {}
    rows = []
    for video, found in videos.items():
        for number, segment in enumerate(found.segments, 1):
            where = f"video {video}, segment {number}: "
            if not (label := segment.label.strip()):
                raise InputError(path, f"{where}has no label")
            ids.setdefault(label, segment.id)
            rows.append(Row(path, video, label, *segment.segment, where=where))
    durations = {video: found.duration for video, found in videos.items()}
    return truth_of(path, task, sorted(ids, key=lambda label: ids[label]), durations, rows)


COIN = DataSet("COIN.json", _is_coin, _read_coin)


_TASKS, _VIDEOS, _ANNOTATIONS = "tasks_primary.txt", "videos.csv", "annotations"
_BLOCK_LINES = 5


def _is_crosstask(source: Source) -> bool:
    return (source.path / _TASKS).is_file()


def _read_crosstask(source: Source) -> GroundTruth:
    """Read one truth for each listed task that has annotated videos.

    A listed video without a table was not annotated; a table of an unlisted video is an error.
    """
    folder = source.path
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
        rows = [row for v, path in annotated.items() for row in _crosstask_rows(path, v, steps)]
        if rows:
            truths.append(truth_of(folder, title, steps, dict.fromkeys(annotated), rows))
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
        if count != str(len(steps)):
            reason = f"task {task} says {count} steps and lists {len(steps)}"
            raise InputError(path, reason, count_line)
        yield task, title, steps


def _crosstask_rows(path: Path, video: str, steps: tuple[str, ...]) -> Iterator[Row]:
    by_number = {str(number): step for number, step in enumerate(steps, 1)}
    for line, (step, *times) in read_rows(path, width=3):
        if step.strip() not in by_number:
            raise InputError(path, f"step {step} is unknown: there are {len(steps)} steps", line)
        start, end = (as_number(time, path, "a time", line) for time in times)
        yield Row(path, video, by_number[step.strip()], start, end, line)


CROSSTASK = DataSet("the folder of CrossTask", _is_crosstask, _read_crosstask)

_BACKGROUND = frozenset({"background", "bg", "sil", "none", "-1"})


def _is_feature_folder(source: Source) -> bool:
    folder = source.path
    return (folder / "groundTruth").is_dir() and (folder / "mapping" / "mapping.txt").is_file()


def _read_frame_labels(source: Source) -> GroundTruth:
    """Read the labels of all videos, at the rate of the source."""
    folder, rate = source.path, source.rate
    if not 0 < rate < inf:
        raise InputError(folder, f"{rate:g} frames a second is not a frame rate")
    labels = _mapping(folder / "mapping" / "mapping.txt")
    steps = [label for label in labels if label.casefold() not in _BACKGROUND]
    rows: list[Row] = []
    durations: dict[str, float | None] = {}
    for path in sorted(path for path in (folder / "groundTruth").iterdir() if path.is_file()):
        video, frames = path.name.removesuffix(".txt"), 0
        for label, run in groupby(read_lines(path), key=lambda numbered: numbered[1]):
            lines = [line for line, _ in run]
            if label not in labels:
                raise InputError(path, f"label {label!r} is not in mapping.txt", lines[0])
            begin, frames = frames / rate, frames + len(lines)
            if label.casefold() not in _BACKGROUND:
                rows.append(Row(path, video, label, begin, frames / rate, lines[0]))
        durations[video] = frames / rate
    if not durations:
        raise InputError(folder / "groundTruth", "has no file")
    return truth_of(folder, folder.resolve().name, steps, durations, rows)


def _read_feature_folder(source: Source) -> Found[Labelled]:
    """Read the labels, and features averaged over the intervals of the grid, if there are any."""
    [truth] = _read_frame_labels(source)
    features = {}
    if (source.path / "features").is_dir():
        features = _frame_features(source.path / "features", truth, source.rate)
    videos = tuple(Video(video, duration=length) for video, length in truth.durations.items())
    return Found((Labelled(Task(truth.task, videos), truth, features),))


def _frame_features(folder: Path, truth: Truth, rate: float) -> dict[str, NDArray[np.float32]]:
    features: dict[str, NDArray[np.float32]] = {}
    for video, duration in truth.durations.items():
        path, count = folder / f"{video}.npy", round((duration or 0.0) * rate)
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
    return features


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


FEATURE_FOLDER = DataSet(
    "a folder with features/ groundTruth/ mapping/",
    _is_feature_folder,
    _read_frame_labels,
    _read_feature_folder,
)
