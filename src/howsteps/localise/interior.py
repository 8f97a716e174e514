"""The relaxed optimum, to a small duality gap, by an accelerated interior method.

The largest eigenvalue of B is one, so that moving Z to the point of the hull nearest to its own
scores, Z ← Proj(Z − BZ) = Proj(XW*(Z)), lowers h. Along the hull B is well conditioned (its one
small eigenvalue belongs to the almost constant direction, in which the hull is flat), so a little
momentum gives six digits in about sixteen products with X. The projection is never carried out: a
few interior steps a video (:mod:`howsteps.localise.away_steps`) follow it while the distance to the
walls shrinks with the gap.

Corners are the wrong language here. The optimum spreads each step over its whole window, so a
method that mixes corners needs thousands of them a video; this one needs none.
"""

import time

import numpy as np

from howsteps.localise.away_steps import Interior
from howsteps.localise.problem import ClusteringProblem, LocaliseError, Relaxed, TracePoint

_MOMENTUM = 0.3
_STEPS_A_PRODUCT = 3
_FEASIBLE = 1e-8  # of the mass of a step
_WALL = 0.1  # share of the gap that the distance to the walls may cost


def interior(
    problem: ClusteringProblem, *, tolerance: float = 1e-6, iterations: int = 200
) -> Relaxed:
    """Minimise h over the hull until the duality gap is below ``tolerance`` times the objective.

    Parameters
    ----------
    problem
        What to solve; every step present, binding windows.
    tolerance
        Relative duality gap to stop at.
    iterations
        Most products with X; what is reached by then is returned with its gap.
    """
    if problem.absence is not None or problem.forbidden is not None:
        raise LocaliseError(
            "the interior method needs binding windows and steps that are all present"
        )
    began = time.perf_counter()
    scale = problem.scale / (2 * problem.cost.intervals)
    hulls = [Interior(window) for window in problem.windows]
    walls = sum(hull.walls for hull in hulls)
    z = np.vstack([hull.point for hull in hulls])
    scores = before = problem.cost.scores(z)
    tau = float(np.vdot(z, z)) / walls
    trace: list[TracePoint] = []
    objective = gap = np.inf
    for _ in range(iterations):
        for video, hull in enumerate(hulls):
            rows = problem.rows(video)
            target = scores[rows] + _MOMENTUM * (scores[rows] - before[rows])
            for _ in range(_STEPS_A_PRODUCT):
                hull.step(target, tau)
            z[rows] = hull.point
        before, scores = scores, problem.cost.scores(z)
        gradient = z - scores
        value = float(np.vdot(z, gradient))
        slope = value - problem.value(gradient, problem.place_all(gradient))
        objective, gap = scale * value, 2 * scale * slope
        trace.append(TracePoint("interior", time.perf_counter() - began, objective, gap))
        tau = _WALL * abs(slope) / walls
        if gap <= tolerance * objective and max(hull.violation for hull in hulls) < _FEASIBLE:
            break
    rounded = problem.round(scores)
    return Relaxed(
        z, scores, objective, gap, ((problem.objective(rounded), rounded),), tuple(trace)
    )
