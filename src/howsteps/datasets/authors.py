"""Read the data set that the paper's authors released: narrations, features and ground truth.

::

    NLP/<task>/sim_mat/<task>_sim_mat.txt             similarity of relations, 1 where they match
    NLP/<task>/count_files/<task>_lem_dobj_count      rows: count, verb, noun
    NLP/<task>/simple_trlst/<video>.trlst             rows: relation from 0, start, end
    VISION/<task>/videos_info/<video>.mat             fps, nimgs
    VISION/<task>/features/full_dataset.mat           X, Y, hw3: one entry for each video

``X`` has a row of features for every interval of 10 frames, and ``Y`` its one-hot true step, with
background as the last column. ``hw3.clipid`` are the names of the videos. Steps have numbers and no
names.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.datasets.annotations import (
    GRID,
    DataSet,
    Found,
    GivenMatches,
    GroundTruth,
    Labelled,
    Row,
    Source,
    as_number,
    truth_of,
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


def _tasks(folder: Path) -> list[str]:
    """Return the names of the tasks under ``folder`` that have features."""
    return sorted(path.parent.parent.name for path in folder.glob(f"VISION/*/{_FEATURES}"))


def read_release(folder: Path, task: str) -> Release:
    """Read one task of the release, and check that its files agree."""
    nlp, vision = folder / "NLP" / task, folder / "VISION" / task
    relations = _dictionary(nlp / "count_files" / f"{task}_lem_dobj_count")
    similarity = _similarity(nlp / "sim_mat" / f"{task}_sim_mat.txt", len(relations))
    truth, labels, features, rates = _dataset(vision)
    videos = tuple(
        Video(path.stem, duration=truth.durations[path.stem], mentions=_mentions(path, relations))
        for path in _narrations(nlp / "simple_trlst", labels)
    )
    return Release(Task(task, videos), truth, relations, similarity, features, labels, rates)


def _read_truths(source: Source) -> GroundTruth:
    """Read the ground truth of every task."""
    return Found(tuple(_dataset(source.path / "VISION" / t)[0] for t in _tasks(source.path)))


def _read_labelled(source: Source) -> Found[Labelled]:
    """Read every task, and convert it to the common grid.

    Its intervals are 10 frames at any frame rate. The times of every video are scaled so that each
    interval lasts :data:`GRID` seconds; features do not change.
    """
    return Found(tuple(_on_grid(read_release(source.path, task)) for task in _tasks(source.path)))


def _on_grid(release: Release) -> Labelled:
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


def _narrations(folder: Path, videos: Collection[str]) -> list[Path]:
    paths = sorted(folder.glob("*.trlst"))
    if not paths:
        raise InputError(folder, "has no .trlst file")
    for path in paths:
        if path.stem not in videos:
            raise InputError(path, "has no features of a video of this name")
    return paths


def _mentions(path: Path, relations: tuple[Relation, ...]) -> tuple[Mention, ...]:
    if path.is_file() and path.stat().st_size == 0:
        return ()  # a narration without relations
    by_number = {str(number): relation for number, relation in enumerate(relations)}
    mentions = []
    for line, text in read_lines(path):
        cells = text.split()
        if len(cells) != 3:
            raise InputError(path, "is not: relation start end", line)
        if (relation := by_number.get(cells[0])) is None:
            raise InputError(path, f"relation {cells[0]} is not in the dictionary", line)
        start, end = (as_number(cell, path, "a time", line) for cell in cells[1:])
        if not 0 <= start <= end < inf:
            raise InputError(path, f"{start:g}–{end:g} s is not a time span", line)
        mentions.append(Mention(path.stem, *relation, str(relation), start, end))
    return tuple(mentions)


def _dataset(
    vision: Path,
) -> tuple[Truth, dict[str, _Labels], dict[str, _Matrix], dict[str, float]]:
    """Return the truth and, by name of the video, labels, features, and frame rates."""
    path = vision / _FEATURES
    with TemporaryDirectory(prefix="howsteps-") as folder:
        target = Path(folder) / "arrays.npz"
        job = {
            "media": str(path),
            "infos": str(vision / "videos_info"),
            "target": str(target),
            "frames_per_interval": FRAMES_PER_INTERVAL,
            "memory": _MEMORY + _MEMORY_PER_BYTE * fingerprint(path)[0],
        }
        done = run_in_worker("howsteps.io.mat_files", job, threads=1)
        if "fault" in done:
            raise InputError(Path(done["path"]), done["fault"])
        arrays = read_arrays(target)
    names = done["names"]
    labels = {name: arrays[f"Y{n}"][:, :-1].astype(bool) for n, name in enumerate(names)}
    features = {name: arrays[f"X{n}"] for n, name in enumerate(names)}
    rates = dict(zip(names, done["rates"], strict=True))
    durations = {
        name: frames / rates[name] for name, frames in zip(names, done["frames"], strict=True)
    }
    steps = [f"step {k + 1}" for k in range(labels[names[0]].shape[1])]
    rows: list[Row] = []
    for video, matrix in labels.items():
        for step, present in zip(steps, matrix.T, strict=True):
            for first, last in _runs(present):
                start = first * FRAMES_PER_INTERVAL / rates[video]
                end = last * FRAMES_PER_INTERVAL / rates[video]
                rows.append(Row(path, video, step, start, end))
    [truth] = truth_of(path, vision.name, steps, durations, rows)
    return truth, labels, features, rates


def _runs(present: NDArray[np.bool_]) -> list[list[int]]:
    """Start and end (exclusive) of every run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], present, [False]))))
    return edges.reshape(-1, 2).tolist()


RELEASE = DataSet(
    "the paper's release", lambda source: bool(_tasks(source.path)), _read_truths, _read_labelled
)
