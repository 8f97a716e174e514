"""Read the data set that the paper's authors released: narrations, features and ground truth.

::

    NLP/<task>/sim_mat/<task>_sim_mat.txt             similarity of relations, 1 where they match
    NLP/<task>/count_files/<task>_lem_dobj_count      rows: count, verb, noun
    NLP/<task>/simple_trlst/<video>.trlst             rows: relation from 0, start, end
    VISION/<task>/videos_info/<video>.mat             fps, nimgs
    VISION/<task>/features/full_dataset.mat           X, Y, hw3: one entry for each video

``X`` has a row of features for every interval of 10 frames, and ``Y`` its one-hot true step, with
background as the last column. ``hw3.clipid`` are the names of the videos. Steps have numbers and no
names. ``NLP_<task>`` instead of ``NLP/<task>`` is accepted too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from math import ceil, inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.datasets.annotations import (
    GRID,
    AnnotationRow,
    GivenMatches,
    Labelled,
    as_number,
    truth_of_rows,
    whole_number,
)
from howsteps.errors import InputError
from howsteps.io.arrays import read_arrays
from howsteps.io.files import fingerprint
from howsteps.io.text import read_lines, read_text
from howsteps.io.worker_process import run_in_worker
from howsteps.task import Mention, Relation, Task, Truth, Video

FRAMES_PER_INTERVAL = 10
_FEATURES = Path("features") / "full_dataset.mat"
# Bytes that reading may use: some, and as many for each byte of the file as no features need.
_MEMORY, _MEMORY_PER_BYTE = 2**30, 100

_Matrix: TypeAlias = NDArray[np.float64]
_Labels: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """One task of the release.

    ``task`` has the narrated videos with their mentions; ``features`` (T_n×d), ``labels`` (T_n×K)
    and ``rates`` (frames per second) have every video, by name. ``similarity`` is that of
    ``relations``, or of the most frequent ones.
    """

    task: Task
    truth: Truth
    relations: tuple[Relation, ...]
    similarity: _Matrix
    features: Mapping[str, _Matrix]
    labels: Mapping[str, _Labels]
    rates: Mapping[str, float]


def release_tasks(folder: Path) -> list[str]:
    """Return the names of the tasks under ``folder`` that have features."""
    nested = {path.parent.parent.name for path in folder.glob(f"VISION/*/{_FEATURES}")}
    flat = {path.parent.parent.name for path in folder.glob(f"VISION_*/{_FEATURES}")}
    return sorted(nested | {name.removeprefix("VISION_") for name in flat})


def read_release(folder: Path, task: str) -> Release:
    """Read one task of the release, and check that its files agree."""
    nlp, vision = _part(folder, "NLP", task), _part(folder, "VISION", task)
    relations = _dictionary(nlp / "count_files" / f"{task}_lem_dobj_count")
    similarity = _similarity(nlp / "sim_mat" / f"{task}_sim_mat.txt", len(relations))
    labels, features, rates, durations = _dataset(vision, with_features=True)
    videos = tuple(
        Video(path.stem, duration=durations[path.stem], mentions=_mentions(path, relations))
        for path in _narrations(nlp / "simple_trlst", durations)
    )
    truth = _truth(vision / _FEATURES, task, labels, rates, durations)
    return Release(Task(task, videos), truth, relations, similarity, features, labels, rates)


def read_truths(folder: Path) -> tuple[Truth, ...]:
    """Read the ground truth of every task without its features."""
    truths = []
    for task in release_tasks(folder):
        vision = _part(folder, "VISION", task)
        labels, _, rates, durations = _dataset(vision, with_features=False)
        truths.append(_truth(vision / _FEATURES, task, labels, rates, durations))
    return tuple(truths)


def read_labelled(folder: Path, task: str) -> Labelled:
    """Read one task, and convert it to the common grid.

    Its intervals are 10 frames at any frame rate. The times of every video are scaled so that each
    interval lasts :data:`GRID` seconds; features do not change.
    """
    release = read_release(folder, task)
    scales = {video: GRID * rate / FRAMES_PER_INTERVAL for video, rate in release.rates.items()}
    lengths = {video: len(rows) * GRID for video, rows in release.labels.items()}
    mentions = {video.id: video.mentions for video in release.task.videos}
    videos = tuple(
        Video(
            video,
            duration=length,
            mentions=tuple(
                replace(m, start=m.start * scales[video], end=m.end * scales[video])
                for m in mentions.get(video, ())
            ),
        )
        for video, length in lengths.items()
    )
    annotations = tuple(
        replace(a, start=a.start * scales[a.video], end=a.end * scales[a.video])
        for a in release.truth.annotations
    )
    return Labelled(
        Task(release.task.name, videos),
        replace(release.truth, annotations=annotations, durations=lengths),
        {video: x.astype(np.float32) for video, x in release.features.items()},
        _matches_of(release.relations[: len(release.similarity)], release.similarity == 1),
    )


def _matches_of(relations: Sequence[Relation], similar: NDArray[np.bool_]) -> GivenMatches:
    """Return a look-up of matches in a matrix; relations outside it match only themselves."""
    row_of = {relation: row for row, relation in enumerate(relations)}
    symmetric = similar | similar.T

    def matches(queried: Sequence[Relation]) -> NDArray[np.bool_]:
        found = np.eye(len(queried), dtype=np.bool_)
        known = [index for index, relation in enumerate(queried) if relation in row_of]
        rows = [row_of[queried[index]] for index in known]
        found[np.ix_(known, known)] |= symmetric[np.ix_(rows, rows)]
        return found

    return matches


def _part(folder: Path, kind: str, task: str) -> Path:
    nested = folder / kind / task
    return nested if nested.is_dir() else folder / f"{kind}_{task}"


def _dictionary(path: Path) -> tuple[Relation, ...]:
    relations = []
    for line, text in read_lines(path):
        cells = text.split()
        if len(cells) != 3:
            raise InputError(path, "is not: count verb noun", line)
        relations.append(Relation(*cells[1:]))
    return tuple(relations)


def _similarity(path: Path, relations: int) -> _Matrix:
    try:
        matrix = np.loadtxt(StringIO(read_text(path)), ndmin=2, comments=None)
    except ValueError as error:
        reason = f"is not a matrix of numbers ({str(error).partition(';')[0]})"
        raise InputError(path, reason) from None
    height, width = matrix.shape
    if height != width or height > relations:
        raise InputError(path, f"is {height}×{width}, not square with at most {relations} rows")
    return matrix


def _narrations(folder: Path, durations: Mapping[str, float]) -> list[Path]:
    paths = sorted(folder.glob("*.trlst"))
    if not paths:
        raise InputError(folder, "has no .trlst file")
    for path in paths:
        if path.stem not in durations:
            raise InputError(path, "has no features of a video of this name")
    return paths


def _mentions(path: Path, relations: tuple[Relation, ...]) -> tuple[Mention, ...]:
    if path.is_file() and path.stat().st_size == 0:
        return ()  # a narration without relations
    mentions = []
    for line, text in read_lines(path):
        cells = text.split()
        if len(cells) != 3:
            raise InputError(path, "is not: relation start end", line)
        index = whole_number(cells[0], path, "a relation", line)
        if index >= len(relations):
            raise InputError(path, f"relation {index} is not in the dictionary", line)
        start, end = (as_number(cell, path, "a time", line) for cell in cells[1:])
        if not 0 <= start <= end < inf:
            raise InputError(path, f"{start:g}–{end:g} s is not a time span", line)
        relation = relations[index]
        mentions.append(Mention(path.stem, *relation, str(relation), start, end))
    return tuple(mentions)


def _dataset(
    vision: Path, *, with_features: bool
) -> tuple[dict[str, _Labels], dict[str, _Matrix], dict[str, float], dict[str, float]]:
    """Return labels, features if wanted, frame rate and length in seconds, by name of the video."""
    path = vision / _FEATURES
    with TemporaryDirectory(prefix="howsteps-") as folder:
        target = Path(folder) / "arrays.npz"
        job = {
            "media": str(path),
            "infos": str(vision / "videos_info"),
            "target": str(target),
            "variables": ["Y", "X"] if with_features else ["Y"],
            "memory": _MEMORY + _MEMORY_PER_BYTE * fingerprint(path)[0],
        }
        done = run_in_worker("howsteps.io.mat_files", job, threads=1)
        if "fault" in done:
            raise InputError(Path(done["path"]), done["fault"])
        arrays = read_arrays(target)
    names, rates = done["names"], dict(zip(done["names"], done["rates"], strict=True))
    labels = {name: arrays[f"Y{n}"][:, :-1].astype(bool) for n, name in enumerate(names)}
    features = {name: arrays[f"X{n}"] for n, name in enumerate(names) if with_features}
    frames = dict(zip(names, done["frames"], strict=True))
    for name, count in frames.items():
        if (intervals := ceil(count / FRAMES_PER_INTERVAL)) != len(labels[name]):
            reason = f"{count:g} frames are {intervals} intervals, but Y has {len(labels[name])}"
            raise InputError(vision / "videos_info" / f"{name}.mat", reason)
    durations = {name: count / rates[name] for name, count in frames.items()}
    return labels, features, rates, durations


def _truth(
    path: Path,
    task: str,
    labels: Mapping[str, _Labels],
    rates: Mapping[str, float],
    durations: Mapping[str, float],
) -> Truth:
    steps = [f"step {k + 1}" for k in range(next(iter(labels.values())).shape[1])]
    rows = (
        AnnotationRow(
            video,
            k,
            first * FRAMES_PER_INTERVAL / rates[video],
            last * FRAMES_PER_INTERVAL / rates[video],
        )
        for video, matrix in labels.items()
        for k in range(len(steps))
        for first, last in _runs(matrix[:, k])
    )
    [truth] = truth_of_rows(path, task, steps, durations, rows, merge=False)
    return truth


def _runs(present: NDArray[np.bool_]) -> list[list[int]]:
    """Start and end (exclusive) of every run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], present, [False]))))
    return edges.reshape(-1, 2).tolist()
