"""Rank aggregation: one order of the steps from the orders in which the videos name them.

A video that names the steps a and b votes "a before b" with the share of pairs of its mentions in
which a comes first, so that neither a preview nor a recap decides by itself. With P[a, b] the sum
of the votes, the Kemeny order maximises

    Σ over a placed before b of  (P[a, b] − P[b, a]) + prior[a, b],

where the prior is a small preference for the step that comes earlier in the videos on average, for
pairs that no video names together. The optimum is exact up to 15 steps (dynamic programming over
subsets); above, it is a local optimum under moves of single steps.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled

MAX_EXACT_STEPS = 15  # 2^15 subsets
PRIOR_WEIGHT = 1.0  # votes
PRIOR_SCALE = 0.1  # gap between positions at which the prior saturates

Matrix = NDArray[np.float64]


def precedence(
    steps: Sequence[NDArray[np.int64]], videos: NDArray[np.int64], times: NDArray[np.float64]
) -> Matrix:
    """P[a, b]: the votes for step a before step b; each video has one vote per pair.

    Parameters
    ----------
    steps
        The mentions of each step, as indices.
    videos, times
        The video of every mention, and its time.
    """
    times_by_video = [_times_by_video(members, videos, times) for members in steps]
    before = np.zeros((len(steps), len(steps)))
    for a, times_a in enumerate(times_by_video):
        for b, times_b in enumerate(times_by_video[:a]):
            for video in times_a.keys() & times_b.keys():
                difference = times_a[video][:, None] - times_b[video][None, :]
                share = float(((difference < 0) + 0.5 * (difference == 0)).mean())
                before[a, b] += share
                before[b, a] += 1.0 - share
    return before


def aggregate(before: Matrix, positions: NDArray[np.float64]) -> list[int]:
    """The Kemeny order of the steps.

    Parameters
    ----------
    before
        P of :func:`precedence`.
    positions
        The mean relative position of each step in the videos, in [0, 1]: the prior.
    """
    prior = PRIOR_WEIGHT * np.tanh((positions[None, :] - positions[:, None]) / PRIOR_SCALE)
    gain = before - before.T + prior
    if len(gain) <= MAX_EXACT_STEPS:
        return [int(step) for step in _exact_order(gain)]
    starts = (np.argsort(positions, kind="stable"), np.argsort(-gain.sum(axis=1), kind="stable"))
    orders = [_improved_by_moves([int(step) for step in start], gain) for start in starts]
    return max(orders, key=lambda order: kemeny_score(order, gain))


def kemeny_score(order: Sequence[int], gain: Matrix) -> float:
    """Σ gain[a, b] over all a placed before b."""
    return float(np.triu(gain[np.ix_(order, order)], 1).sum())


def _times_by_video(
    members: NDArray[np.int64], videos: NDArray[np.int64], times: NDArray[np.float64]
) -> dict[int, NDArray[np.float64]]:
    found: dict[int, list[float]] = {}
    for mention in members:
        found.setdefault(int(videos[mention]), []).append(float(times[mention]))
    return {video: np.array(values) for video, values in found.items()}


@compiled
def _exact_order(gain: Any) -> Any:
    """Maximise the Kemeny score; best[S] is the score of the best order of the subset S."""
    n_steps = len(gain)
    best = np.full(1 << n_steps, -np.inf)
    last = np.zeros(1 << n_steps, dtype=np.int64)
    best[0] = 0.0
    for subset in range(1 << n_steps):
        for step in range(n_steps):
            if not (subset >> step) & 1:
                score = best[subset]
                for other in range(n_steps):
                    if (subset >> other) & 1:
                        score += gain[other, step]
                extended = subset | (1 << step)
                if score > best[extended]:
                    best[extended], last[extended] = score, step
    order = np.zeros(n_steps, dtype=np.int64)
    subset = (1 << n_steps) - 1
    for index in range(n_steps - 1, -1, -1):
        order[index] = last[subset]
        subset ^= 1 << last[subset]
    return order


def _improved_by_moves(order: list[int], gain: Matrix) -> list[int]:
    """Move single steps to their best index until no move improves the score."""
    improved = True
    while improved:
        improved = False
        for step in tuple(order):
            here = order.index(step)
            rest = order[:here] + order[here + 1 :]
            before = np.concatenate([[0.0], np.cumsum(gain[rest, step])])
            after = gain[step, rest].sum() - np.concatenate([[0.0], np.cumsum(gain[step, rest])])
            scores = before + after
            best = int(scores.argmax())
            if scores[best] > scores[here] + 1e-9:
                order, improved = [*rest[:best], step, *rest[best:]], True
    return order
