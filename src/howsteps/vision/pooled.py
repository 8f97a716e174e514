"""Pooled vectors of some intervals → features of all intervals of a video.

A network's channels, averaged over a frame, are counts of what is in it, more or less: the square
root of their shares keeps the few that are strong from drowning the others (Hellinger, as for
histograms). Channels of other networks may be negative, and keep their sign.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def pooled_features(
    rows: Iterable[tuple[NDArray[np.int32], NDArray[np.float16]]], intervals: int
) -> NDArray[np.float32]:
    """Features of every interval, T×d.

    Parameters
    ----------
    rows
        Parts of the video: the intervals that were looked at, and what was seen in each.
    intervals
        T. An interval that was not looked at has what was seen in the nearest one that was.
    """
    parts = list(rows)
    if not parts:
        return np.zeros((intervals, 0), np.float32)
    seen = np.concatenate([at for at, _ in parts])
    values = np.concatenate([part for _, part in parts]).astype(np.float32)
    order = np.argsort(seen, kind="stable")
    seen, values = seen[order], values[order]
    at = np.arange(intervals)
    after = np.minimum(np.searchsorted(seen, at), len(seen) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(seen[after] - at) <= np.abs(seen[before] - at), after, before)
    return signed_roots(values)[nearest]


def signed_roots(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """±√(|v| / Σ|v|) in each row; a row of zeros stays one."""
    size = np.abs(values)
    total = size.sum(axis=1, keepdims=True)
    roots: NDArray[np.float32] = np.sign(values) * np.sqrt(size / np.maximum(total, 1e-12))
    return roots
