"""Block-coordinate Frank-Wolfe over videos, with pairwise steps and gap sampling.

One video at a time, drawn in proportion to the last known share of the duality gap. The step moves
weight from the worst corner that the video's point is made of (A) to the best corner of the oracle
(S):

    D = S − A,   γ = min( weight of A, ⟨BZ, −D⟩ / ⟨D, BD⟩ )

The active corners of a video are kept as placements with weights, so a step touches 2·K entries of
Z and one update of W*. Every few rounds all gaps are computed together, which certifies the point.
"""

import time

import numpy as np

from howsteps.localise.cost import Weights
from howsteps.localise.oracle import Floats, Places, indicator
from howsteps.localise.problem import ClusteringProblem, LocaliseError, Relaxed, TracePoint

_ROUNDS_A_CHECK = 5


def block_frank_wolfe(
    problem: ClusteringProblem, *, tolerance: float = 1e-6, iterations: int = 2000, seed: int = 0
) -> Relaxed:
    """Minimise h over the hull, one video at a time.

    Parameters
    ----------
    problem
        What to solve; every step present.
    tolerance
        Relative duality gap to stop at.
    iterations
        Most rounds of as many steps as there are videos.
    seed
        Of the random start and of the sampling.
    """
    if problem.absence is not None:
        raise LocaliseError("the block method needs steps that are all present")
    began = time.perf_counter()
    rng = np.random.default_rng(seed)
    scale = problem.scale / (2 * problem.cost.intervals)
    start = problem.random_placement(rng)
    active: list[dict[tuple[int, ...], float]] = [{tuple(map(int, row)): 1.0} for row in start]
    z = problem.indicator(start)
    weights = problem.cost.weights(z)
    gaps = np.full(problem.videos, np.inf)
    trace: list[TracePoint] = []
    roundings = []
    for round_number in range(iterations):
        if round_number % _ROUNDS_A_CHECK == 0:
            weights = problem.cost.weights(z)  # afresh, so that rounding errors do not add up
            scores = problem.cost.scores_of(weights)
            gaps = _all_gaps(problem, z - scores, z)
            objective = scale * float(np.vdot(z, z - scores))
            gap = 2 * scale * float(gaps.sum())
            rounded = problem.round(scores)
            roundings.append((problem.objective(rounded), rounded))
            trace.append(TracePoint("block", time.perf_counter() - began, objective, gap))
            if gap <= tolerance * objective:
                break
        for _ in range(problem.videos):
            shares = np.maximum(gaps, 0.0) + 1e-3 * max(float(gaps.mean()), 0.0) + 1e-300
            video = int(rng.choice(problem.videos, p=shares / shares.sum()))
            weights, gaps[video] = _pairwise_step(problem, video, z, active[video], weights)
    return Relaxed(z, scores, objective, gap, tuple(roundings), tuple(trace))


def _all_gaps(problem: ClusteringProblem, gradient: Floats, z: Floats) -> Floats:
    """⟨BZ, Z − S⟩ of every video."""
    corner = problem.indicator(problem.place_all(gradient))
    product = np.einsum("tk,tk->t", gradient, z - corner)
    sums: Floats = np.add.reduceat(product, problem.cost.offsets[:-1])
    return sums


def _pairwise_step(
    problem: ClusteringProblem,
    video: int,
    z: Floats,
    active: dict[tuple[int, ...], float],
    weights: Weights,
) -> tuple[Weights, float]:
    """Move weight between two corners of one video; returns W* and the gap before the step."""
    rows = problem.rows(video)
    length = rows.stop - rows.start
    steps = np.arange(problem.steps)
    gradient = z[rows] - problem.cost.scores_of(weights, video)
    best: Places = problem.place(video, gradient)
    corners = np.array(list(active))
    values = gradient[corners, steps].sum(axis=1)
    worst: Places = corners[int(np.argmax(values))]
    best_value = float(gradient[best, steps].sum())
    gap = float(np.vdot(gradient, z[rows])) - best_value
    slope = float(values.max()) - best_value
    if slope <= 0.0 or (best == worst).all():
        return weights, gap
    direction = indicator(best, length) - indicator(worst, length)
    change = problem.cost.weights_of(
        problem.features_at(video, best) - problem.features_at(video, worst), np.zeros(len(steps))
    )
    curvature = float(np.vdot(direction, direction - problem.cost.scores_of(change, video)))
    leaving, entering = tuple(map(int, worst)), tuple(map(int, best))
    step = min(active[leaving], slope / curvature) if curvature > 0 else active[leaving]
    z[rows] += step * direction
    active[entering] = active.get(entering, 0.0) + step
    active[leaving] -= step
    if active[leaving] <= 1e-15:
        del active[leaving]
    moved = Weights(weights.matrix + step * change.matrix, weights.bias + step * change.bias)
    return moved, gap
