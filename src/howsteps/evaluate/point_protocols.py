"""Protocols for predictions that are points in time: ``paper-f1`` and ``crosstask-recall``.

``paper-f1`` asks for every step at a time when it is truly done. One Hungarian matching, shared by
all N videos, maximises the number of correct predictions. A prediction is correct when its time
lies in any true interval of the matched step::

    precision = correct / (N·K_pred)      recall = correct / #(video, step) pairs that exist

With one forced prediction of each step in each video, and a share M of the steps missing, no method
can pass F1 = 2(1−M)/(2−M).

``crosstask-recall`` is for a known list of steps (Zhukov et al., 2019). There is no matching: step
k of the prediction is step k of the list. A prediction is correct when its second is one of those
that the true intervals of the step touch: from ⌊start⌋ up to ⌈end⌉, as in their program.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, floor
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.errors import unknown_name
from howsteps.evaluate.inputs import (
    EvaluationError,
    Predictions,
    TruthLike,
    as_predictions,
    as_truth,
)
from howsteps.evaluate.score import Matching, Score, as_columns, as_steps, counted, match

Bits: TypeAlias = NDArray[np.bool_]


class Variant(StrEnum):
    """What precision and recall are shares of.

    ``paper``: all N·K_pred predictions, and the pairs that exist. ``authors``: recall counts only
    pairs that last longer than one interval, as the authors' program does. ``made``: precision
    counts only predictions that were made, for methods that may say "not in this video".
    """

    paper = "paper"
    authors = "authors"
    made = "made"


@dataclass(frozen=True, slots=True, eq=False)
class HitTable:
    """Predictions compared with the truth.

    ``hits`` (N×K_pred×K): the prediction lies in the true step. ``made`` (N×K_pred): there is one.
    ``present`` (N×K): the step is done in the video; ``long``: for more than one interval.
    """

    hits: Bits
    made: Bits
    present: Bits
    long: Bits

    def of(self, videos: NDArray[np.int64]) -> "HitTable":
        """The table of some videos; one may be chosen several times."""
        return HitTable(
            self.hits[videos], self.made[videos], self.present[videos], self.long[videos]
        )

    def score(
        self, variant: Variant | str = Variant.paper, matching: Matching | None = None
    ) -> Score:
        """Precision, recall and F1, by the best matching or a given one."""
        variant = _variant(variant)
        if matching is None:
            matched = match(self.hits.sum(axis=0))
        else:
            matched = as_columns(matching, *self.hits.shape[1:])[: self.hits.shape[1]]
        rows = np.flatnonzero(matched >= 0)
        correct = self.hits[:, rows, matched[rows]].sum()
        predicted = self.made.sum() if variant == Variant.made else self.made.size
        existing = self.long if variant == Variant.authors else self.present
        return Score(
            *counted(correct, predicted, existing.sum()), matching=as_steps(matched), note=variant
        )


def paper_f1(
    predictions: Predictions,
    truth: TruthLike,
    *,
    steps: int | None = None,
    variant: Variant | str = Variant.paper,
    matching: Matching | None = None,
    roundings: Iterable[Predictions] = (),
) -> Score:
    """Precision, recall and F1 of the paper.

    Parameters
    ----------
    predictions, truth
        As :mod:`howsteps.evaluate.inputs` lists. At most one prediction for each video and step;
        one without a time says that the step is absent.
    steps
        K_pred, the number of discovered steps. None: as many as the predictions count up to.
    variant
        What precision and recall are shares of.
    matching
        The true step of each discovered step; the best matching when None.
    roundings
        Other solutions of the solver. The error bar goes from the worst to the best F1 of the
        predictions and of these, so it need not be symmetric.

    Raises
    ------
    EvaluationError
        When a prediction has an unknown video or step or a time that is not finite, or comes twice.

    Examples
    --------
    >>> truth = {"u": [("boil", 10, 20), ("pour", 30, 40)], "v": [("boil", 5, 15)]}
    >>> score = paper_f1({"u": [35, 12], "v": [50, 15]}, truth)
    >>> score.precision, score.recall, score.matching
    (0.75, 1.0, (1, 0))
    """
    truth = as_truth(truth)
    table = hit_table(predictions, truth, steps)
    score = table.score(variant, matching)
    others = [
        hit_table(other, truth, table.made.shape[1]).score(variant, matching).f1
        for other in roundings
    ]
    if not others:
        return score
    return replace(score, low=min(score.f1, *others), high=max(score.f1, *others))


def hit_table(
    predictions: Predictions,
    truth: TruthLike,
    steps: int | None = None,
    *,
    interval: float = 1 / 3,
) -> HitTable:
    """Compare predictions in seconds with the truth.

    Parameters
    ----------
    predictions, truth, steps
        As for :func:`paper_f1`.
    interval
        Length of an interval in seconds (10 frames at 30 a second), for the variant ``authors``.
    """
    truth = as_truth(truth)
    found, steps = as_predictions(predictions, truth, steps)
    numbers = {video: n for n, video in enumerate(truth.durations)}
    hits = np.zeros((len(numbers), steps, len(truth.steps)), dtype=bool)
    times = np.full((len(numbers), steps), np.nan)
    for prediction in found:
        if prediction.time is not None:
            times[numbers[prediction.video], prediction.step] = prediction.time
    lengths = np.zeros((len(numbers), len(truth.steps)))
    for a in truth.annotations:
        n = numbers[a.video]
        lengths[n, a.step] += a.end - a.start
        hits[n, :, a.step] |= (a.start <= times[n]) & (times[n] <= a.end)
    # Two intervals are longer than one and a half, whatever rounding did to them.
    return HitTable(hits, ~np.isnan(times), lengths > 0, lengths > 1.5 * interval)


def interval_hit_table(predicted: Sequence[ArrayLike], truth: Sequence[ArrayLike]) -> HitTable:
    """Compare predictions with the truth where both are marked on intervals.

    Parameters
    ----------
    predicted, truth
        For each video Z_n (T_n×K_pred) with at most one 1 a column, and the truth (T_n×K).
    """
    if len(predicted) != len(truth):
        raise EvaluationError(f"{len(predicted)} videos are predicted, {len(truth)} are annotated")
    pairs = [
        (np.asarray(z, dtype=bool), np.asarray(y, dtype=bool))
        for z, y in zip(predicted, truth, strict=True)
    ]
    for n, (z, y) in enumerate(pairs):
        if z.ndim != 2 or y.ndim != 2 or len(z) != len(y):
            raise EvaluationError(f"video {n}: {z.shape} predicted and {y.shape} true intervals")
        if (z.sum(axis=0) > 1).any():
            step = int(np.flatnonzero(z.sum(axis=0) > 1)[0])
            raise EvaluationError(f"step {step} is predicted twice in video {n}")
    durations = np.array([y.sum(axis=0) for _, y in pairs])
    return HitTable(
        hits=np.array([z.T @ y for z, y in pairs]),
        made=np.array([z.any(axis=0) for z, _ in pairs]),
        present=durations > 0,
        long=durations > 1,
    )


def crosstask_recall(predictions: Predictions, truth: TruthLike) -> Score:
    """Recall of known steps, beside the precision and F1 of the same predictions.

    Parameters
    ----------
    predictions, truth
        As for :func:`paper_f1`; step k of a prediction is step k of the truth.
    """
    truth = as_truth(truth)
    found, _ = as_predictions(predictions, truth, len(truth.steps))
    seconds: dict[tuple[str, int], set[int]] = {}
    for a in truth.annotations:
        touched = range(floor(a.start), ceil(a.end))
        seconds.setdefault((a.video, a.step), set()).update(touched)
    made = {(p.video, p.step): p.time for p in found if p.time is not None}
    correct = sum(floor(time) in seconds.get(pair, ()) for pair, time in made.items())
    same = tuple(range(len(truth.steps)))
    return Score(*counted(correct, len(made), len(seconds)), matching=same, note="known steps")


def _variant(variant: Variant | str) -> Variant:
    try:
        return Variant(variant)
    except ValueError:
        raise EvaluationError(unknown_name("variant", variant, Variant)) from None
