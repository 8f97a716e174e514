"""Frank-Wolfe on the convex hull of alignments, as in the paper, and block coordinate descent.

    minimise f(U) = Tr(UᵀBU),   U ∈ conv 𝒰,   B = Y C_o Yᵀ,   ∇f(U) = 2BU.

Everything is computed from G = YᵀU (D×L): BU = Y (C_o G) and Tr(UᵀBV) = ⟨G_U, C_o G_V⟩. B is never
formed, and G of a corner is a count of S tokens.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled
from howsteps.paper.alignment_problem import AlignmentError, AlignmentProblem

FloatMatrix = NDArray[np.float64]
Corner = NDArray[np.int64]
Rounding = Literal["best", "last-corner"]


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
    """Minimise ⟨cost, U⟩ over 𝒰: one dynamic programme per sequence, S·L operations in all.

    best[i, l] = min(best[i, l−1], best[i−1, l−1] + cost[i, l]); ties go to the latest placement.

    Parameters
    ----------
    cost
        S×L.
    first
        Sequence n owns the rows first[n] … first[n + 1] − 1.

    Returns
    -------
    The slot of every token.
    """
    longest = int(np.diff(first).max(initial=0))
    if longest > cost.shape[1]:
        raise AlignmentError(
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


def _count(problem: AlignmentProblem, corner: Corner, length: int) -> FloatMatrix:
    """G of a corner: the count of each relation in each slot."""
    flat = np.bincount(problem.tokens * length + corner, minlength=len(problem.match) * length)
    return flat.reshape(-1, length).astype(np.float64)


def step_size(slope: float, curvature: float) -> float:
    """Exact line search for f(U) + 2γ·slope + γ²·curvature on [0, 1].

    B is indefinite; if the curvature is not positive, the step is 1.
    """
    if curvature <= 0:
        return 1.0
    return min(1.0, max(0.0, -slope / curvature))


@dataclass(frozen=True)
class Iteration:
    """One iteration of Frank-Wolfe from U: f and the gap at U, the step, and both roundings."""

    objective: float
    gradient: FloatMatrix
    corner: Corner
    gap: float
    step: float
    following: FloatMatrix
    corner_objective: float
    projection: Corner
    projection_objective: float


def iterate(problem: AlignmentProblem, u: FloatMatrix) -> Iteration:
    """Make one iteration: corner = argmin ⟨2BU, V⟩, line search, both roundings."""
    length = u.shape[1]
    g = relation_sums(problem, u)
    cost_g = problem.costs @ g
    gradient = 2 * cost_g[problem.tokens]
    corner = oracle(gradient, problem.first)
    g_corner = _count(problem, corner, length)
    direction = g_corner - g
    slope = float((direction * cost_g).sum())
    curvature = float((direction * (problem.costs @ direction)).sum())
    step = step_size(slope, curvature)
    following = (1 - step) * u
    following[np.arange(len(corner)), corner] += step
    projection = oracle(-following, problem.first)
    return Iteration(
        objective=float((g * cost_g).sum()),
        gradient=gradient,
        corner=corner,
        gap=-2 * slope,
        step=step,
        following=following,
        corner_objective=float(problem.objective(corner)),
        projection=projection,
        projection_objective=float(problem.objective(projection)),
    )


def frank_wolfe(
    problem: AlignmentProblem, start: FloatMatrix, iterations: int, *, rounding: Rounding = "best"
) -> tuple[Corner, list[tuple[float, int]]]:
    """Run from a point of conv 𝒰; return a corner and the trace of its objective.

    ``best`` takes the best over both roundings of every iteration: the oracle's own corner and the
    projection argmin ‖V − U‖². ``last-corner`` takes the oracle's corner of the last iteration.

    The run ends when U does not change. A gap of zero is not enough: if the curvature is not
    positive, the step is 1 and U moves to another corner.
    """
    best, lowest, trace = oracle(-start, problem.first), np.inf, []
    u = start
    for count in range(iterations):
        now = iterate(problem, u)
        for corner, value in (
            (now.corner, now.corner_objective),
            (now.projection, now.projection_objective),
        ):
            if value < lowest:
                best, lowest = corner, value
                trace.append((float(count), int(value)))
        if np.array_equal(now.following, u):
            break
        u = now.following
    if rounding == "last-corner":
        return now.corner, [(float(count), int(now.corner_objective))]
    return best, trace


def random_start(
    problem: AlignmentProblem, length: int, generator: np.random.Generator
) -> FloatMatrix:
    """Return the corner that is cheapest for uniform random costs, as U."""
    cost = generator.random((len(problem.tokens), length))
    return corner_matrix(oracle(cost, problem.first), length)


def block_descent(problem: AlignmentProblem, corner: Corner, length: int) -> Corner:
    """Re-align one sequence at a time, all others fixed, until none improves.

    With the others fixed the integer objective of sequence n is linear in U_n: token s in slot l
    costs 2 (C_o G_others)[s, l] plus a constant. The oracle solves it; f never rises.
    """
    corner = corner.copy()
    g = _count(problem, corner, length)
    waiting = list(range(len(problem.lengths)))
    while waiting:
        n = waiting.pop(0)
        rows = slice(problem.first[n], problem.first[n + 1])
        relations, old = problem.tokens[rows], corner[rows].copy()
        np.add.at(g, (relations, old), -1)
        cost = (problem.costs @ g)[relations]
        new = oracle(cost, np.array([0, len(relations)], dtype=np.int64))
        index = np.arange(len(relations))
        if cost[index, new].sum() < cost[index, old].sum():
            corner[rows] = new
            waiting = [m for m in range(len(problem.lengths)) if m != n]
        np.add.at(g, (relations, corner[rows]), 1)
    return corner
