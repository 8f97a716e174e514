"""Features of all intervals of a video from pooled vectors of some of them.

The channels of a network, averaged over a frame, resemble counts of visual content. The square
roots of their shares keep a few strong channels from dominating (Hellinger, as for histograms).
Channels of some networks may be negative, and keep their sign.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def pooled_features(
    rows: Iterable[tuple[NDArray[np.int32], NDArray[np.float16]]], intervals: int
) -> NDArray[np.float32]:
    """Return features of every interval, T×d.

    Parameters
    ----------
    rows
        Parts of the video: intervals (n), and the pooled vector of each (n×d).
    intervals
        T. An interval without a vector has that of the nearest one.
    """
    parts = list(rows)
    if not parts:
        return np.zeros((intervals, 0), np.float32)
    known = np.concatenate([part for part, _ in parts])
    order = np.argsort(known, kind="stable")
    known = known[order]
    t = np.arange(intervals)
    after = np.minimum(np.searchsorted(known, t), len(known) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(known[after] - t) <= np.abs(known[before] - t), after, before)
    row_of = order[nearest]
    features = np.empty((intervals, parts[0][1].shape[1]), np.float32)
    first = 0
    for _, vectors in parts:  # one by one, as copies of all would take many times the memory
        here = np.flatnonzero((row_of >= first) & (row_of < first + len(vectors)))
        features[here] = signed_roots(vectors.astype(np.float32))[row_of[here] - first]
        first += len(vectors)
    return features


def signed_roots(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ±√(|v| / Σ|v|) of each row; a row of zeros stays zero."""
    magnitude = np.abs(values)
    total = magnitude.sum(axis=1, keepdims=True)
    roots: NDArray[np.float32] = np.sign(values) * np.sqrt(magnitude / np.maximum(total, 1e-12))
    return roots
