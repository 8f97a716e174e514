"""Words in intervals → one vector for each interval.

An interval t is described over the block of 30 frames around it, that is with its neighbours:

    h_t[w] = number of descriptors of word w in the intervals t−r … t+r,   r = 1
    x_t    = √(h_t / Σ_w h_t[w])                                         (Hellinger)

and the x of motion and of appearance stand side by side: d = 2,000 + 1,000.
"""

from math import ceil

import numpy as np
from numpy.typing import NDArray

AROUND = 1  # intervals on either side: 30 frames are three intervals of 10


def interval_count(length: float, seconds: float) -> int:
    """How many intervals a video of some length has: T, the last one may be cut off."""
    return max(1, ceil(length / seconds - 1e-9))


def count_words(
    places: NDArray[np.int32], words: NDArray[np.int32], intervals: int, size: int
) -> NDArray[np.float32]:
    """How often each of ``size`` words is in each interval, T×k, from the place of each word."""
    counts = np.zeros((intervals, size), np.float32)
    # The middle of a video's last track may lie a moment after its last interval.
    np.add.at(counts, (np.minimum(places, intervals - 1), words), 1)
    return counts


def blocks(counts: NDArray[np.float32], around: int = AROUND) -> NDArray[np.float32]:
    """Sums over the intervals t−around … t+around; the video's ends have fewer."""
    total = np.zeros_like(counts)
    for shift in range(-around, around + 1):
        source = counts[max(0, shift) : len(counts) + min(0, shift)]
        total[max(0, -shift) : len(counts) + min(0, -shift)] += source
    return total


def hellinger(counts: NDArray[np.float32]) -> NDArray[np.float32]:
    """√(h / Σh) in each row; a row without any word stays zero."""
    totals = counts.sum(axis=1, keepdims=True)
    roots: NDArray[np.float32] = np.sqrt(counts / np.maximum(totals, 1.0))
    return roots
