"""Posterior of the place of each step, given the evidence and a soft order of the steps.

Every placement t_1, …, t_K of a video with t_{k+1} ≥ t_k + g has the weight exp Σ_k e_k(t_k), where
e is the evidence (a log-weight) and g the gap. An absent step has the weight exp a instead, and
does not separate its neighbours. With step k fixed at t, the total weight of the placements of the
other steps is exp c_k(t), by a forward and a backward recursion:

    b_k(t) = log [exp(a + b_{k−1}(t)) + Σ_{u≤t−g} exp(e_{k−1}(u) + b_{k−1}(u))]   (forward), b_1 = 0

and likewise backward; c_k is the sum of both. The posterior of the place of step k is
∝ exp(e_k(t) + γ·c_k(t)). γ = 1 trusts the order of the script fully. People swap steps and scripts
have errors, so γ < 1 lets strong evidence overrule the order; each step then goes where its own
posterior is highest, which gets more steps right on average than the best joint placement.
"""

from typing import NamedTuple

import numpy as np

from howsteps.localise.oracle import Floats

ORDER = 0.5  # γ
_FORBIDDEN = -100.0  # log-weight of a place that leaves others no room; evidence may outweigh it


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
    evidence: Floats, gap: int = 0, order: float = ORDER, absence_log_odds: float = 0.0
) -> Marginals:
    """Return the posterior of the place of each step, and of its presence.

    Parameters
    ----------
    evidence, gap, order
        As for :func:`posterior`.
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
