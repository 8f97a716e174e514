"""Labels of frames: what the protocols that compare segmentations work on."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.evaluate.matching import Matching, as_columns, match
from howsteps.task import Truth

Labels: TypeAlias = NDArray[np.int64]

BACKGROUND = -1


class Stretch(Protocol):
    """A step with a start and an end: an annotation, or a localisation that has both."""

    @property
    def step(self) -> int:
        """Which step."""

    @property
    def start(self) -> float | None:
        """Seconds."""

    @property
    def end(self) -> float | None:
        """Seconds."""


def label_frames(stretches: Sequence[Stretch], frames: int, rate: float) -> Labels:
    """The step of every frame; −1 for background.

    A frame has one label: where stretches overlap, the one that starts last has it. Frame t is
    looked at in its middle, at (t + ½)/rate seconds.
    """
    labels = np.full(frames, BACKGROUND, dtype=np.int64)
    middles = (np.arange(frames) + 0.5) / rate
    timed = [(s.start, s.end, s.step) for s in stretches if s.start is not None]
    for start, end, step in sorted(timed, key=lambda stretch: stretch[0]):
        if end is not None:
            labels[np.searchsorted(middles, start) : np.searchsorted(middles, end)] = step
    return labels


def true_frames(truth: Truth, rate: float) -> dict[str, Labels]:
    """The true labels of all videos whose length is known."""
    return {
        video: label_frames(annotations, round(duration * rate), rate)
        for video, annotations in truth.by_video.items()
        if (duration := truth.durations[video]) is not None
    }


def overlaps(predicted: Labels, true: Labels, shape: tuple[int, int]) -> NDArray[np.int64]:
    """How many frames have each pair of a predicted and a true step (``shape``: K_pred, K)."""
    both = (predicted != BACKGROUND) & (true != BACKGROUND)
    table = np.zeros(shape, dtype=np.int64)
    np.add.at(table, (predicted[both], true[both]), 1)
    return table


def matched_steps(
    predicted: Labels, true: Labels, matching: Matching | None, steps: int = 0
) -> NDArray[np.int64]:
    """The true step of each of at least ``steps`` predicted ones, −1 for none.

    By the matching that is given, or by the one that maximises the frames that agree.
    """
    if matching is not None:
        return as_columns(matching)
    return match(overlaps(predicted, true, (max(steps, steps_in(predicted)), steps_in(true))))


def right_frames(predicted: Labels, true: Labels, matched: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which frames have the right step, once discovered steps are called as true ones."""
    named = np.append(matched, BACKGROUND)[predicted]  # −1 takes the last: background
    return np.asarray((named == true) & (named != BACKGROUND))


def joined(predicted: Sequence[Labels], true: Sequence[Labels]) -> tuple[Labels, Labels]:
    """All videos in a row, after a look at their lengths."""
    if any(len(p) != len(t) for p, t in zip(predicted, true, strict=True)):
        raise ValueError("a video has not as many predicted as true labels")
    empty = [np.zeros(0, dtype=np.int64)]
    return np.concatenate([*empty, *predicted]), np.concatenate([*empty, *true])


def steps_in(labels: Labels) -> int:
    """The number of steps that labels count up to."""
    return int(labels.max(initial=BACKGROUND)) + 1
