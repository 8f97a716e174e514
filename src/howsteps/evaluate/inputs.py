"""Predictions in every form, the truth they are compared with, and scores.

Predictions are a ``Result``, ``Localisation``s, or the times of all steps by video, None where one
is absent. What cannot be compared raises a :class:`HowstepsError` that names the video and the
step.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError
from howsteps.task import Localisation, Result, Truth

Predictions: TypeAlias = Result | Iterable[Localisation] | Mapping[str, Iterable[float | None]]


def check_truth(truth: Truth) -> None:
    """Raise an error if an annotation has no such step or video, or is no interval of time."""
    for a in truth.annotations:
        if a.video not in truth.durations:
            raise HowstepsError(f"video {a.video!r} is annotated but not among the videos")
        check_step(a.step, len(truth.steps), a.video)
        if not -math.inf < a.start <= a.end < math.inf:
            interval = f"{a.start} to {a.end} is not an interval of time"
            raise HowstepsError(f"step {a.step} in video {a.video!r}: {interval}")


def as_predictions(
    predictions: Predictions, truth: Truth, steps: int | None = None
) -> tuple[tuple[Localisation, ...], int]:
    """Check predictions against a truth, and return them as localisations, with K_pred.

    Parameters
    ----------
    predictions
        In a form of this module. Of a ``Result``, the videos that are in the truth count; others
        can be removed by :func:`in_truth`.
    steps
        K_pred, the number of discovered steps. None: those of the result, or the largest predicted
        step plus one.
    """
    if isinstance(predictions, Result):
        steps = len(predictions.script.steps) if steps is None else steps
        localisations = in_truth(predictions.localisations, truth)
        if predictions.localisations and not localisations:
            raise HowstepsError("no video of the result is in the truth")
    elif isinstance(predictions, Mapping):
        localisations = tuple(
            Localisation(video, step, time)
            for video, times in predictions.items()
            for step, time in enumerate(_times(video, times))
        )
    else:
        found: Any = predictions
        localisations = tuple(found) if isinstance(found, Iterable) else (found,)
        if others := [one for one in localisations if not isinstance(one, Localisation)]:
            known = "a result, a script, localisations, or the times of all steps by video"
            raise HowstepsError(f"{known} can be scored, not {others[0]!r:.60}")
    steps = max((p.step + 1 for p in localisations), default=0) if steps is None else steps
    seen: set[tuple[str, int]] = set()
    for p in localisations:
        if p.video not in truth.durations:
            raise HowstepsError(f"video {p.video!r} is predicted but not in the truth")
        check_step(p.step, steps, p.video)
        if p.time is None:
            continue
        if not math.isfinite(p.time):
            what = f"has the time {p.time}, not a finite number"
            raise HowstepsError(f"step {p.step} in video {p.video!r} {what}")
        if (p.video, p.step) in seen:
            raise HowstepsError(f"step {p.step} is predicted twice in video {p.video!r}")
        seen.add((p.video, p.step))
    return localisations, steps


def _times(video: str, times: Any) -> list[float | None]:
    try:
        return [None if time is None else float(time) for time in times]
    except (TypeError, ValueError):
        needed = "one time in seconds for each step, None where it is absent"
        raise HowstepsError(f"video {video!r} needs {needed}, not {times!r:.60}") from None


def in_truth(predictions: Iterable[Localisation], truth: Truth) -> tuple[Localisation, ...]:
    """Return the predictions for videos that are in the truth; the others cannot be scored."""
    return tuple(p for p in predictions if p.video in truth.durations)


def check_step(step: int, steps: int, video: str) -> None:
    """Refuse a step that is not one of 0 … ``steps`` − 1."""
    if not 0 <= step < steps:
        known = f": steps are the numbers 0 … {steps - 1}" if steps else ", but there are no steps"
        raise HowstepsError(f"step {step!r} in video {video!r}{known}")


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1, where 0/0 is 0.

    ``low`` and ``high`` are the ends of the error bar of F1, and ``frames`` the share of correct
    frames (mean over frames, MoF), in protocols that have them. ``matching`` is the true step of
    each discovered step, or None, if one matching holds for the task.
    """

    precision: float
    recall: float
    f1: float
    low: float | None = None
    high: float | None = None
    frames: float | None = None
    matching: tuple[int | None, ...] = ()


def ratio(part: float, total: float) -> float:
    """Return part/total, where 0/0 is 0."""
    return float(part / total) if total else 0.0


def f1_of(precision: float, recall: float) -> float:
    """Return F1 = 2PR/(P+R)."""
    return ratio(2 * precision * recall, precision + recall)


def precision_recall_f1(
    correct: float, predicted: float, true: float
) -> tuple[float, float, float]:
    """Return precision, recall and F1 from the numbers of correct, predicted and true items."""
    precision, recall = ratio(correct, predicted), ratio(correct, true)
    return precision, recall, f1_of(precision, recall)


def match(gain: NDArray[Any]) -> NDArray[np.int64]:
    """Return the one-to-one matching with the largest sum of gains (Hungarian method).

    ``gain`` is K_pred×K, discovered by true steps. Returns the column of each row, −1 for none.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - slow to import

    rows, columns = linear_sum_assignment(gain, maximize=True)
    matched = np.full(len(gain), -1, dtype=np.int64)
    matched[rows] = columns
    return matched


def as_steps(matched: NDArray[np.int64]) -> tuple[int | None, ...]:
    """Return a matching as a tuple, with None in place of −1."""
    return tuple(None if step < 0 else int(step) for step in matched)
