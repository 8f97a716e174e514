"""Which mentions of a step describe doing it, and which are a preview, a recap or an error.

In every video, the mentions that follow the order of the script best are kept: a heaviest chain, by
dynamic programming, in which the step index never decreases. The weight of a mention is how well
its position in the video fits the step, times how likely it is work; further mentions of a step
right after one another count less.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled

MIN_SPREAD = 0.1  # of positions, relative to the duration of the video
MIN_FIT = 0.05  # of a mention far from the usual position
TALK_WEIGHT = 0.3  # of a mention that is certainly talk; of certain work it is 1.3
REPEAT_WEIGHT = 0.3  # of a further mention of the same step

Indices = NDArray[np.int64]


def keep_in_order(
    steps: Sequence[Indices],
    videos: Indices,
    positions: NDArray[np.float64],
    free: Sequence[Sequence[int]] = (),
    work: NDArray[np.float64] | None = None,
) -> list[Indices]:
    """The mentions of each step that follow the order of the script in their video, ascending.

    Parameters
    ----------
    steps
        The mentions of each step as indices, in the order of the script.
    videos, positions
        The video of every mention, and its relative position in it, in [0, 1].
    free
        Groups of steps that may come in any order.
    work
        The probability that each mention is work, not talk; None: not taken into account.
    """
    if not steps:
        return []
    may_follow = np.triu(np.ones((len(steps), len(steps)), dtype=np.bool_))
    for group in free:
        may_follow[np.ix_(group, group)] = True
    mentions = np.concatenate(list(steps))
    step = np.repeat(np.arange(len(steps)), [len(members) for members in steps])
    weights = np.concatenate([_fit(positions[members]) for members in steps])
    if work is not None:
        weights = weights * (TALK_WEIGHT + work[mentions])
    order = np.lexsort((step, positions[mentions], videos[mentions]))
    mentions, step, weights = mentions[order], step[order], weights[order]
    bounds = np.flatnonzero(np.diff(videos[mentions], prepend=-1, append=-1)).astype(np.int64)
    kept = np.zeros(len(mentions), dtype=np.bool_)
    _mark_chains(bounds, step, weights, may_follow, kept)
    return [np.sort(mentions[kept & (step == k)]) for k in range(len(steps))]


def _fit(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """How well each position fits the step, by a Gaussian around their mean."""
    spread = max(MIN_SPREAD, float(positions.std()))
    z = (positions - positions.mean()) / spread
    return np.asarray(np.exp(-0.25 * z**2) + MIN_FIT)


@compiled
def _mark_chains(bounds: Any, step: Any, weights: Any, may_follow: Any, kept: Any) -> None:
    """Set ``kept`` for the heaviest chain of every video, bounds[n] … bounds[n + 1] − 1."""
    for n in range(len(bounds) - 1):
        begin, end = bounds[n], bounds[n + 1]
        size = end - begin
        best = np.zeros(size)
        previous = np.full(size, -1)
        for a in range(size):
            best[a] = weights[begin + a]
            for b in range(a):
                if may_follow[step[begin + b], step[begin + a]]:
                    factor = REPEAT_WEIGHT if step[begin + b] == step[begin + a] else 1.0
                    total = best[b] + factor * weights[begin + a]
                    if total > best[a]:
                        best[a], previous[a] = total, b
        last = best.argmax()
        while last >= 0:
            kept[begin + last] = True
            last = previous[last]
