"""The linear oracle: the cheapest placement of the steps of one video in order.

    minimise  Σ_k C[t_k, k]   subject to   t_1 < t_2 < … < t_K,  t_k allowed

by the dynamic program  best[t, k] = min(best[t−1, k], best[t−1, k−1] + C[t, k]),  O(T·K). A step
may also be *absent*, at a cost: best[t, k] = min(…, best[t, k−1] + absence[k]).
"""

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.int64]

ABSENT = -1
_STAY, _PLACE, _SKIP = 0, 1, 2


@compiled
def _place(cost: Floats, allowed: Mask, absence: Floats, places: Places) -> float:
    """Fill ``places`` and return the least cost; infinity if no placement is feasible."""
    length, steps = cost.shape
    choice = np.empty((length + 1, steps + 1), np.uint8)
    best = np.empty(steps + 1)
    best[0] = 0.0
    choice[0, 0] = _STAY
    for k in range(steps):
        best[k + 1] = best[k] + absence[k]
        choice[0, k + 1] = _SKIP
    for t in range(length):
        diagonal = best[0]
        choice[t + 1, 0] = _STAY
        for k in range(steps):
            least = best[k + 1]
            taken = _STAY
            if allowed[t, k] and diagonal < np.inf and diagonal + cost[t, k] <= least:
                least = diagonal + cost[t, k]
                taken = _PLACE
            if best[k] + absence[k] < least:
                least = best[k] + absence[k]
                taken = _SKIP
            diagonal = best[k + 1]
            best[k + 1] = least
            choice[t + 1, k + 1] = taken
    if best[steps] == np.inf:
        return np.inf
    t, k = length, steps
    while k > 0:
        if choice[t, k] == _STAY:
            t -= 1
        elif choice[t, k] == _PLACE:
            t -= 1
            k -= 1
            places[k] = t
        else:
            k -= 1
            places[k] = -1
    return float(best[steps])


def cheapest_placement(
    cost: Floats, allowed: Mask | None = None, absence: Floats | None = None
) -> Places | None:
    """Return the placement of the steps of one video with the least total cost.

    Parameters
    ----------
    cost
        C, T×K: cost of step k in interval t; finite.
    allowed
        T×K: where each step may be; everywhere if None.
    absence
        K: cost of leaving a step out, infinity if it must be placed; None: all must be placed.

    Returns
    -------
    The interval of every step, −1 where it is absent; None if no placement is feasible. Of equally
    cheap placements the latest is returned, and presence is preferred to absence.
    """
    length, steps = cost.shape
    places = np.full(steps, ABSENT, np.int64)
    value = _place(
        np.ascontiguousarray(cost, np.float64),
        np.ones((length, steps), np.bool_) if allowed is None else np.ascontiguousarray(allowed),
        np.full(steps, np.inf) if absence is None else np.ascontiguousarray(absence, np.float64),
        places,
    )
    return None if value == np.inf else places


def placement_value(cost: Floats, places: Places, absence: Floats | None = None) -> float:
    """Return the cost of a placement: Σ_k C[t_k, k], plus the costs of absent steps."""
    present = np.flatnonzero(places >= 0)
    value = float(cost[places[present], present].sum())
    if absence is not None:
        value += float(absence[places < 0].sum())
    return value


def indicator(places: Places, length: int) -> Floats:
    """Return Z_n ∈ {0,1}^{T_n×K} of a placement."""
    z = np.zeros((length, len(places)))
    present = np.flatnonzero(places >= 0)
    z[places[present], present] = 1.0
    return z
