"""Solvers of the clustering: Frank-Wolfe on the relaxed problem, and descent on the placements.

**Frank-Wolfe**, as in the paper. Every iteration finds the corner S that minimises ⟨BZ, S⟩ by the
linear oracle, moves towards it by exact line search, γ = ⟨BZ, Z − S⟩ / ⟨S − Z, B(S − Z)⟩, and
rounds. BZ is linear in Z, so only the scores of the corner, which has N·K ones, are computed. The
duality gap is ⟨BZ, Z − S⟩: no placement has an h below that of Z minus the gap.

**Block coordinate descent**: one video at a time, each solved exactly. A video has exactly one 1
per step, so with all other videos fixed, h is linear in its placement:

    2T·h = const + Σ_k ( B_tt − 2 s_k(t) )  at t = t_k,

where s are the scores of the classifier of the *other* videos and B_tt = 1 − leverage of t. One
dynamic program therefore finds the best placement of the video, and h never rises. W* is linear in
Z: the contribution of each video is kept, so an update costs a product with the rows of that video,
and the d×d matrix is used for the steps that moved only.
"""

from dataclasses import dataclass

import numpy as np

from howsteps.localise.features import Floats, Places
from howsteps.localise.ridge import Weights
from howsteps.paper.clustering_problem import ClusteringProblem

# The paper gives no number of iterations. The best rounding is usually among the first few tens,
# and the later ones give the error bars; the authors' program runs longer.
PAPER_ITERATIONS, AUTHORS_ITERATIONS = 200, 650
_START_CORNERS = 10
SWEEPS = 100  # of the descent over all videos, at most


@dataclass(frozen=True)
class Relaxed:
    """The point of the hull z and XW*(z), T×K each; its objective and duality gap.

    ``roundings`` has the objective and placement of every rounding, in order of the iterations,
    and ``trace`` the objective and the gap of every iterate.
    """

    z: Floats
    scores: Floats
    objective: float
    gap: float
    roundings: tuple[tuple[float, Places], ...]
    trace: tuple[tuple[float, float], ...] = ()

    @property
    def chosen(self) -> int:
        """Index of the first rounding with the lowest objective."""
        return int(np.argmin([value for value, _ in self.roundings]))


def mean_of_random_corners(problem: ClusteringProblem, rng: np.random.Generator) -> Floats:
    """Return the mean of ten random placements, the authors' starting point; T×K."""
    z = np.zeros((problem.cost.intervals, problem.steps))
    for _ in range(_START_CORNERS):
        z += problem.indicator(problem.random_placement(rng)) / _START_CORNERS
    return z


def frank_wolfe(problem: ClusteringProblem, start: Floats, iterations: int) -> Relaxed:
    """Minimise h over the hull from ``start`` (T×K), and round every iterate; it counts too."""
    scale = problem.scale / (2 * problem.cost.intervals)
    z = start
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
        trace.append((objective, gap))
        if iteration == iterations - 1 or gap <= 0:
            break
        corner_scores = problem.cost.scores(corner)
        change = direction - (corner_scores - scores)
        curvature = float(np.vdot(direction, change))
        step = min(1.0, slope / curvature) if curvature > 0 else 1.0
        z = z + step * direction
        scores = scores + step * (corner_scores - scores)
    return Relaxed(z, scores, objective, gap, tuple(roundings), tuple(trace))


class IncrementalWeights:
    """W* as a sum of contributions of the videos, updated as placements change."""

    def __init__(self, problem: ClusteringProblem, places: Places) -> None:
        self.problem = problem
        self.places = places.copy()
        videos, steps = places.shape
        sums = [problem.features_at(n, row) for n, row in enumerate(places)]
        each = problem.cost.weights_of(np.concatenate(sums, axis=1), np.ones(places.size))
        self._matrices = [m.copy() for m in np.split(each.matrix, videos, axis=1)]
        self._biases = each.bias.reshape(videos, steps)
        self._matrix = sum(self._matrices, np.zeros_like(self._matrices[0]))
        self._bias = self._biases.sum(axis=0)

    @property
    def weights(self) -> Weights:
        """W* and b* of the current placements."""
        return Weights(self._matrix, self._bias)

    def scores_without(self, video: int) -> Floats:
        """Return the scores of one video by the classifier of all the others, T_n×K."""
        others = Weights(self._matrix - self._matrices[video], self._bias - self._biases[video])
        return self.problem.cost.scores_of(others, video)

    def update(self, video: int, places: Places) -> None:
        """Change the placement of one video."""
        moved = np.flatnonzero(places != self.places[video])
        weights = self.problem.cost.weights_of(
            self.problem.features_at(video, places[moved]), np.ones(len(moved))
        )
        self._matrix[:, moved] += weights.matrix - self._matrices[video][:, moved]
        self._bias[moved] += weights.bias - self._biases[video, moved]
        self._matrices[video][:, moved] = weights.matrix
        self._biases[video, moved] = weights.bias
        self.places[video] = places


def descent(problem: ClusteringProblem, rng: np.random.Generator) -> tuple[float, Places]:
    """Lower the integer objective until no change of a single video lowers it further.

    ``rng`` draws the first placement, and the order of the videos. Returns scale·h, and the places
    (N×K).
    """
    current = IncrementalWeights(problem, problem.random_placement(rng))
    diagonal = problem.cost.diagonal
    steps = np.arange(problem.steps)
    for _ in range(SWEEPS):
        moved = False
        for video in rng.permutation(problem.videos):
            cost = diagonal[problem.rows(video), None] - 2.0 * current.scores_without(video)
            old, new = current.places[video], problem.place(video, cost)
            saved = float(cost[old, steps].sum()) - float(cost[new, steps].sum())
            if (new != old).any() and saved > 1e-12:
                current.update(video, new)
                moved = True
        if not moved:
            break
    return problem.objective(current.places, current.weights), current.places
