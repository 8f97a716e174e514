"""Lower bounds on the objective: how far from the best an alignment can be.

Every token costs c = −1 with itself, and two tokens in one slot cost at least −1 each way, so

    Tr(UᵀBU) ≥ −S − 2·P,    P ≥ number of matching pairs that any alignment puts together.

The bounds here take no time and need nothing. ``triples`` and ``programme`` go further.
"""

from typing import Any

import numpy as np

from howsteps.compiled import compiled
from howsteps.script.problem import AlignmentProblem

ROUNDING = 1e-3  # solvers return whole numbers up to their tolerance; err on the safe side


def objective_at(problem: AlignmentProblem, pairs: float) -> int:
    """Turn an upper bound on P into a lower bound on the objective; P is a whole number."""
    return problem.match_cost * (len(problem.tokens) + 2 * int(np.floor(pairs + ROUNDING)))


def order_free(problem: AlignmentProblem) -> int:
    """Bound that forgets the order: every pair of sequences shares what their bags allow.

    A token of n has at most one partner in m, so min over both sides of the tokens that have one.
    It is −Σ_d n_d² when every relation matches only itself and is heard once per sequence.
    """
    heard = np.zeros((len(problem.lengths), len(problem.match)), dtype=np.int64)
    np.add.at(heard, (problem.sequence, problem.tokens), 1)
    present = (heard @ problem.match) > 0
    having = present.astype(np.int64) @ heard.T  # [m, n]: tokens of n with a partner in m
    return objective_at(problem, float(np.triu(np.minimum(having, having.T), 1).sum()))


@compiled
def _count_pairs(tokens: Any, first: Any, match: Any, best: Any) -> Any:
    total = 0
    for n in range(len(first) - 1):
        for m in range(n + 1, len(first) - 1):
            width = first[m + 1] - first[m]
            best[: width + 1] = 0
            for s in range(first[n], first[n + 1]):
                diagonal = 0
                for j in range(1, width + 1):
                    above = best[j]
                    if match[tokens[s], tokens[first[m] + j - 1]] and diagonal >= above:
                        best[j] = diagonal + 1
                    best[j] = max(best[j], best[j - 1])
                    diagonal = above
            total += best[width]
    return total


def pairs(problem: AlignmentProblem) -> int:
    """Bound by pairs of sequences: two sequences share at most their longest common subsequence.

    Tr(UᵀBU) ≥ −S − 2 Σ_(n<m) LCS(dⁿ, dᵐ)
    """
    best = np.zeros(int(problem.lengths.max(initial=0)) + 1, dtype=np.int64)
    return objective_at(problem, _count_pairs(problem.tokens, problem.first, problem.match, best))
