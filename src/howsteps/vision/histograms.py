"""Histograms of codewords: one vector for each interval.

Interval t is described by the block of 30 frames around it, that is with its neighbours:

    h_t[w] = number of descriptors with codeword w in the intervals t−r … t+r,   r = 1
    x_t    = √(h_t / Σ_w h_t[w])                                         (Hellinger)

and the x of motion and of appearance are concatenated: d = 2,000 + 1,000.
"""

from math import ceil

import numpy as np
from numpy.typing import NDArray

AROUND = 1  # intervals on either side: 30 frames are three intervals of 10


def interval_count(length: float, seconds: float) -> int:
    """Return T, the number of intervals in ``length`` seconds; the last may be partial."""
    return max(1, ceil(length / seconds - 1e-9))


def count_codewords(
    interval_of: NDArray[np.int32], codewords: NDArray[np.int32], intervals: int, size: int
) -> NDArray[np.float32]:
    """Return the count of each codeword in each interval, T×k.

    Parameters
    ----------
    interval_of, codewords
        n: the interval and the codeword of every descriptor.
    intervals, size
        T and k.
    """
    counts = np.zeros((intervals, size), np.float32)
    # The middle of the last track may lie just after the last interval.
    np.add.at(counts, (np.minimum(interval_of, intervals - 1), codewords), 1)
    return counts


def blocks(counts: NDArray[np.float32], around: int = AROUND) -> NDArray[np.float32]:
    """Return sums over the intervals t−around … t+around; fewer at the ends of the video."""
    total = np.zeros_like(counts)
    for shift in range(-around, around + 1):
        source = counts[max(0, shift) : len(counts) + min(0, shift)]
        total[max(0, -shift) : len(counts) + min(0, -shift)] += source
    return total


def hellinger(counts: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return √(h / Σh) of each row; a row of zeros stays zero."""
    totals = counts.sum(axis=1, keepdims=True)
    shares: NDArray[np.float32] = counts / np.maximum(totals, 1.0)
    return np.sqrt(shares, out=shares)
