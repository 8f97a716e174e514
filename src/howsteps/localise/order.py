"""The order of the steps: the cheapest placement in order, and posteriors of a soft order.

**Ordered dynamic programme** (:func:`cheapest_placement`):

    minimise  Tr(CᵀZ) = Σ_k C[t_k, k]   subject to   t_1 < t_2 < … < t_K,  t_k allowed

by  best[t, k] = min(best[t−1, k], best[t−1, k−1] + C[t, k]),  O(T·K).

**Soft order** (:func:`segment_marginals`). A placement gives every step a beginning s_k and a
duration d_k, such that it ends before the next one begins, and weighs exp Σ_k e_k(d_k, s_k), where
e is the evidence (a log-weight). An absent step has the weight exp a = T instead, and no
duration: even odds if there is no evidence. With step k fixed, the placements of the other steps
weigh exp c_k(d, s) in total, c_k(d, s) = f_k(s) + b_k(s + d), by a forward recursion

    f_k(t) = log [exp(a + f_{k−1}(t)) + Σ_{s+d≤t} exp(e_{k−1}(d, s) + f_{k−1}(s))],   f_1 = 0

and likewise backward. The posterior of step k is ∝ exp(e_k + γ·c_k). γ = 1 trusts the order of the
script fully. People swap steps and scripts have errors, so γ < 1 lets strong evidence overrule the
order; each step then goes where its own posterior is highest, which gets more steps right on
average than the best joint placement.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled
from howsteps.localise.features import Floats, Mask, Places, too_short

ORDER = 0.5  # γ
LEAD = 2.0  # seconds from the middle of a mention to the middle of its step
_FORBIDDEN = -100.0  # log-weight of a place that leaves others no room; evidence may outweigh it


@compiled
def _place(cost: Floats, allowed: Mask, places: Places) -> float:
    """Fill ``places`` and return the least cost; infinity if no placement is feasible."""
    length, steps = cost.shape
    is_placed = np.zeros((length, steps), np.bool_)
    best = np.full(steps + 1, np.inf)
    best[0] = 0.0
    for t in range(length):
        diagonal = best[0]
        for k in range(steps):
            least = best[k + 1]
            if allowed[t, k] and diagonal < np.inf and diagonal + cost[t, k] <= least:
                least = diagonal + cost[t, k]
                is_placed[t, k] = True
            diagonal = best[k + 1]
            best[k + 1] = least
    if best[steps] == np.inf:
        return np.inf
    k = steps
    for t in range(length - 1, -1, -1):
        if k > 0 and is_placed[t, k - 1]:
            k -= 1
            places[k] = t
    return float(best[steps])


def cheapest_placement(cost: Floats, allowed: Mask | None = None) -> Places | None:
    """Return the placement of the steps of one video with the least total cost.

    Parameters
    ----------
    cost
        C, T×K: cost of step k in interval t; finite.
    allowed
        T×K: where each step may be; everywhere if None.

    Returns
    -------
    The interval of every step; None if no placement is feasible. Of equally cheap placements the
    latest is returned.
    """
    length, steps = cost.shape
    places = np.zeros(steps, np.int64)
    value = _place(
        np.ascontiguousarray(cost, np.float64),
        np.ones((length, steps), np.bool_) if allowed is None else np.ascontiguousarray(allowed),
        places,
    )
    return None if value == np.inf else places


def uniform(lengths: Sequence[int], steps: int) -> Places:
    """Return steps that are spread evenly: step k at ⌊(k + ½)·T_n/K⌋; N×K."""
    for video, length in enumerate(lengths):
        if length < steps:
            raise too_short(video, length, steps)
    middles = np.arange(steps) + 0.5
    places: Places = np.floor(np.outer(np.asarray(lengths), middles) / steps).astype(np.int64)
    return places


def place_aligned(
    aligned: Sequence[Places], intervals: Sequence[Places], lengths: Sequence[int], steps: int
) -> Places:
    """Return the interval of every step in every video from aligned mentions, N×K.

    Parameters
    ----------
    aligned
        S_n per video, the step that each mention belongs to, −1 for none.
    intervals
        S_n per video: the interval of each mention.
    lengths
        T_n.
    steps
        K.
    """
    places = []
    for video, length in enumerate(lengths):
        step_of_mention, interval = aligned[video], intervals[video]
        named = [k for k in range(steps) if (step_of_mention == k).any()]
        # The ends of the video are half a step before the first and after the last.
        known_steps = [-0.5, *named, steps - 0.5]
        first_mentions = [float(interval[step_of_mention == k].min()) for k in named]
        targets = np.interp(
            np.arange(steps), known_steps, [0.0, *first_mentions, float(length - 1)]
        )
        row = cheapest_placement(np.abs(np.arange(length)[:, None] - targets))
        if row is None:
            raise too_short(video, length, steps)
        places.append(row)
    return np.array(places)


class Marginals(NamedTuple):
    """Posterior of the place of each step if it is present (…×T×K), and of its presence (K)."""

    places: Floats
    presence: Floats


def segment_marginals(
    evidence: Floats,
    durations: NDArray[np.int64],
    order: float = ORDER,
) -> Marginals:
    """Return the posterior of duration and beginning of each step (D×T×K), and of its presence.

    Parameters
    ----------
    evidence
        e, D×T×K; −∞ where a step of this duration must not begin.
    durations
        D, in intervals.
    order
        γ.
    """
    _, length, steps = evidence.shape
    absent = float(np.log(length))
    ends = np.minimum(np.arange(length) + durations[:, None], length)  # D×T
    before = np.zeros((steps, length + 1))  # f
    for k in range(1, steps):
        ended = np.full(length + 1, -np.inf)
        for weight, end in zip(evidence[:, :, k - 1] + before[k - 1, :length], ends, strict=True):
            inside = int(np.searchsorted(end, length))  # the others end with the video
            ended[end[:inside]] = np.logaddexp(ended[end[:inside]], weight[:inside])
            ended[length] = np.logaddexp.reduce(weight[inside:], initial=ended[length])
        placed = np.logaddexp.accumulate(ended)
        before[k] = np.logaddexp(before[k - 1] + absent, placed)
    after = np.zeros((steps + 1, length + 1))  # of the steps from k on; b_k is after[k + 1]
    first = np.full((steps + 1, length), -np.inf)  # the same, the first of them beginning at s
    for k in range(steps - 1, -1, -1):
        here = np.logaddexp.reduce(evidence[:, :, k] + after[k + 1][ends], axis=0)
        first[k] = np.logaddexp(first[k + 1] + absent, here)
        none = (steps - k) * absent
        after[k] = none
        after[k, :length] = np.logaddexp(np.logaddexp.accumulate(first[k][::-1])[::-1], none)
    places, presence = np.empty_like(evidence), np.empty(steps)
    for k in range(steps):
        context = before[k, :length] + after[k + 1][ends]
        highest = context.max()
        log_weight = evidence[:, :, k] + order * np.maximum(context - highest, _FORBIDDEN)
        if_present = np.logaddexp.reduce(log_weight, axis=None)
        without = np.logaddexp.reduce(before[k, :length] + first[k + 1])
        without = np.logaddexp(without, before[k, length] + after[k + 1, length])
        if_absent = absent + order * np.maximum(without - highest, _FORBIDDEN)
        # Never exactly 0 or 1, so that it has finite log-odds.
        presence[k] = 1.0 / (1.0 + np.exp(np.clip(if_absent - if_present, -30.0, 30.0)))
        places[:, :, k] = np.exp(log_weight - if_present)
    return Marginals(places, presence)
