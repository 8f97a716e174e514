"""Frank-Wolfe on the convex hull, as the paper does it.

Every iteration asks the oracle for the corner S that minimises ⟨BZ, S⟩, steps towards it by the
exact γ = ⟨BZ, Z − S⟩ / ⟨S − Z, B(S − Z)⟩, and rounds. BZ is linear in Z, so only the scores of the
corner, which has N·K ones, are computed anew.
"""

import time

import numpy as np

from howsteps.localise.oracle import Floats
from howsteps.localise.problem import ClusteringProblem, Relaxed, TracePoint

# The paper names no number. The best rounding comes among the first few tens, and the others are
# what its error bars go over; the authors' program goes on for longer.
PAPER_ITERATIONS, AUTHORS_ITERATIONS = 200, 650
_START_CORNERS = 10


def mean_of_random_corners(problem: ClusteringProblem, rng: np.random.Generator) -> Floats:
    """Start where the authors do, at the mean of ten random placements."""
    z = np.zeros((problem.cost.intervals, problem.steps))
    for _ in range(_START_CORNERS):
        z += problem.indicator(problem.random_placement(rng)) / _START_CORNERS
    return z


def frank_wolfe(
    problem: ClusteringProblem,
    start: Floats | None = None,
    *,
    iterations: int = PAPER_ITERATIONS,
    tolerance: float = 0.0,
    seed: int = 0,
) -> Relaxed:
    """Minimise h over the hull, rounding at every iterate.

    Parameters
    ----------
    problem
        What to solve.
    start
        Z₀, T×K; the mean of ten random placements when None.
    iterations
        Most iterates, the start included.
    tolerance
        Stop when the duality gap is below this share of the objective.
    seed
        Of the random start.
    """
    began = time.perf_counter()
    scale = problem.scale / (2 * problem.cost.intervals)
    z = mean_of_random_corners(problem, np.random.default_rng(seed)) if start is None else start
    scores = problem.cost.scores(z)
    roundings, trace = [], []
    for iteration in range(iterations):
        gradient = z - scores
        objective = scale * float(np.vdot(z, gradient))
        rounded = problem.round(scores)
        roundings.append((problem.objective(rounded), rounded))
        corner = problem.indicator(problem.place_all(gradient))
        direction = corner - z
        slope = -float(np.vdot(gradient, direction))
        gap = 2 * scale * slope
        trace.append(TracePoint("frank-wolfe", time.perf_counter() - began, objective, gap))
        if iteration == iterations - 1 or gap <= tolerance * objective:
            break
        corner_scores = problem.cost.scores(corner)
        change = direction - (corner_scores - scores)
        curvature = float(np.vdot(direction, change))
        step = min(1.0, slope / curvature) if curvature > 0 else 1.0
        z = z + step * direction
        scores = scores + step * (corner_scores - scores)
    return Relaxed(z, scores, objective, gap, tuple(roundings), tuple(trace))
