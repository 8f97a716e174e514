"""Reference implementation of the authors' stage 1 in plain NumPy, for timing the solvers.

B (S×S) is dense and multiplied out in every iteration; the oracle is one dynamic programme per
sequence over rows of the template. Nothing is reused between iterations.
"""

from itertools import pairwise

import numpy as np

ITERATIONS = 200


def oracle(cost: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return the cheapest increasing placement of every sequence (L×S); ties: latest slot."""
    corner = np.zeros_like(cost)
    slots = len(cost)
    for begin, end in pairwise(first):
        best, tables = np.zeros(slots + 1), []
        for s in range(begin, end):
            placed = np.concatenate([[np.inf], best[:-1] + cost[:, s]])
            best = np.minimum.accumulate(placed)
            tables.append((placed, best))
        slot = slots
        for s in range(end - 1, begin - 1, -1):
            placed, best = tables[s - begin]
            while placed[slot] > best[slot]:
                slot -= 1
            slot -= 1
            corner[slot, s] = 1
    return corner


def run(b: np.ndarray, first: np.ndarray, slots: int, seed: int) -> float:
    """Run 200 iterations from one random start; return the best Tr(UᵀBU) over both roundings."""
    tokens = len(b)
    u = oracle(np.random.default_rng(seed).random((slots, tokens)), first)
    lowest = np.inf
    for _ in range(ITERATIONS):
        gradient = 2 * u @ b / tokens
        corner = oracle(gradient, first)
        direction = corner - u
        along = direction @ b
        curvature, slope = (along * direction).sum(), (along * u).sum()
        step = 1.0 if curvature <= 0 else min(1.0, max(0.0, -slope / curvature))
        u = u + step * direction
        projection = oracle(-u, first)
        for rounded in (corner, projection):
            lowest = min(lowest, ((rounded @ b) * rounded).sum())
    return float(lowest)
