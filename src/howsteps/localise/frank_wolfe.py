"""The Frank-Wolfe algorithm on the convex hull of the placements, as in the paper.

Every iteration finds the corner S that minimises ⟨BZ, S⟩ by the linear oracle, moves towards it by
exact line search, γ = ⟨BZ, Z − S⟩ / ⟨S − Z, B(S − Z)⟩, and rounds. BZ is linear in Z, so only the
scores of the corner, which has N·K ones, have to be computed.
"""

import time

import numpy as np

from howsteps.localise.oracle import Floats
from howsteps.localise.problem import ClusteringProblem, Relaxed, TracePoint

# The paper gives no number of iterations. The best rounding is usually among the first few tens,
# and the later ones give the error bars; the authors' program runs longer.
PAPER_ITERATIONS, AUTHORS_ITERATIONS = 200, 650
_START_CORNERS = 10


def mean_of_random_corners(problem: ClusteringProblem, rng: np.random.Generator) -> Floats:
    """Return the mean of ten random placements, the authors' starting point; T×K."""
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
    """Minimise h over the hull, and round every iterate.

    Parameters
    ----------
    problem
        The problem.
    start
        Z₀, T×K; the mean of ten random placements if None.
    iterations
        Maximum number of iterates, including the start.
    tolerance
        Stop when the duality gap relative to the objective is at most this.
    seed
        Seed of the random start.
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
