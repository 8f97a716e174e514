"""The result of every protocol, and the one-to-one matching of discovered to true steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.evaluate.inputs import EvaluationError, is_integer

Matching: TypeAlias = Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1, where 0/0 is 0.

    Attributes
    ----------
    low, high
        Ends of the error bar of F1, in protocols that have one.
    frames
        Share of correct frames (mean over frames, MoF), in protocols that have it.
    matching
        True step of each discovered step, or None, if one matching holds for the task.
    note
        How the matching was found.
    """

    precision: float
    recall: float
    f1: float
    low: float | None = None
    high: float | None = None
    frames: float | None = None
    matching: tuple[int | None, ...] = ()
    note: str = ""


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

    Parameters
    ----------
    gain
        K_pred×K: gain of matching a row (discovered step) with a column (true step).

    Returns
    -------
    The column of each row, or −1 for an unmatched row.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - slow to import

    rows, columns = linear_sum_assignment(gain, maximize=True)
    matched = np.full(len(gain), -1, dtype=np.int64)
    matched[rows] = columns
    return matched


def as_columns(matching: Matching, steps: int, true_steps: int) -> NDArray[np.int64]:
    """Return a given matching as an array, with −1 in place of None.

    Raises
    ------
    EvaluationError
        If it has fewer than ``steps`` entries, or names a true step that does not exist.
    """
    if len(matching) < steps:
        raise EvaluationError(f"the matching has {len(matching)} steps, the prediction {steps}")
    for step in matching:
        if step is not None and not (is_integer(step) and 0 <= step < true_steps):
            raise EvaluationError(
                f"the matching names the true step {step!r}; there are {true_steps}, from 0 on"
            )
    return np.array([-1 if step is None else step for step in matching], dtype=np.int64)


def as_steps(matched: NDArray[np.int64]) -> tuple[int | None, ...]:
    """Return a matching as a tuple, with None in place of −1."""
    return tuple(None if step < 0 else int(step) for step in matched)
