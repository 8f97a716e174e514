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

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.errors import HowstepsError
from howsteps.evaluate.inputs import (
    Predictions,
    Score,
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
LabelsByVideo: TypeAlias = Sequence[ArrayLike]

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


def true_frames(truth: Truth, rate: float = LABEL_RATE) -> list[Labels]:
    """Return the true labels of every video, in the order of ``truth.durations``."""
    check_truth(truth)
    labels = []
    for video, annotations in truth.by_video.items():
        duration = truth.durations[video]
        if duration is None:
            raise HowstepsError(f"the length of video {video!r} is not known")
        labels.append(label_frames(annotations, round(duration * rate), rate))
    return labels


def predicted_frames(
    predictions: Predictions, truth: Truth, rate: float = LABEL_RATE
) -> list[Labels]:
    """Return the predicted labels of every video, as long as those of :func:`true_frames`.

    A localisation without start and end extends halfway to its neighbours.
    """
    localisations, _ = as_predictions(predictions, truth)
    return [
        label_frames(
            _halfway([at for at in localisations if at.video == video], end), len(of), rate
        )
        for (video, end), of in zip(truth.durations.items(), true_frames(truth, rate), strict=True)
    ]


def frame_f1(predicted: LabelsByVideo, true: LabelsByVideo) -> Score:
    """Return precision, recall and F1 over all frames.

    ``predicted`` and ``true`` are the labels of the frames: an integer array for each video, −1 for
    background (:func:`predicted_frames`, :func:`true_frames`).
    """
    p, t = _end_to_end(_checked(predicted, true))
    matched = match(_overlaps(p, t))
    correct = _is_correct(p, t, matched).sum()
    found = precision_recall_f1(correct, (p != BACKGROUND).sum(), (t != BACKGROUND).sum())
    return Score(*found, matching=as_steps(matched))


def kukleva(
    predicted: LabelsByVideo,
    true: LabelsByVideo,
    steps: int | None = None,
    *,
    seed: int = 0,
    repeats: int = REPEATS,
) -> Score:
    """Return F1 and MoF of Kukleva et al.

    ``predicted`` and ``true`` are as for :func:`frame_f1`; ``steps`` is K_pred, by default the
    largest predicted label plus one.
    """
    videos = _checked(predicted, true)
    all_predicted, all_true = _end_to_end(videos)
    n_predicted = _count(all_predicted)
    steps = n_predicted if steps is None else steps
    if n_predicted > steps:
        raise HowstepsError(
            f"a frame has the label {n_predicted - 1}: steps are the numbers 0 … {steps - 1}"
        )
    matched = match(_overlaps(all_predicted, all_true))
    shares, n_correct, n_frames = [], 0, 0
    for p, t in videos:
        kept = t != BACKGROUND
        correct = _is_correct(p[kept], t[kept], matched)
        n_correct, n_frames = n_correct + int(correct.sum()), n_frames + int(kept.sum())
        shares += [float(part.mean()) for part in _segments(correct, t[kept]) if len(part)]
    # Frames are drawn with replacement, so the number of correct ones is binomial.
    drawn = np.random.default_rng(seed).binomial(SAMPLES, shares, size=(repeats, len(shares)))
    totals = drawn.sum(axis=1) / SAMPLES
    precisions = [ratio(c, len(videos) * steps) for c in totals]
    recalls = [ratio(c, len(shares)) for c in totals]
    scores = [f1_of(p, r) for p, r in zip(precisions, recalls, strict=True)]
    return Score(
        precision=float(np.mean(precisions)),
        recall=float(np.mean(recalls)),
        f1=float(np.mean(scores)),
        frames=ratio(n_correct, n_frames),
        matching=as_steps(matched) + (None,) * (steps - n_predicted),
    )


def per_video(predicted: LabelsByVideo, true: LabelsByVideo, *, background: bool = False) -> Score:
    """Return precision, recall, F1 and MoF: means over the videos that have a true label.

    ``predicted`` and ``true`` are as for :func:`frame_f1`; ``background`` counts as one more label.
    """
    videos = _checked(predicted, true)
    rows = [row for p, t in videos if (row := _one_video(p, t, background))]
    if not rows:
        return Score(0.0, 0.0, 0.0, frames=0.0)
    precision, recall, f1, frames = (float(column) for column in np.mean(rows, axis=0))
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
    table = _overlaps(predicted, true)
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


def _checked(predicted: LabelsByVideo, true: LabelsByVideo) -> list[tuple[Labels, Labels]]:
    """Return the predicted and the true labels of every video as arrays."""
    if len(predicted) != len(true) or not len(true):
        raise HowstepsError(f"{len(predicted)} videos have predicted labels, {len(true)} true ones")
    videos = [
        (_as_labels(p, video), _as_labels(t, video))
        for video, (p, t) in enumerate(zip(predicted, true, strict=True))
    ]
    for video, (p, t) in enumerate(videos):
        if len(p) != len(t):
            raise HowstepsError(f"video {video} has {len(p)} predicted and {len(t)} true labels")
    return videos


def _as_labels(labels: ArrayLike, video: int) -> Labels:
    array = np.asarray(labels)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise HowstepsError(f"video {video}: labels are integers, one per frame")
    if (least := array.min(initial=0)) < BACKGROUND:
        known = "steps are the numbers from 0 on, −1 is background"
        raise HowstepsError(f"video {video} has the label {least}: {known}")
    return array.astype(np.int64)


def _end_to_end(videos: Sequence[tuple[Labels, Labels]]) -> tuple[Labels, Labels]:
    """Return the predicted and the true labels of all videos in one array each."""
    predicted, true = zip(*videos, strict=True)
    return np.concatenate(predicted), np.concatenate(true)


def _count(labels: Labels) -> int:
    """Return the largest label plus one."""
    return int(labels.max(initial=BACKGROUND)) + 1


def _overlaps(predicted: Labels, true: Labels) -> NDArray[np.int64]:
    """Return the number of frames of each pair of predicted and true step; K_pred×K."""
    both = (predicted != BACKGROUND) & (true != BACKGROUND)
    table = np.zeros((_count(predicted), _count(true)), dtype=np.int64)
    np.add.at(table, (predicted[both], true[both]), 1)
    return table


def _is_correct(predicted: Labels, true: Labels, matched: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which frames have the correct step."""
    mapped = np.append(matched, BACKGROUND)[predicted]  # index −1 is the last entry
    return np.asarray((mapped == true) & (mapped != BACKGROUND))


def _segments(values: NDArray[np.bool_], labels: Labels) -> list[NDArray[np.bool_]]:
    """Split ``values`` where the label changes."""
    return np.split(values, np.flatnonzero(np.diff(labels)) + 1)


def _halfway(localisations: Sequence[Localisation], end: float | None) -> list[Localisation]:
    """Return the localisations of one video in order of time, each with an extent."""
    timed = [(at.time, at) for at in localisations if at.time is not None]
    timed.sort(key=lambda pair: pair[0])
    borders = [0.0, *((a + b) / 2 for (a, _), (b, _) in pairwise(timed)), end or 0.0]
    return [
        at
        if at.start is not None and at.end is not None
        else replace(at, start=borders[n], end=borders[n + 1])
        for n, (_, at) in enumerate(timed)
    ]
