"""Multiple sequence alignment: the function ``align``, its result, and a bound of the objective."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.compiled import compiled
from howsteps.errors import HowstepsError
from howsteps.paper.alignment_problem import (
    MATCH_COST,
    AlignmentProblem,
    Slots,
    Token,
    frank_wolfe,
    make_problem,
    random_start,
)
from howsteps.paper.alignment_search import search


@dataclass(frozen=True)
class FrankWolfe:
    """Options of the paper's solver.

    ``slots`` is the length of the template, lengthened for a longer sequence; None: S, which is
    always enough. The rounding is the ``best`` corner or projection seen (authors), or the
    ``last-corner`` of the oracle (the paper).
    """

    slots: int | None = None
    iterations: int = 200
    rounding: Literal["best", "last-corner"] = "best"


AUTHORS = FrankWolfe(slots=120)


@dataclass(frozen=True)
class Alignment:
    """The slot of every token, the objective Tr(UᵀBU), and a lower bound of the objective.

    ``slots`` holds one strictly increasing tuple per sequence.
    """

    slots: Slots
    objective: int
    tokens: int
    bound: int

    @property
    def objective_per_token(self) -> float:
        """Tr(UᵀBU)/S, the figure of the paper."""
        return self.objective / self.tokens if self.tokens else 0.0


def align(
    sequences: Sequence[Sequence[Token]],
    match: ArrayLike | None = None,
    *,
    seconds: float = 2.0,
    seed: int = 0,
    solver: FrankWolfe | None = None,
) -> Alignment:
    """Align sequences: map each increasingly onto one template so that matching tokens share slots.

    Minimises Tr(UᵀBU) = Σ_(n,m) Σ_l c(φ(dⁿ)_l, φ(dᵐ)_l), with c = −1 where two tokens match and 100
    where they do not.

    Parameters
    ----------
    sequences
        One list of tokens per narration: strings, numbers, or anything hashable. Empty ones are
        allowed.
    match
        Which tokens match. None: equal ones. Or a D×D array, symmetric and true on the diagonal,
        for tokens that are indices 0 … D − 1.
    seconds
        Effort of the search: the work that an ordinary machine does in at most this time. It is
        counted in operations, so a slow machine takes longer and gives the same answer.
    solver
        None: the search. ``AUTHORS``: one random start of Frank-Wolfe, 200 iterations, 120 slots;
        or other options of :class:`FrankWolfe`.

    Examples
    --------
    >>> found = align([["boil", "pour", "stir"], ["boil", "stir"]])
    >>> found.slots, found.objective
    (((0, 1, 2), (0, 2)), -9)
    """
    if seed < 0:
        raise HowstepsError(f"a seed must be a non-negative integer, not {seed}")
    problem = make_problem(sequences, match)
    bound = pair_bound(problem)
    if not len(problem.tokens):
        placed = problem.tokens
    elif solver is None:
        placed = search(problem, seconds=seconds, seed=seed, floor=bound)
    else:
        length = max(solver.slots or len(problem.tokens), int(problem.lengths.max()))
        u = random_start(problem, length, np.random.default_rng(seed))
        best, last = frank_wolfe(problem, u, solver.iterations)
        placed = best if solver.rounding == "best" else last
    return Alignment(
        slots=problem.split(placed),
        objective=problem.objective(placed),
        tokens=len(problem.tokens),
        bound=bound,
    )


@compiled
def _common(tokens: Any, first: Any, match: Any, common: Any, best: Any) -> None:
    """Fill ``common`` (N×N) with the longest common subsequences of all pairs of sequences."""
    for n in range(len(common)):
        for m in range(n):
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
            common[n, m] = common[m, n] = best[width]


def common_lengths(problem: AlignmentProblem) -> NDArray[np.int64]:
    """Return the length of the longest common subsequence of each pair, N×N; 0 on the diagonal."""
    common = np.zeros((len(problem.lengths),) * 2, dtype=np.int64)
    best = np.zeros(int(problem.lengths.max(initial=0)) + 1, dtype=np.int64)
    _common(problem.tokens, problem.first, problem.match, common, best)
    return common


def pair_bound(problem: AlignmentProblem) -> int:
    """Bound by pairs of sequences: two sequences share at most their longest common subsequence.

    Every token costs c = −1 with itself, and two tokens in one slot cost at least −1 each way, so

        Tr(UᵀBU) ≥ −S − 2 Σ_(n<m) LCS(dⁿ, dᵐ)
    """
    return MATCH_COST * (len(problem.tokens) + int(common_lengths(problem).sum()))
