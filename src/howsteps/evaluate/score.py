"""What every protocol returns, and the one-to-one matching of discovered to true steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.evaluate.inputs import EvaluationError

Matching: TypeAlias = Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1; 0 of 0 is 0.

    ``low`` and ``high`` are the ends of the error bar of F1, and ``frames`` is the share of right
    frames (MoF), in protocols that have them. ``matching`` gives the true step of each discovered
    step where one matching holds for the task. ``note`` says how the matching was found.
    """

    precision: float
    recall: float
    f1: float
    low: float | None = None
    high: float | None = None
    frames: float | None = None
    matching: tuple[int | None, ...] = ()
    note: str = ""


def ratio(part: float, whole: float) -> float:
    """Part of a whole; 0 of 0 is 0."""
    return float(part / whole) if whole else 0.0


def harmonic(precision: float, recall: float) -> float:
    """F1 = 2PR/(P+R)."""
    return ratio(2 * precision * recall, precision + recall)


def counted(correct: float, predicted: float, existing: float) -> tuple[float, float, float]:
    """Precision, recall and F1 from counts."""
    precision, recall = ratio(correct, predicted), ratio(correct, existing)
    return precision, recall, harmonic(precision, recall)


def match(gain: NDArray[Any]) -> NDArray[np.int64]:
    """The one-to-one matching of rows to columns with the largest sum of gains (Hungarian method).

    Parameters
    ----------
    gain
        What it is worth to match a row (discovered step) with a column (true step).

    Returns
    -------
    For each row its column, or −1 for a row that is left over.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - slow to import

    rows, columns = linear_sum_assignment(gain, maximize=True)
    matched = np.full(len(gain), -1, dtype=np.int64)
    matched[rows] = columns
    return matched


def as_columns(matching: Matching, steps: int, true_steps: int) -> NDArray[np.int64]:
    """A given matching as an array of at least ``steps`` entries: −1 in place of None.

    Raises
    ------
    EvaluationError
        When it is too short, or names a true step that does not exist.
    """
    if len(matching) < steps:
        raise EvaluationError(f"the matching has {len(matching)} steps, the prediction {steps}")
    for step in matching:
        if step is not None and not 0 <= step < true_steps:
            raise EvaluationError(
                f"the matching names the true step {step}; there are {true_steps}, from 0 on"
            )
    return np.array([-1 if step is None else step for step in matching], dtype=np.int64)


def as_steps(matched: NDArray[np.int64]) -> tuple[int | None, ...]:
    """A matching to read: None in place of −1."""
    return tuple(None if step < 0 else int(step) for step in matched)
