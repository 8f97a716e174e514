"""Protocols for predictions that are points in time: ``paper-f1`` and ``crosstask-recall``.

``paper-f1`` has one prediction for every step in every video. One Hungarian matching, shared by all
N videos, maximises the number of correct predictions. A prediction is correct if its time lies in
any true interval of the matched step::

    precision = correct / (N·K_pred)      recall = correct / #true (video, step) pairs

If every step is predicted in every video, and a share M of the steps is missing, no method can
exceed F1 = 2(1−M)/(2−M).

``crosstask-recall`` is for a known list of steps (Zhukov et al., 2019). There is no matching: step
k of the prediction is step k of the list. A prediction is correct if its second is one of those
that a true interval of the step overlaps, ⌊start⌋ to ⌈end⌉, as in their program.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import ceil, floor
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.evaluate.inputs import (
    Predictions,
    Score,
    as_predictions,
    as_steps,
    check_truth,
    match,
    precision_recall_f1,
)
from howsteps.task import Truth

Mask: TypeAlias = NDArray[np.bool_]


class Variant(StrEnum):
    """The denominators of precision and recall.

    ``paper``: all N·K_pred predictions, and the true pairs of video and step. ``authors``: recall
    counts only pairs that last longer than one interval, as the authors' program does. ``made``:
    precision counts only predictions that were made, for methods that can predict absence.
    """

    paper = "paper"
    authors = "authors"
    made = "made"


@dataclass(frozen=True, slots=True, eq=False)
class HitTable:
    """Predictions compared with the truth.

    ``hits`` (N×K_pred×K): the prediction lies in the true step. ``made`` (N×K_pred): there is one.
    ``present`` and ``long`` (N×K): the true step is in the video; and lasts for more than one
    interval.
    """

    hits: Mask
    made: Mask
    present: Mask
    long: Mask

    def score(self, variant: Variant | str = Variant.paper, *, known_steps: bool = False) -> Score:
        """Return precision, recall and F1, by the best matching, or of ``known_steps``, by none."""
        variant = Variant(variant)
        columns = np.arange(self.hits.shape[2])
        matched = columns if known_steps else match(self.hits.sum(axis=0))
        rows = np.flatnonzero(matched >= 0)
        correct = self.hits[:, rows, matched[rows]].sum()
        predicted = self.made.sum() if variant == Variant.made else self.made.size
        true = self.long if variant == Variant.authors else self.present
        found = precision_recall_f1(correct, predicted, true.sum())
        return Score(*found, matching=as_steps(matched))


def paper_f1(
    predictions: Predictions,
    truth: Truth,
    *,
    steps: int | None = None,
    variant: Variant | str = Variant.paper,
) -> Score:
    """Return precision, recall and F1 of the paper.

    Parameters
    ----------
    predictions
        In a form of :mod:`howsteps.evaluate.inputs`. At most one prediction for each video and
        step; one without a time means that the step is absent.
    steps
        K_pred, the number of discovered steps. None: the largest predicted step plus one.
    variant
        The denominators of precision and recall.

    Examples
    --------
    >>> from howsteps.task import Annotation
    >>> done = Annotation("u", 0, 10, 20), Annotation("u", 1, 30, 40), Annotation("v", 0, 5, 15)
    >>> truth = Truth("tea", ("boil", "pour"), done, {"u": None, "v": None})
    >>> score = paper_f1({"u": [35, 12], "v": [50, 15]}, truth)
    >>> score.precision, score.recall, score.matching
    (0.75, 1.0, (1, 0))
    """
    return hit_table(predictions, truth, steps).score(variant)


def hit_table(
    predictions: Predictions,
    truth: Truth,
    steps: int | None = None,
    *,
    whole_seconds: bool = False,
) -> HitTable:
    """Compare predictions in seconds with the truth, both as for :func:`paper_f1`.

    ``whole_seconds`` extends true intervals to whole seconds.
    """
    check_truth(truth)
    localisations, steps = as_predictions(predictions, truth, steps)
    index = {video: n for n, video in enumerate(truth.durations)}
    hits = np.zeros((len(index), steps, len(truth.steps)), dtype=bool)
    times = np.full((len(index), steps), np.nan)
    for at in localisations:
        if at.time is not None:
            times[index[at.video], at.step] = at.time
    lengths = np.zeros((len(index), len(truth.steps)))
    present = np.zeros_like(lengths, dtype=bool)
    for a in truth.annotations:
        n = index[a.video]
        lengths[n, a.step] += a.end - a.start
        present[n, a.step] |= whole_seconds or a.end > a.start
        if whole_seconds:
            inside = (floor(a.start) <= times[n]) & (times[n] < ceil(a.end))
        else:
            inside = (a.start <= times[n]) & (times[n] <= a.end)
        hits[n, :, a.step] |= inside
    # More than one interval of 10 frames at 30 a second; 1.5 allows for rounding.
    return HitTable(hits, ~np.isnan(times), present, lengths > 1.5 / 3)


def crosstask_recall(predictions: Predictions, truth: Truth) -> Score:
    """Return recall of known steps, with precision and F1 of the same predictions.

    Step k of a prediction is step k of the truth; the rest is as for :func:`paper_f1`.
    """
    table = hit_table(predictions, truth, len(truth.steps), whole_seconds=True)
    return table.score(Variant.made, known_steps=True)
