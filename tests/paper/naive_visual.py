"""Slow reference implementations of compiled or blocked code."""

import math

import numpy as np
from numpy.typing import NDArray


def hof_frame(
    flow: NDArray[np.float32], x: float, y: float, patch: float, still: float
) -> NDArray[np.float64]:
    """Square root of the L1-normalised histogram of flow in 2×2 cells of 9 bins around a point."""
    counts = np.zeros((2, 2, 9))
    height, width, _ = flow.shape
    half = patch / 2
    for i in range(2):
        for j in range(2):
            top, bottom = int(y - half + i * half), int(y - half + (i + 1) * half)
            left, right = int(x - half + j * half), int(x - half + (j + 1) * half)
            for row in range(max(0, top), min(bottom, height)):
                for column in range(max(0, left), min(right, width)):
                    u, v = map(float, flow[row, column])
                    length = math.hypot(u, v)
                    if length <= still:
                        counts[i, j, 8] += 1
                        continue
                    place = (math.degrees(math.atan2(v, u)) % 360) / 45
                    low = int(place) % 8
                    counts[i, j, low] += length * (1 - place % 1)
                    counts[i, j, (low + 1) % 8] += length * (place % 1)
    return np.sqrt(counts.ravel() / counts.sum())


def nearest(descriptors: NDArray[np.float32], centres: NDArray[np.float32]) -> list[float]:
    """Squared distance of each descriptor to the nearest centre."""
    return [min(float(((x - c) ** 2).sum()) for c in centres) for x in descriptors]


def block_counts(
    places: NDArray[np.int32], words: NDArray[np.int32], intervals: int, size: int
) -> NDArray[np.float64]:
    """Count of each codeword in each interval and its neighbours."""
    counts = np.zeros((intervals, size))
    for place, word in zip(places, words, strict=True):
        for t in range(max(0, place - 1), min(intervals, place + 2)):
            counts[t, word] += 1
    return counts
