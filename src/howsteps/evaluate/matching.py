"""One-to-one matching of discovered to true steps (the Hungarian method)."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Gain: TypeAlias = NDArray[Any]
Matching: TypeAlias = Sequence[int | None]


def match(gain: Gain) -> NDArray[np.int64]:
    """The one-to-one matching of rows to columns with the largest sum of gains.

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


def as_columns(matching: Matching) -> NDArray[np.int64]:
    """A matching for arrays: −1 in place of None."""
    return np.array([-1 if step is None else step for step in matching], dtype=np.int64)


def as_steps(matched: NDArray[np.int64]) -> tuple[int | None, ...]:
    """A matching for people: None in place of −1."""
    return tuple(None if step < 0 else int(step) for step in matched)
