"""The order of the steps: the cheapest placement in order, and posteriors of a soft order.

**Ordered dynamic programme** (:func:`cheapest_placement`):

    minimise  Tr(CᵀZ) = Σ_k C[t_k, k]   subject to   t_1 < t_2 < … < t_K,  t_k allowed

by  best[t, k] = min(best[t−1, k], best[t−1, k−1] + C[t, k]),  O(T·K).

**Soft order** (:func:`posterior`, :func:`marginals`). Every placement t_1, …, t_K of a video with
t_{k+1} ≥ t_k + g has the weight exp Σ_k e_k(t_k), where e is the evidence (a log-weight) and g the
gap. An absent step has the weight exp a instead, and does not separate its neighbours. With step k
fixed at t, the total weight of the placements of the other steps is exp c_k(t), by a forward and a
backward recursion:

    b_k(t) = log [exp(a + b_{k−1}(t)) + Σ_{u≤t−g} exp(e_{k−1}(u) + b_{k−1}(u))]   (forward), b_1 = 0

and likewise backward; c_k is the sum of both. The posterior of the place of step k is
∝ exp(e_k(t) + γ·c_k(t)). γ = 1 trusts the order of the script fully. People swap steps and scripts
have errors, so γ < 1 lets strong evidence overrule the order; each step then goes where its own
posterior is highest, which gets more steps right on average than the best joint placement.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from howsteps.compiled import compiled
from howsteps.localise.features import Floats, Mask, Places, too_short

ORDER = 0.5  # γ
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
    """Posterior of the place of each step if it is present (T×K), and of its presence (K)."""

    places: Floats
    presence: Floats


def context(evidence: Floats, gap: int = 0, absent: float = -np.inf) -> Floats:
    """Return c, T×K: log-weight of the placements of the other steps; 0 at the maximum of a step.

    Parameters
    ----------
    evidence
        e, T×K.
    gap
        g, in intervals; shortened in a video that is too short for it.
    absent
        a, the log-weight of an absent step; by default no step may be absent.
    """
    log_weight = _context(evidence, _feasible_gap(evidence, gap), absent)
    relative: Floats = np.maximum(log_weight - log_weight.max(axis=0), _FORBIDDEN)
    return relative


def posterior(
    evidence: Floats, gap: int = 0, order: float = ORDER, absent: float = -np.inf
) -> Floats:
    """Return the posterior of the place of each step, T×K; columns add up to one.

    ``order`` is γ; the other parameters are those of :func:`context`.
    """
    log_weight = evidence + order * context(evidence, gap, absent)
    weight = np.exp(log_weight - log_weight.max(axis=0))
    probability: Floats = weight / weight.sum(axis=0)
    return probability


def marginals(
    evidence: Floats, gap: int = 0, order: float | Floats = ORDER, absence_log_odds: float = 0.0
) -> Marginals:
    """Return the posterior of the place of each step, and of its presence.

    Parameters
    ----------
    evidence, gap, order
        As for :func:`posterior`; γ may differ by step (K).
    absence_log_odds
        Log-odds that a step without evidence (e = 0 everywhere) is absent.
    """
    gap = _feasible_gap(evidence, gap)
    absent = absence_log_odds + float(np.log(len(evidence)))
    log_context = _context(evidence, gap, absent)
    highest = log_context.max(axis=0)
    log_weight = evidence + order * np.maximum(log_context - highest, _FORBIDDEN)
    if_present = np.logaddexp.reduce(log_weight, axis=0)
    if_absent = absent + order * (_context_if_absent(evidence, gap, absent) - highest)
    # Never exactly 0 or 1, so that it has finite log-odds.
    presence = 1.0 / (1.0 + np.exp(np.clip(if_absent - if_present, -30.0, 30.0)))
    return Marginals(np.exp(log_weight - if_present), presence)


def _feasible_gap(evidence: Floats, gap: int) -> int:
    """Return the gap, shortened until all steps fit."""
    length, steps = evidence.shape
    return min(gap, int(length - 1) // int(steps))


def _context(evidence: Floats, gap: int, absent: float) -> Floats:
    """Return c before normalisation, T×K."""
    forward, backward = np.zeros_like(evidence), np.zeros_like(evidence)
    steps = evidence.shape[1]
    for k in range(1, steps):
        forward[:, k] = _recurse(evidence[:, k - 1], forward[:, k - 1], gap, absent)
    for k in range(steps - 2, -1, -1):
        reverse = _recurse(evidence[::-1, k + 1], backward[::-1, k + 1], gap, absent)
        backward[:, k] = reverse[::-1]
    both: Floats = forward + backward
    return both


def _context_if_absent(evidence: Floats, gap: int, absent: float) -> Floats:
    """Return the log-weight of the placements of the other steps if step k is absent, K."""
    # Empty rows at the end, so that the last row is a gap after every place.
    padded = np.vstack([evidence, np.full((gap, evidence.shape[1]), -np.inf)])
    total = np.zeros(evidence.shape[1])
    forward = np.zeros(len(padded))
    for k in range(evidence.shape[1]):
        rest = forward
        for j in range(k + 1, evidence.shape[1]):
            rest = _recurse(padded[:, j], rest, gap, absent)
        total[k] = rest[-1]
        forward = _recurse(padded[:, k], forward, gap, absent)
    return total


def _recurse(evidence: Floats, forward: Floats, gap: int, absent: float) -> Floats:
    """Return b_{k+1} (T) from e_k and b_k: step k is at least ``gap`` earlier, or absent."""
    total: Floats = np.logaddexp.accumulate(evidence + forward)
    placed = np.concatenate([np.full(gap, -np.inf), total[: len(total) - gap]])
    following: Floats = np.logaddexp(forward + absent, placed)
    return following
