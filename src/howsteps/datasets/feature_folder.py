"""Features and frame-wise labels in the folder layout common in action segmentation.

::

    mapping/mapping.txt       rows: number, label
    groundTruth/<video>.txt   (or without .txt) one label for each frame
    features/<video>.npy      T×d or d×T

One folder is one task. Frames have a label each; ``background`` and ``SIL`` (silence) are not
steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from howsteps.datasets.annotations import AnnotationRow, truth_of_rows
from howsteps.errors import InputError
from howsteps.io.arrays import read_matrix
from howsteps.io.text import read_lines
from howsteps.task import Truth

_BACKGROUND = frozenset({"background", "bg", "sil", "none", "-1"})
FRAMES_PER_SECOND = 15.0


@dataclass(frozen=True, slots=True)
class FeatureFolder:
    """Ground truth, and the number of frames and the feature file of each video."""

    truth: Truth
    frames: Mapping[str, int]
    paths: Mapping[str, Path]

    def features(self, video: str) -> NDArray[np.floating]:
        """Load the features of one video, a row for each frame.

        Raises
        ------
        InputError
            The file is truncated, or its size is not the number of labelled frames.
        """
        path, frames = self.paths[video], self.frames[video]
        matrix = read_matrix(path)
        if matrix.ndim != 2 or matrix.dtype.kind != "f":
            raise InputError(path, "is not a matrix of floating point numbers")
        if frames not in matrix.shape:
            shape = "×".join(map(str, matrix.shape))
            raise InputError(path, f"is {shape}, but {frames} frames have labels")
        return matrix if matrix.shape[0] == frames else matrix.T


def is_feature_folder(folder: Path) -> bool:
    """Whether ``folder`` contains frame-wise labels and the list of labels."""
    return (folder / "groundTruth").is_dir() and (folder / "mapping" / "mapping.txt").is_file()


def read_feature_folder(folder: Path, rate: float = FRAMES_PER_SECOND) -> FeatureFolder:
    """Read the labels of all videos; ``rate`` is in frames per second.

    Raises
    ------
    InputError
        A label is not in the mapping, or a video has no features though others have.
    """
    labels = _mapping(folder / "mapping" / "mapping.txt")
    steps = [label for label in labels if label.casefold() not in _BACKGROUND]
    index_of = {label: index for index, label in enumerate(steps)}
    rows: list[AnnotationRow] = []
    frames: dict[str, int] = {}
    paths = sorted(path for path in (folder / "groundTruth").iterdir() if path.is_file())
    for path in paths:
        video = path.name.removesuffix(".txt")
        frames[video] = 0
        for label, run in groupby(read_lines(path), key=lambda numbered: numbered[1]):
            lines = [line for line, _ in run]
            first, length = lines[0], len(lines)
            if label not in labels:
                raise InputError(path, f"label {label!r} is not in mapping.txt", first)
            start = frames[video]
            frames[video] += length
            if label in index_of:
                begin, end = start / rate, frames[video] / rate
                rows.append(AnnotationRow(video, index_of[label], begin, end, first))
    if not frames:
        raise InputError(folder / "groundTruth", "has no file")
    durations = {video: count / rate for video, count in frames.items()}
    truth, _ = truth_of_rows(folder, folder.resolve().name, steps, durations, rows, merge=False)
    return FeatureFolder(truth, frames, _features(folder / "features", frames))


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


def _features(folder: Path, videos: Mapping[str, int]) -> dict[str, Path]:
    if not folder.is_dir():
        return {}  # ground truth is enough for statistics
    paths = {video: folder / f"{video}.npy" for video in videos}
    for path in paths.values():
        if not path.is_file():
            raise InputError(path, "no such file, though the video has labels")
    return paths
