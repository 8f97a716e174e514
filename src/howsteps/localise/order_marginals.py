"""Where a step is, given what speaks for each place and the order of the steps, softly.

Every placement t_1, …, t_K of a video with t_{k+1} ≥ t_k + g weighs exp Σ_k e_k(t_k), e being the
evidence (a log-weight) and g the gap. With step k held at t, the placements of all others weigh
exp c_k(t):

    a_k(t) = log Σ_{u≤t−g} exp(e_{k−1}(u) + a_{k−1}(u)),   a_1 = 0      (the steps before)
    b_k(t) = log Σ_{u≥t+g} exp(e_{k+1}(u) + b_{k+1}(u)),   b_K = 0      (the steps after)
    c_k(t) = a_k(t) + b_k(t)

and the posterior of the place of step k is ∝ exp(e_k(t) + γ·c_k(t)). γ = 1 takes the script at its
word. People swap steps, and scripts err, so γ = ½ lets strong evidence overrule the order; each
step then goes where its own posterior is highest, which gets more steps right on average than the
one best placement of all steps together.
"""

import numpy as np

from howsteps.localise.oracle import Floats

ORDER = 0.5  # γ
_FORBIDDEN = -100.0  # log-weight of a place that leaves others no room: evidence may still win


def context(evidence: Floats, gap: int = 0) -> Floats:
    """c, T×K: log-weight of all placements of the other steps, the highest of each step 0.

    In a video too short for the gap, the gap is shortened until there is room to spare.
    """
    length, steps = evidence.shape
    gap = min(gap, (length - 1) // steps)
    before, after = np.zeros_like(evidence), np.zeros_like(evidence)
    for k in range(1, steps):
        before[:, k] = _so_far(evidence[:, k - 1] + before[:, k - 1], gap)
    for k in range(steps - 2, -1, -1):
        after[:, k] = _so_far((evidence[:, k + 1] + after[:, k + 1])[::-1], gap)[::-1]
    both = before + after
    weight: Floats = np.maximum(both - both.max(axis=0), _FORBIDDEN)
    return weight


def posterior(evidence: Floats, gap: int = 0, order: float = ORDER) -> Floats:
    """Probability of every place of each step, T×K; columns add up to one."""
    weight = evidence + order * context(evidence, gap)
    share = np.exp(weight - weight.max(axis=0))
    probability: Floats = share / share.sum(axis=0)
    return probability


def _so_far(weight: Floats, gap: int) -> Floats:
    """Log-sum of everything at least ``gap`` intervals earlier."""
    total: Floats = np.logaddexp.accumulate(weight)
    return np.concatenate([np.full(gap, -np.inf), total[: len(total) - gap]])
