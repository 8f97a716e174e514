"""Protocols that compare frames: ``frame-f1``, ``kukleva`` and ``per-video``.

``frame-f1`` is the score of procedure learning (Elhamifar and Naing, 2019). One Hungarian matching
of steps, shared by all videos, maximises the frames that agree::

    precision = right frames / frames predicted to be in a step
    recall    = right frames / frames that truly are in a step

``kukleva`` is what "F1 on YouTube Instructions" means since Kukleva et al. (2019). Frames whose
true label is background are left out. One matching, shared by all videos, maximises the frames that
agree. A true segment counts by the share of 15 frames, drawn from it with replacement, whose
matched label is right; c is the sum over all segments::

    precision = c / (N·K_pred)      recall = c / #segments      F1: the mean of 50 repeats
    MoF = right frames / frames

It rewards labelling every frame with some step, because background costs nothing. Where steps are
repeated, precision can pass 1. Their program never counts the last segment of a task, and joins
segments of one step that end one video and begin the next; this one does neither.

``per-video`` matches each video on its own, so a step need not be the same in all videos. For a
true label g with its match p, F1 = 2|p∩g| / (|p|+|g|), and 0 without a match. Scores are means over
the labels of a video, and then over videos; MoF is the share of right frames. With background,
background is one more label on both sides. Without it, frames whose true label is background are
left out, and predicted background is never right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.evaluate.inputs import EvaluationError, Predictions, as_predictions, as_truth
from howsteps.evaluate.score import (
    Matching,
    Score,
    as_columns,
    as_steps,
    counted,
    harmonic,
    match,
    ratio,
)
from howsteps.task import Localisation, Truth

Labels: TypeAlias = NDArray[np.int64]
FrameLabels: TypeAlias = Sequence[ArrayLike] | Mapping[str, ArrayLike]

BACKGROUND = -1
LABEL_RATE = 3.0  # labels a second, where localisations are compared with a truth
SAMPLES, REPEATS = 15, 50


class StepInterval(Protocol):
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


def label_frames(intervals: Sequence[StepInterval], frames: int, rate: float) -> Labels:
    """The step of every frame; −1 for background.

    A frame has one label: where intervals overlap, it is that of the interval that starts last.
    Frame t is judged by its middle, (t + ½)/rate seconds.
    """
    labels = np.full(frames, BACKGROUND, dtype=np.int64)
    middles = (np.arange(frames) + 0.5) / rate
    timed = [(s.start, s.end, s.step) for s in intervals if s.start is not None]
    for start, end, step in sorted(timed, key=lambda interval: interval[0]):
        if end is not None:
            labels[np.searchsorted(middles, start) : np.searchsorted(middles, end)] = step
    return labels


def true_frames(truth: Truth, rate: float = LABEL_RATE) -> dict[str, Labels]:
    """The true labels of all videos whose length is known."""
    return {
        video: label_frames(annotations, round(duration * rate), rate)
        for video, annotations in truth.by_video.items()
        if (duration := truth.durations[video]) is not None
    }


def predicted_frames(
    predictions: Predictions, truth: Truth, rate: float = LABEL_RATE
) -> dict[str, Labels]:
    """The predicted labels of the videos of a truth.

    A localisation without start and end reaches halfway to its neighbours.
    """
    found, _ = as_predictions(predictions, truth)
    spans = with_extents(found, truth.durations)
    return {
        video: label_frames(spans[video], len(labels), rate)
        for video, labels in true_frames(truth, rate).items()
    }


def with_extents(
    localisations: Sequence[Localisation], durations: Mapping[str, float | None]
) -> dict[str, list[Localisation]]:
    """Localisations with an extent, by video; one without reaches halfway to its neighbours."""
    videos: dict[str, list[Localisation]] = {video: [] for video in durations}
    for found in localisations:
        if found.video in videos and found.time is not None:
            videos[found.video].append(found)
    return {video: _halfway(found, durations[video] or 0.0) for video, found in videos.items()}


def frame_f1(
    predictions: FrameLabels | Predictions,
    truth: FrameLabels | Truth,
    matching: Matching | None = None,
) -> Score:
    """Precision, recall and F1 over all frames, by the best matching or a given one.

    Parameters
    ----------
    predictions, truth
        Labels of frames, an array of whole numbers for each video (a list of them, or a dictionary
        by video), −1 for background. Or predictions as :mod:`howsteps.evaluate.inputs` lists, and a
        :class:`~howsteps.task.Truth` whose videos have durations.
    matching
        The true step of each discovered step; the best matching when None.

    Raises
    ------
    EvaluationError
        When the two do not have the same videos and frames, or a label is no step.
    """
    predicted, true = _labels(predictions, truth)
    ours, theirs = _joined(predicted), _joined(true)
    matched = _matched(ours, theirs, matching)
    return Score(
        *counted(
            _right(ours, theirs, matched).sum(),
            (ours != BACKGROUND).sum(),
            (theirs != BACKGROUND).sum(),
        ),
        matching=as_steps(matched),
    )


def kukleva(
    predictions: FrameLabels | Predictions,
    truth: FrameLabels | Truth,
    steps: int | None = None,
    matching: Matching | None = None,
    *,
    seed: int = 0,
    samples: int = SAMPLES,
    repeats: int = REPEATS,
) -> Score:
    """F1 and MoF of Kukleva et al.; the error bar of F1 goes over the repeats.

    Parameters
    ----------
    predictions, truth, matching
        As for :func:`frame_f1`.
    steps
        K_pred, the number of discovered steps. None: as many as the predictions count up to.
    """
    predicted, true = _labels(predictions, truth)
    ours, theirs = _joined(predicted), _joined(true)
    steps = _count(ours) if steps is None else steps
    if _count(ours) > steps:
        raise EvaluationError(
            f"a frame has the label {_count(ours) - 1}: steps are the numbers 0 … {steps - 1}"
        )
    matched = _matched(ours, theirs, matching, steps)
    shares, right, frames = [], 0, 0
    for p, t in zip(predicted, true, strict=True):
        kept = t != BACKGROUND
        correct = _right(p[kept], t[kept], matched)
        right, frames = right + int(correct.sum()), frames + int(kept.sum())
        shares += [float(part.mean()) for part in _segments(correct, t[kept]) if len(part)]
    # 15 frames drawn with replacement, of which each is right with the segment's share.
    repeated = np.random.default_rng(seed).binomial(samples, shares, size=(repeats, len(shares)))
    found = repeated.sum(axis=1) / samples
    precisions = [ratio(c, len(predicted) * steps) for c in found]
    recalls = [ratio(c, len(shares)) for c in found]
    scores = [harmonic(p, r) for p, r in zip(precisions, recalls, strict=True)]
    return Score(
        precision=float(np.mean(precisions)),
        recall=float(np.mean(recalls)),
        f1=float(np.mean(scores)),
        low=min(scores),
        high=max(scores),
        frames=ratio(right, frames),
        matching=as_steps(matched),
    )


def per_video(
    predictions: FrameLabels | Predictions,
    truth: FrameLabels | Truth,
    *,
    background: bool = False,
) -> Score:
    """Precision, recall, F1 and MoF, as means over the videos that have something to find.

    Parameters
    ----------
    predictions, truth
        As for :func:`frame_f1`.
    background
        Whether background is one more label.
    """
    predicted, true = _labels(predictions, truth)
    found = [_one_video(p, t, background) for p, t in zip(predicted, true, strict=True) if len(t)]
    rows = np.array([row for row in found if row is not None])
    if not len(rows):
        return Score(0.0, 0.0, 0.0, frames=0.0)
    precision, recall, f1, frames = (float(column) for column in rows.mean(axis=0))
    return Score(precision, recall, f1, frames=frames)


def _one_video(
    predicted: Labels, true: Labels, background: bool
) -> tuple[float, float, float, float] | None:
    if background:  # counts from 0 as any other label
        predicted, true = predicted + 1, true + 1
    kept = true != BACKGROUND
    if not kept.any():
        return None
    predicted, true = predicted[kept], true[kept]
    table = _overlaps(predicted, true, (_count(predicted), _count(true)))
    matched = match(table)
    own = np.bincount(predicted[predicted != BACKGROUND], minlength=len(table))
    theirs = np.bincount(true)
    precisions, recalls, scores, right = [], [], [], 0
    partner = {int(g): p for p, g in enumerate(matched) if g >= 0}
    for g in np.flatnonzero(theirs):
        p = partner.get(int(g))
        common = 0 if p is None else int(table[p, g])
        right += common
        precisions.append(0.0 if p is None else ratio(common, own[p]))
        recalls.append(ratio(common, theirs[g]))
        scores.append(ratio(2 * common, theirs[g] + (0 if p is None else own[p])))
    precision, recall, f1 = (float(np.mean(values)) for values in (precisions, recalls, scores))
    return precision, recall, f1, ratio(right, len(true))


def _labels(predictions: Any, truth: Any) -> tuple[list[Labels], list[Labels]]:
    """Predicted and true labels, one array a video."""
    if isinstance(truth, Truth):
        truth = as_truth(truth)
        for video, duration in truth.durations.items():
            if duration is None:
                raise EvaluationError(f"the length of video {video!r} is not known")
        predictions, truth = predicted_frames(predictions, truth), true_frames(truth)
    if isinstance(truth, Mapping) != isinstance(predictions, Mapping):
        raise EvaluationError("labels are given by video for one of predictions and truth only")
    if not isinstance(truth, Mapping):
        predictions, truth = dict(enumerate(predictions)), dict(enumerate(truth))
    for video in [*predictions, *truth]:
        if video not in truth:
            raise EvaluationError(f"video {video!r} is predicted but not in the truth")
        if video not in predictions:
            raise EvaluationError(f"video {video!r} is in the truth but not predicted")
    predicted = [_checked(predictions[video], video) for video in truth]
    true = [_checked(labels, video) for video, labels in truth.items()]
    for video, p, t in zip(truth, predicted, true, strict=True):
        if len(p) != len(t):
            raise EvaluationError(
                f"video {video!r} has {len(p)} predicted and {len(t)} true labels"
            )
    return predicted, true


def _checked(labels: ArrayLike, video: str | int) -> Labels:
    array = np.asarray(labels)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise EvaluationError(f"video {video!r}: labels are whole numbers, one a frame")
    if array.min(initial=0) < BACKGROUND:
        raise EvaluationError(
            f"video {video!r} has the label {array.min()}: steps are numbers from 0 on, "
            "−1 is background"
        )
    return array.astype(np.int64)


def _joined(videos: Sequence[Labels]) -> Labels:
    """All videos in a row."""
    return np.concatenate([np.zeros(0, dtype=np.int64), *videos])


def _count(labels: Labels) -> int:
    """The number of steps that labels count up to."""
    return int(labels.max(initial=BACKGROUND)) + 1


def _overlaps(predicted: Labels, true: Labels, shape: tuple[int, int]) -> NDArray[np.int64]:
    """How many frames have each pair of a predicted and a true step (``shape``: K_pred, K)."""
    both = (predicted != BACKGROUND) & (true != BACKGROUND)
    table = np.zeros(shape, dtype=np.int64)
    np.add.at(table, (predicted[both], true[both]), 1)
    return table


def _matched(
    predicted: Labels, true: Labels, matching: Matching | None, steps: int = 0
) -> NDArray[np.int64]:
    """The true step of each of at least ``steps`` predicted ones, −1 for none."""
    shape = max(steps, _count(predicted)), _count(true)
    if matching is not None:
        # A subsample of videos need not have every true step of the matching.
        known = max((step + 1 for step in matching if step is not None), default=0)
        return as_columns(matching, shape[0], max(shape[1], known))
    return match(_overlaps(predicted, true, shape))


def _right(predicted: Labels, true: Labels, matched: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which frames have the right step."""
    renamed = np.append(matched, BACKGROUND)[predicted]  # −1 takes the last: background
    return np.asarray((renamed == true) & (renamed != BACKGROUND))


def _segments(values: NDArray[np.bool_], labels: Labels) -> list[NDArray[np.bool_]]:
    """Parts of ``values`` over which the label stays the same."""
    return np.split(values, np.flatnonzero(np.diff(labels)) + 1)


def _halfway(localisations: Sequence[Localisation], duration: float) -> list[Localisation]:
    ordered = sorted(localisations, key=lambda p: p.time or 0.0)
    times = [p.time or 0.0 for p in ordered]
    borders = [0.0, *((a + b) / 2 for a, b in pairwise(times)), duration]
    return [
        p if p.start is not None else replace(p, start=borders[n], end=borders[n + 1])
        for n, p in enumerate(ordered)
    ]
