"""Protocols that compare frames: ``frame-f1``, ``kukleva`` and ``per-video``.

``frame-f1`` is the score of procedure learning (Elhamifar and Naing, 2019). One Hungarian matching
of steps, shared by all videos, maximises the frames that agree::

    precision = correct frames / frames predicted to be in a step
    recall    = correct frames / frames that truly are in a step

``kukleva`` is what "F1 on YouTube Instructions" means since Kukleva et al. (2019). Frames whose
true label is background are left out. One matching, shared by all videos, maximises the frames that
agree. A true segment counts by the share of 15 frames, drawn from it with replacement, whose
matched label is correct; c is the sum over all segments::

    precision = c / (N·K_pred)      recall = c / #segments      F1: the mean of 50 repeats
    MoF = correct frames / frames

It rewards labelling every frame with some step, because background costs nothing. Where steps are
repeated, precision can exceed 1. Their program never counts the last segment of a task, and joins
segments of one step that end one video and begin the next; this one does neither.

``per-video`` matches each video separately, so a step need not be the same in all videos. For a
true label g with its match p, F1 = 2|p∩g| / (|p|+|g|), and 0 without a match. Scores are means over
the labels of a video, and then over videos; MoF is the share of correct frames. With background,
background is one more label on both sides. Without it, frames whose true label is background are
left out, and predicted background is never correct.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.errors import HowstepsError
from howsteps.evaluate.inputs import (
    Matching,
    Predictions,
    Score,
    as_columns,
    as_predictions,
    as_steps,
    check_truth,
    f1_of,
    match,
    precision_recall_f1,
    ratio,
)
from howsteps.task import Annotation, Localisation, Truth

Labels: TypeAlias = NDArray[np.int64]
FrameLabels: TypeAlias = Sequence[ArrayLike] | Mapping[str, ArrayLike]

BACKGROUND = -1
LABEL_RATE = 3.0  # labels per second, for localisations
SAMPLES, REPEATS = 15, 50


def label_frames(
    intervals: Sequence[Annotation] | Sequence[Localisation], frames: int, rate: float
) -> Labels:
    """Return the step of every frame, −1 for background.

    Where intervals overlap, the one that starts last wins. Frame t has the label at its middle,
    (t + ½)/rate seconds.
    """
    labels = np.full(frames, BACKGROUND, dtype=np.int64)
    middles = (np.arange(frames) + 0.5) / rate
    timed = [(s.start, s.end, s.step) for s in intervals if s.start is not None]
    for start, end, step in sorted(timed, key=lambda interval: interval[0]):
        if end is not None:
            labels[np.searchsorted(middles, start) : np.searchsorted(middles, end)] = step
    return labels


def true_frames(truth: Truth, rate: float = LABEL_RATE) -> dict[str, Labels]:
    """Return the true labels of all videos whose duration is known."""
    return {
        video: label_frames(annotations, round(duration * rate), rate)
        for video, annotations in truth.by_video.items()
        if (duration := truth.durations[video]) is not None
    }


def predicted_frames(predictions: Predictions, truth: Truth) -> dict[str, Labels]:
    """Return the predicted labels of the videos of a truth.

    A localisation without start and end extends halfway to its neighbours.
    """
    localisations, _ = as_predictions(predictions, truth)
    by_video = with_extents(localisations, truth.durations)
    return {
        video: label_frames(by_video[video], len(labels), LABEL_RATE)
        for video, labels in true_frames(truth).items()
    }


def with_extents(
    localisations: Sequence[Localisation], durations: Mapping[str, float | None]
) -> dict[str, list[Localisation]]:
    """Return localisations by video; those without an extent get one, halfway to the neighbours."""
    by_video: dict[str, list[Localisation]] = {video: [] for video in durations}
    for at in localisations:
        if at.video in by_video and at.time is not None:
            by_video[at.video].append(at)
    return {video: _halfway(found, durations[video] or 0.0) for video, found in by_video.items()}


def frame_f1(
    predictions: FrameLabels | Predictions,
    truth: FrameLabels | Truth,
    matching: Matching | None = None,
) -> Score:
    """Return precision, recall and F1 over all frames, by the best or a given matching.

    Parameters
    ----------
    predictions, truth
        Labels of frames: an integer array for each video (in a list, or a dictionary by video), −1
        for background. Or predictions in a form of :mod:`howsteps.evaluate.inputs`, and a
        :class:`~howsteps.task.Truth` whose videos have durations.
    matching
        True step of each discovered step; the best matching if None.
    """
    predicted, true = map(_concatenate, _labels(predictions, truth))
    matched = _matched(predicted, true, matching)
    return Score(
        *precision_recall_f1(
            _is_correct(predicted, true, matched).sum(),
            (predicted != BACKGROUND).sum(),
            (true != BACKGROUND).sum(),
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
    repeats: int = REPEATS,
) -> Score:
    """Return F1 and MoF of Kukleva et al.; the error bar of F1 is over the repeats.

    ``predictions``, ``truth`` and ``matching`` are as for :func:`frame_f1`; ``steps`` is K_pred, by
    default the largest predicted label plus one.
    """
    predicted, true = _labels(predictions, truth)
    all_predicted, all_true = _concatenate(predicted), _concatenate(true)
    n_predicted = _count(all_predicted)
    steps = n_predicted if steps is None else steps
    if n_predicted > steps:
        raise HowstepsError(
            f"a frame has the label {n_predicted - 1}: steps are the numbers 0 … {steps - 1}"
        )
    matched = _matched(all_predicted, all_true, matching, steps)
    shares, n_correct, n_frames = [], 0, 0
    for p, t in zip(predicted, true, strict=True):
        kept = t != BACKGROUND
        correct = _is_correct(p[kept], t[kept], matched)
        n_correct, n_frames = n_correct + int(correct.sum()), n_frames + int(kept.sum())
        shares += [float(part.mean()) for part in _segments(correct, t[kept]) if len(part)]
    # Frames are drawn with replacement, so the number of correct ones is binomial.
    drawn = np.random.default_rng(seed).binomial(SAMPLES, shares, size=(repeats, len(shares)))
    totals = drawn.sum(axis=1) / SAMPLES
    precisions = [ratio(c, len(predicted) * steps) for c in totals]
    recalls = [ratio(c, len(shares)) for c in totals]
    scores = [f1_of(p, r) for p, r in zip(precisions, recalls, strict=True)]
    return Score(
        precision=float(np.mean(precisions)),
        recall=float(np.mean(recalls)),
        f1=float(np.mean(scores)),
        low=min(scores),
        high=max(scores),
        frames=ratio(n_correct, n_frames),
        matching=as_steps(matched),
    )


def per_video(
    predictions: FrameLabels | Predictions,
    truth: FrameLabels | Truth,
    *,
    background: bool = False,
) -> Score:
    """Return precision, recall, F1 and MoF: means over the videos that have a true label.

    ``predictions`` and ``truth`` are as for :func:`frame_f1`; ``background`` counts as one more
    label.
    """
    predicted, true = _labels(predictions, truth)
    scores = [_one_video(p, t, background) for p, t in zip(predicted, true, strict=True) if len(t)]
    rows = np.array([row for row in scores if row is not None])
    if not len(rows):
        return Score(0.0, 0.0, 0.0, frames=0.0)
    precision, recall, f1, frames = (float(column) for column in rows.mean(axis=0))
    return Score(precision, recall, f1, frames=frames)


def _one_video(
    predicted: Labels, true: Labels, background: bool
) -> tuple[float, float, float, float] | None:
    """Return precision, recall, F1 and MoF of one video; None if it has no true label."""
    if background:  # becomes label 0
        predicted, true = predicted + 1, true + 1
    kept = true != BACKGROUND
    if not kept.any():
        return None
    predicted, true = predicted[kept], true[kept]
    table = _overlaps(predicted, true, (_count(predicted), _count(true)))
    matched = match(table)
    predicted_counts = np.bincount(predicted[predicted != BACKGROUND], minlength=len(table))
    true_counts = np.bincount(true)
    precisions, recalls, scores, correct = [], [], [], 0
    match_of = {int(g): p for p, g in enumerate(matched) if g >= 0}
    for g in np.flatnonzero(true_counts):
        p = match_of.get(int(g))
        common = 0 if p is None else int(table[p, g])
        size = 0 if p is None else predicted_counts[p]
        correct += common
        precisions.append(ratio(common, size))
        recalls.append(ratio(common, true_counts[g]))
        scores.append(ratio(2 * common, true_counts[g] + size))
    precision, recall, f1 = (float(np.mean(values)) for values in (precisions, recalls, scores))
    return precision, recall, f1, ratio(correct, len(true))


def _labels(predictions: Any, truth: Any) -> tuple[list[Labels], list[Labels]]:
    """Return predicted and true labels, one array per video."""
    if isinstance(truth, Truth):
        check_truth(truth)
        for video, duration in truth.durations.items():
            if duration is None:
                raise HowstepsError(f"the length of video {video!r} is not known")
        predictions, truth = predicted_frames(predictions, truth), true_frames(truth)
    if isinstance(truth, Mapping) != isinstance(predictions, Mapping):
        raise HowstepsError("labels are given by video for one of predictions and truth only")
    if not isinstance(truth, Mapping):
        predictions, truth = dict(enumerate(predictions)), dict(enumerate(truth))
    if unknown := [video for video in predictions if video not in truth]:
        raise HowstepsError(f"video {unknown[0]!r} is predicted but not in the truth")
    if missing := [video for video in truth if video not in predictions]:
        raise HowstepsError(f"video {missing[0]!r} is in the truth but not predicted")
    predicted = [_checked(predictions[video], video) for video in truth]
    true = [_checked(labels, video) for video, labels in truth.items()]
    for video, p, t in zip(truth, predicted, true, strict=True):
        if len(p) != len(t):
            counts = f"{len(p)} predicted and {len(t)} true labels"
            raise HowstepsError(f"video {video!r} has {counts}")
    return predicted, true


def _checked(labels: ArrayLike, video: str | int) -> Labels:
    array = np.asarray(labels)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise HowstepsError(f"video {video!r}: labels are integers, one per frame")
    if (least := array.min(initial=0)) < BACKGROUND:
        known = "steps are the numbers from 0 on, −1 is background"
        raise HowstepsError(f"video {video!r} has the label {least}: {known}")
    return array.astype(np.int64)


def _concatenate(videos: Sequence[Labels]) -> Labels:
    """Return the labels of all videos in one array."""
    return np.concatenate([np.zeros(0, dtype=np.int64), *videos])


def _count(labels: Labels) -> int:
    """Return the largest label plus one."""
    return int(labels.max(initial=BACKGROUND)) + 1


def _overlaps(predicted: Labels, true: Labels, shape: tuple[int, int]) -> NDArray[np.int64]:
    """Return the number of frames of each pair of predicted and true step; K_pred×K."""
    both = (predicted != BACKGROUND) & (true != BACKGROUND)
    table = np.zeros(shape, dtype=np.int64)
    np.add.at(table, (predicted[both], true[both]), 1)
    return table


def _matched(
    predicted: Labels, true: Labels, matching: Matching | None, steps: int = 0
) -> NDArray[np.int64]:
    """Return the true step of each of at least ``steps`` predicted ones, −1 for none."""
    shape = max(steps, _count(predicted)), _count(true)
    if matching is not None:
        return as_columns(matching, shape[0])
    return match(_overlaps(predicted, true, shape))


def _is_correct(predicted: Labels, true: Labels, matched: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which frames have the correct step."""
    mapped = np.append(matched, BACKGROUND)[predicted]  # index −1 is the last entry
    return np.asarray((mapped == true) & (mapped != BACKGROUND))


def _segments(values: NDArray[np.bool_], labels: Labels) -> list[NDArray[np.bool_]]:
    """Split ``values`` where the label changes."""
    return np.split(values, np.flatnonzero(np.diff(labels)) + 1)


def _halfway(localisations: Sequence[Localisation], duration: float) -> list[Localisation]:
    """Return the localisations of one video in order of time, each with an extent."""
    ordered = sorted(localisations, key=lambda p: p.time or 0.0)
    times = [p.time or 0.0 for p in ordered]
    borders = [0.0, *((a + b) / 2 for a, b in pairwise(times)), duration]
    return [
        p
        if p.start is not None and p.end is not None
        else replace(p, start=borders[n], end=borders[n + 1])
        for n, p in enumerate(ordered)
    ]
