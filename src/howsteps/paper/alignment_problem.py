"""The alignment problem: tokens, which of them match, the objective; and Frank-Wolfe.

Equation (1) of the paper, and its quadratic form in Appendix B.1 (U, B, Y, C_o):

    minimise  Tr(UᵀBU) = Σ_(n,m) Σ_l c(φ(dⁿ)_l, φ(dᵐ)_l),    B = Y C_o Yᵀ

**Frank-Wolfe** (Appendix B.2) minimises it over U ∈ conv 𝒰, with the gradient 2BU. Everything is
computed from G = YᵀU (D×L): BU = Y (C_o G) and Tr(UᵀBV) = ⟨G_U, C_o G_V⟩. B is never formed, and G
of a corner is a count of S tokens.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from howsteps.compiled import compiled
from howsteps.errors import HowstepsError

Slots: TypeAlias = tuple[tuple[int, ...], ...]
Token: TypeAlias = Hashable

MATCH_COST = -1
MISMATCH_COST = 100


@dataclass(frozen=True, eq=False)
class AlignmentProblem:
    """N sequences over D relations, to be mapped increasingly onto one template.

    ``tokens`` holds the S relations of all sequences end to end (Y is its indicator matrix);
    ``match`` is D×D. c(d, e) = −1 where d and e match, 100 elsewhere.
    """

    tokens: NDArray[np.int64]
    lengths: NDArray[np.int64]
    match: NDArray[np.bool_]

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Sequence n owns the tokens first[n] … first[n + 1] − 1."""
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    @cached_property
    def sequence(self) -> NDArray[np.int64]:
        """The sequence that each token belongs to."""
        return np.repeat(np.arange(len(self.lengths), dtype=np.int64), self.lengths)

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """C_o, the D×D costs."""
        return np.where(self.match, float(MATCH_COST), float(MISMATCH_COST))

    def objective(self, slots: ArrayLike) -> int:
        """Tr(UᵀBU): the cost of all ordered pairs of tokens that share a slot, i = j included."""
        _, slot = np.unique(np.asarray(slots), return_inverse=True)
        if not len(slot):
            return 0
        shape = (int(slot.max()) + 1, len(self.match))
        counts: Any = csr_array((np.ones(len(slot), dtype=np.int64), (slot, self.tokens)), shape)
        counts.sum_duplicates()
        matching = int((counts @ csr_array(self.match.astype(np.int64))).multiply(counts).sum())
        pairs = int((np.bincount(slot).astype(np.int64) ** 2).sum())
        return MATCH_COST * matching + MISMATCH_COST * (pairs - matching)

    def split(self, values: Sequence[int] | NDArray[np.int64]) -> Slots:
        """Split a list with one value per token into one tuple per sequence."""
        flat = [int(value) for value in values]
        return tuple(
            tuple(flat[begin:end])
            for begin, end in zip(self.first[:-1], self.first[1:], strict=True)
        )


def make_problem(
    sequences: Sequence[Sequence[Token]], match: ArrayLike | None = None
) -> AlignmentProblem:
    """Check ``sequences`` and ``match`` (see :func:`~howsteps.paper.alignment.align`)."""
    rows: Sequence[Sequence[Any]] = sequences
    if match is None:
        if any(isinstance(sequence, str) for sequence in (sequences, *sequences)):
            raise HowstepsError("give a list of lists of tokens; a string is one token")
        index: dict[Token, int] = {}
        rows = [[index.setdefault(token, len(index)) for token in row] for row in sequences]
        match = np.eye(len(index), dtype=bool)
    matrix = np.asarray(match)
    matrix = matrix.astype(bool)
    if matrix.ndim != 2 or not np.array_equal(matrix, matrix.T) or not matrix.diagonal().all():
        raise HowstepsError("which tokens match is a D×D array, symmetric and true on its diagonal")
    for n, row in enumerate(rows):
        if not all(0 <= token < len(matrix) for token in row):
            known = f"with this match, tokens are the numbers 0 … {len(matrix) - 1}"
            raise HowstepsError(f"sequence {n} has another token: {known}")
    tokens = np.array([token for sequence in rows for token in sequence], dtype=np.int64)
    lengths = np.array([len(sequence) for sequence in rows], dtype=np.int64)
    # Without relations that no sequence has: D is what an iteration costs.
    used, renamed = np.unique(tokens, return_inverse=True)
    kept = np.ascontiguousarray(matrix[np.ix_(used, used)])
    return AlignmentProblem(renamed.astype(np.int64), lengths, kept)


FloatMatrix = NDArray[np.float64]
Corner = NDArray[np.int64]


