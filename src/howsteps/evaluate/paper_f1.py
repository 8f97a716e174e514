"""``paper-f1``: every step must be found, at a time when it is truly done.

One Hungarian matching, shared by all N videos, maximises the number of correct predictions. A
prediction is correct when its time lies in any true interval of the matched step::

    precision = correct / (N·K_pred)      recall = correct / #(video, step) pairs that exist

With one forced prediction of each step in each video, and a share M of the steps missing, nothing
can pass F1 = 2(1−M)/(2−M).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.evaluate.matching import Matching, as_columns, as_steps, match
from howsteps.evaluate.score import Score, counted
from howsteps.task import Localisation, Truth

Bits: TypeAlias = NDArray[np.bool_]


class Variant(StrEnum):
    """What precision and recall are shares of.

    ``paper``: all N·K_pred places, and the pairs that exist. ``authors``: recall counts only pairs
    that last longer than one interval, as the authors' program does. ``made``: precision counts
    only predictions that were made, for methods that may say "not in this video".
    """

    paper = "paper"
    authors = "authors"
    made = "made"


@dataclass(frozen=True, slots=True, eq=False)
class HitTable:
    """Predictions laid over the truth.

    ``hits`` (N×K_pred×K): the prediction lies in the true step. ``made`` (N×K_pred): there is one.
    ``present`` (N×K): the step is done in the video; ``long``: for more than one interval.
    """

    hits: Bits
    made: Bits
    present: Bits
    long: Bits

    def of(self, videos: NDArray[np.int64]) -> "HitTable":
        """The same for a choice of videos; one may be chosen several times."""
        return HitTable(
            self.hits[videos], self.made[videos], self.present[videos], self.long[videos]
        )


def hit_table(
    predictions: Sequence[Localisation], truth: Truth, steps: int, interval: float = 1 / 3
) -> HitTable:
    """Lay predictions in seconds over the truth.

    Parameters
    ----------
    predictions
        At most one for each video and step; one without a time says that the step is not there.
        Videos that nobody annotated are left out.
    steps
        K_pred, the number of discovered steps.
    interval
        Length of an interval in seconds (10 frames at 30 a second), for the variant ``authors``.
    """
    numbers = {video: n for n, video in enumerate(truth.durations)}
    hits = np.zeros((len(numbers), steps, len(truth.steps)), dtype=bool)
    made = np.zeros((len(numbers), steps), dtype=bool)
    times = np.full((len(numbers), steps), np.nan)
    for prediction in predictions:
        n = numbers.get(prediction.video)
        if n is None or prediction.time is None:
            continue
        if made[n, prediction.step]:
            raise ValueError(f"step {prediction.step} is predicted twice in {prediction.video}")
        made[n, prediction.step] = True
        times[n, prediction.step] = prediction.time
    lengths = np.zeros((len(numbers), len(truth.steps)))
    for a in truth.annotations:
        n = numbers[a.video]
        lengths[n, a.step] += a.end - a.start
        hits[n, :, a.step] |= (a.start <= times[n]) & (times[n] <= a.end)
    # Two intervals are longer than one and a half, whatever rounding did to them.
    return HitTable(hits, made, lengths > 0, lengths > 1.5 * interval)


def interval_hit_table(predicted: Sequence[ArrayLike], labels: Sequence[ArrayLike]) -> HitTable:
    """Lay predictions over the truth where both are marked on intervals.

    Parameters
    ----------
    predicted, labels
        For each video Z_n (T_n×K_pred) with at most one 1 a column, and the truth (T_n×K).
    """
    pairs = [
        (np.asarray(z, dtype=bool), np.asarray(y, dtype=bool))
        for z, y in zip(predicted, labels, strict=True)
    ]
    if any((z.sum(axis=0) > 1).any() for z, _ in pairs):
        raise ValueError("a step is predicted twice in a video")
    durations = np.array([y.sum(axis=0) for _, y in pairs])
    return HitTable(
        hits=np.array([z.T @ y for z, y in pairs]),
        made=np.array([z.any(axis=0) for z, _ in pairs]),
        present=durations > 0,
        long=durations > 1,
    )


def paper_f1(
    placement: HitTable, variant: Variant = Variant.paper, matching: Matching | None = None
) -> Score:
    """Precision, recall and F1 of one set of predictions, by the best matching or a given one."""
    matched = match(placement.hits.sum(axis=0)) if matching is None else as_columns(matching)
    rows = np.flatnonzero(matched >= 0)
    correct = placement.hits[:, rows, matched[rows]].sum()
    made, existing = placement.made, placement.present
    predicted = made.sum() if variant == Variant.made else made.size
    if variant == Variant.authors:
        existing = placement.long
    return Score(
        *counted(correct, predicted, existing.sum()), matching=as_steps(matched), note=variant
    )


def paper_f1_with_bar(
    chosen: HitTable, later: Sequence[HitTable], variant: Variant = Variant.paper
) -> Score:
    """The score of the chosen rounding, with the paper's error bar.

    The bar goes from the worst to the best F1 among the chosen rounding and those that the solver
    visited after it, so it need not be symmetric.
    """
    score = paper_f1(chosen, variant)
    scores = [score.f1, *(paper_f1(other, variant).f1 for other in later)]
    return replace(score, low=min(scores), high=max(scores))
