"""Rank aggregation: one order of the steps from the orders in which narrators name them.

Every video that names steps a and b is a witness. It says "a before b" with the share of pairs of
its mentions in which a comes first, so that neither a preview nor a recap decides by itself. With
P[a, b] the sum over the videos, the Kemeny order maximises

    Σ over a placed before b of  (P[a, b] − P[b, a]) + prior[a, b],

where the prior is a small preference for the step that is named earlier in the videos as a whole,
for pairs that nobody names together. Up to 15 steps the optimum is found by a dynamic programme
over subsets; above, steps are moved one by one as long as that helps.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled

EXACT = 15  # steps: 2^15 subsets
PRIOR = 1.0  # video
SCALE = 0.1  # of a video's length: what lies further apart is as good as sure

Matrix = NDArray[np.float64]


def precedence(
    steps: Sequence[NDArray[np.int64]], videos: NDArray[np.int64], times: NDArray[np.float64]
) -> Matrix:
    """P[a, b]: how many videos name step a before step b; a video may say so in part.

    Parameters
    ----------
    steps
        The mentions of each step, as indices.
    videos, times
        The video of every mention, and when in it.
    """
    spoken = [_by_video(own, videos, times) for own in steps]
    before = np.zeros((len(steps), len(steps)))
    for a, one in enumerate(spoken):
        for b, two in enumerate(spoken[:a]):
            for video in one.keys() & two.keys():
                difference = one[video][:, None] - two[video][None, :]
                share = float(((difference < 0) + 0.5 * (difference == 0)).mean())
                before[a, b] += share
                before[b, a] += 1.0 - share
    return before


def aggregate(before: Matrix, places: NDArray[np.float64]) -> list[int]:
    """The Kemeny order of the steps.

    Parameters
    ----------
    before
        P of :func:`precedence`.
    places
        The mean place of each step in the videos, from 0 to 1: the prior.
    """
    gain = before - before.T + PRIOR * np.tanh((places[None, :] - places[:, None]) / SCALE)
    if len(gain) <= EXACT:
        return [int(step) for step in _exact(gain)]
    starts = (np.argsort(places, kind="stable"), np.argsort(-gain.sum(axis=1), kind="stable"))
    found = [_moved([int(step) for step in start], gain) for start in starts]
    return max(found, key=lambda order: agreement(order, gain))


def agreement(order: Sequence[int], gain: Matrix) -> float:
    """What an order is worth: Σ gain[a, b] over a placed before b."""
    placed = gain[np.ix_(order, order)]
    return float(np.triu(placed, 1).sum())


def _by_video(
    own: NDArray[np.int64], videos: NDArray[np.int64], times: NDArray[np.float64]
) -> dict[int, NDArray[np.float64]]:
    found: dict[int, list[float]] = {}
    for mention in own:
        found.setdefault(int(videos[mention]), []).append(float(times[mention]))
    return {video: np.array(spoken) for video, spoken in found.items()}


@compiled
def _exact(gain: Any) -> Any:
    """best[S]: the most that the steps of S, placed first, can be worth among themselves."""
    many = len(gain)
    best = np.full(1 << many, -np.inf)
    last = np.zeros(1 << many, dtype=np.int64)
    best[0] = 0.0
    for placed in range(1 << many):
        for step in range(many):
            if not (placed >> step) & 1:
                worth = best[placed]
                for other in range(many):
                    if (placed >> other) & 1:
                        worth += gain[other, step]
                longer = placed | (1 << step)
                if worth > best[longer]:
                    best[longer], last[longer] = worth, step
    order = np.zeros(many, dtype=np.int64)
    placed = (1 << many) - 1
    for place in range(many - 1, -1, -1):
        order[place] = last[placed]
        placed ^= 1 << last[placed]
    return order


def _moved(order: list[int], gain: Matrix) -> list[int]:
    """Move single steps to their best place until none wants to move."""
    better = True
    while better:
        better = False
        for step in tuple(order):
            here = order.index(step)
            rest = order[:here] + order[here + 1 :]
            behind = np.concatenate([[0.0], np.cumsum(gain[rest, step])])
            worth = behind + (
                gain[step, rest].sum() - np.concatenate([[0.0], np.cumsum(gain[step, rest])])
            )
            best = int(worth.argmax())
            if worth[best] > worth[here] + 1e-9:
                order, better = [*rest[:best], step, *rest[best:]], True
    return order