@compiled
def _oracle(cost: Any, first: Any) -> Any:
    slots = np.empty(len(cost), dtype=np.int64)
    length = cost.shape[1]
    longest = 0
    for n in range(len(first) - 1):
        longest = max(longest, first[n + 1] - first[n])
    best = np.empty(length + 1)
    taken = np.empty((longest, length + 1), dtype=np.bool_)
    for n in range(len(first) - 1):
        best[:] = 0.0
        for i in range(first[n + 1] - first[n]):
            diagonal = best[0]
            best[0] = np.inf
            for j in range(1, length + 1):
                here = diagonal + cost[first[n] + i, j - 1]
                diagonal = best[j]
                # Ties go to the later slot, as in the authors' program.
                taken[i, j] = here <= best[j - 1]
                best[j] = here if taken[i, j] else best[j - 1]
        j = length
        for i in range(first[n + 1] - first[n] - 1, -1, -1):
            while not taken[i, j]:
                j -= 1
            j -= 1
            slots[first[n] + i] = j
    return slots


def oracle(cost: FloatMatrix, first: NDArray[np.int64]) -> Corner:
    """Minimise ⟨cost, U⟩ (S×L) over 𝒰: one dynamic programme per sequence, S·L operations in all.

    best[i, l] = min(best[i, l−1], best[i−1, l−1] + cost[i, l]); ties go to the latest placement.
    Sequence n owns the rows first[n] … first[n + 1] − 1. Returns the slot of every token.
    """
    longest = int(np.diff(first).max(initial=0))
    if longest > cost.shape[1]:
        raise HowstepsError(
            f"a sequence of {longest} tokens does not fit a template of {cost.shape[1]} slots"
        )
    corner: Corner = _oracle(np.ascontiguousarray(cost, dtype=np.float64), first)
    return corner


def corner_matrix(corner: Corner, length: int) -> FloatMatrix:
    """U (S×L) of a corner."""
    u = np.zeros((len(corner), length))
    u[np.arange(len(corner)), corner] = 1.0
    return u


def relation_sums(problem: AlignmentProblem, u: FloatMatrix) -> FloatMatrix:
    """G = YᵀU (D×L)."""
    g = np.zeros((len(problem.match), u.shape[1]))
    np.add.at(g, problem.tokens, u)
    return g


def step_size(slope: float, curvature: float) -> float:
    """Exact line search for f(U) + 2γ·slope + γ²·curvature on [0, 1].

    B is indefinite; if the curvature is not positive, the step is 1.
    """
    if curvature <= 0:
        return 1.0
    return min(1.0, max(0.0, -slope / curvature))


class Iteration(NamedTuple):
    """One iteration of Frank-Wolfe from U: gradient and gap at U, the step, and both roundings."""

    gradient: FloatMatrix
    corner: Corner
    gap: float
    step: float
    following: FloatMatrix
    projection: Corner


def iterate(problem: AlignmentProblem, u: FloatMatrix) -> Iteration:
    """Make one iteration: corner = argmin ⟨2BU, V⟩, line search, both roundings."""
    length = u.shape[1]
    g = relation_sums(problem, u)
    cost_g = problem.costs @ g
    gradient = 2 * cost_g[problem.tokens]
    corner = oracle(gradient, problem.first)
    direction = relation_sums(problem, corner_matrix(corner, length)) - g
    slope = float((direction * cost_g).sum())
    curvature = float((direction * (problem.costs @ direction)).sum())
    step = step_size(slope, curvature)
    following = (1 - step) * u
    following[np.arange(len(corner)), corner] += step
    projection = oracle(-following, problem.first)
    return Iteration(gradient, corner, -2 * slope, step, following, projection)


def frank_wolfe(
    problem: AlignmentProblem, start: FloatMatrix, iterations: int
) -> tuple[Corner, Corner]:
    """Run from a point of conv 𝒰; return the best corner, and the oracle's last one.

    The best is over both roundings of every iteration: the oracle's own corner and the projection
    argmin ‖V − U‖². The run ends when U does not change. A gap of zero is not enough: if the
    curvature is not positive, the step is 1 and U moves to another corner.
    """
    best, lowest = oracle(-start, problem.first), np.inf
    u = start
    for _ in range(iterations):
        now = iterate(problem, u)
        for corner in (now.corner, now.projection):
            if (value := problem.objective(corner)) < lowest:
                best, lowest = corner, value
        if np.array_equal(now.following, u):
            break
        u = now.following
    return best, now.corner


def random_start(
    problem: AlignmentProblem, length: int, generator: np.random.Generator
) -> FloatMatrix:
    """Return the corner that is cheapest for uniform random costs, as U."""
    cost = generator.random((len(problem.tokens), length))
    return corner_matrix(oracle(cost, problem.first), length)
