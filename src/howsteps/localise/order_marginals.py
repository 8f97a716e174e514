"""Where a step is, given what speaks for each place and the order of the steps, softly.

Every placement t_1, …, t_K of a video with t_{k+1} ≥ t_k + g weighs exp Σ_k e_k(t_k), e being the
evidence (a log-weight) and g the gap. A step that may be absent weighs exp a there instead, and the
steps around it close ranks. With step k held at t, the placements of all others weigh exp c_k(t):

    b_k(t) = log [exp(a + b_{k−1}(t)) + Σ_{u≤t−g} exp(e_{k−1}(u) + b_{k−1}(u))]    (before), b_1 = 0

and likewise after it; c_k is the sum of both. The posterior of the place of step k is
∝ exp(e_k(t) + γ·c_k(t)). γ = 1 takes the script at its word. People swap steps, and scripts err, so
γ < 1 lets strong evidence overrule the order; each step then goes where its own posterior is
highest, which gets more steps right on average than the one best placement of all steps together.
"""

from typing import NamedTuple

import numpy as np

from howsteps.localise.oracle import Floats

ORDER = 0.5  # γ
_FORBIDDEN = -100.0  # log-weight of a place that leaves others no room: evidence may still win


class Marginals(NamedTuple):
    """Probability of every place of each step that is there (T×K), and of its being there (K)."""

    places: Floats
    presence: Floats


def context(evidence: Floats, gap: int = 0, absent: float = -np.inf) -> Floats:
    """c, T×K: log-weight of all placements of the other steps, the highest of each step 0.

    In a video too short for the gap, the gap is shortened until there is room to spare.
    """
    both = _context(evidence, _gap(evidence, gap), absent)
    weight: Floats = np.maximum(both - both.max(axis=0), _FORBIDDEN)
    return weight


def posterior(
    evidence: Floats, gap: int = 0, order: float = ORDER, absent: float = -np.inf
) -> Floats:
    """Probability of every place of each step, T×K; columns add up to one."""
    weight = evidence + order * context(evidence, gap, absent)
    share = np.exp(weight - weight.max(axis=0))
    probability: Floats = share / share.sum(axis=0)
    return probability


def marginals(evidence: Floats, gap: int = 0, order: float = ORDER, odds: float = 0.0) -> Marginals:
    """Where each step is, and whether it is there.

    Parameters
    ----------
    evidence
        T×K.
    odds
        Log-odds of a step being absent where nothing speaks for any place (e = 0 everywhere).
    """
    gap, absent = _gap(evidence, gap), odds + float(np.log(len(evidence)))
    both = _context(evidence, gap, absent)
    highest = both.max(axis=0)
    weight = evidence + order * np.maximum(both - highest, _FORBIDDEN)
    there = np.logaddexp.reduce(weight, axis=0)
    gone = absent + order * (_without(evidence, gap, absent) - highest)
    presence = 1.0 / (1.0 + np.exp(np.clip(gone - there, -50.0, 50.0)))
    return Marginals(np.exp(weight - there), presence)


def _gap(evidence: Floats, gap: int) -> int:
    length, steps = evidence.shape
    return min(gap, int(length - 1) // int(steps))


def _context(evidence: Floats, gap: int, absent: float) -> Floats:
    before, after = np.zeros_like(evidence), np.zeros_like(evidence)
    steps = evidence.shape[1]
    for k in range(1, steps):
        before[:, k] = _passed(evidence[:, k - 1], before[:, k - 1], gap, absent)
    for k in range(steps - 2, -1, -1):
        back = _passed(evidence[::-1, k + 1], after[::-1, k + 1], gap, absent)
        after[:, k] = back[::-1]
    both: Floats = before + after
    return both


def _without(evidence: Floats, gap: int, absent: float) -> Floats:
    """Log-weight of all placements of the other steps where step k is absent, for every k."""
    # Rows in which nothing can be, so that the last one has everything behind it.
    padded = np.vstack([evidence, np.full((gap, evidence.shape[1]), -np.inf)])
    total = np.zeros(evidence.shape[1])
    before = np.zeros(len(padded))
    for k in range(evidence.shape[1]):
        rest = before
        for j in range(k + 1, evidence.shape[1]):
            rest = _passed(padded[:, j], rest, gap, absent)
        total[k] = rest[-1]
        before = _passed(padded[:, k], before, gap, absent)
    return total


def _passed(evidence: Floats, before: Floats, gap: int, absent: float) -> Floats:
    """Log-weight of everything up to a step that is at least ``gap`` intervals earlier, or gone."""
    total: Floats = np.logaddexp.accumulate(evidence + before)
    placed = np.concatenate([np.full(gap, -np.inf), total[: len(total) - gap]])
    passed: Floats = np.logaddexp(before + absent, placed)
    return passed
