"""Block coordinate descent on the integer problem: one video at a time, each solved exactly.

A video has exactly one 1 per step, so with all other videos fixed, h is linear in its placement:

    2T·h = const + Σ_k ( B_tt − 2 s_k(t) )  at t = t_k,

where s are the scores of the classifier of the *other* videos and B_tt = 1 − leverage of t. One
dynamic program therefore finds the best placement of the video, and h never rises. W* is linear in
Z: the contribution of each video is kept, so an update costs a product with the rows of that video,
and the d×d matrix is used for the steps that moved only.
"""

import time
from dataclasses import dataclass

import numpy as np

from howsteps.localise.cost import Weights
from howsteps.localise.oracle import Floats, Places, placement_value
from howsteps.localise.problem import ClusteringProblem, TracePoint

_VIDEOS_PER_PRODUCT = 8  # enough for the d×d product to run at full speed


@dataclass(frozen=True)
class Descent:
    """The result of a descent.

    ``places`` is N×K; ``objective`` is scale·h, without the costs of absence.
    """

    places: Places
    objective: float
    weights: Weights
    trace: tuple[TracePoint, ...]


class IncrementalWeights:
    """W* as a sum of contributions of the videos, updated as placements change."""

    def __init__(self, problem: ClusteringProblem, places: Places) -> None:
        self.problem = problem
        self.places = places.copy()
        videos, steps = places.shape
        width = problem.features_at(0, places[0]).shape[0]
        self._matrices = np.empty((videos, width, steps))
        self._biases = np.empty((videos, steps))
        for first in range(0, videos, _VIDEOS_PER_PRODUCT):
            group = range(first, min(first + _VIDEOS_PER_PRODUCT, videos))
            sums = np.concatenate([problem.features_at(n, places[n]) for n in group], axis=1)
            counts = (places[group.start : group.stop] >= 0).astype(np.float64)
            weights = problem.cost.weights_of(sums, counts.ravel())
            for i, n in enumerate(group):
                columns = slice(i * steps, (i + 1) * steps)
                self._matrices[n] = weights.matrix[:, columns]
                self._biases[n] = weights.bias[columns]
        self._matrix = self._matrices.sum(axis=0)
        self._bias = self._biases.sum(axis=0)

    @property
    def weights(self) -> Weights:
        """W* and b* of the current placements."""
        return Weights(self._matrix.copy(), self._bias.copy())

    def scores_without(self, video: int) -> Floats:
        """Return the scores of one video by the classifier of all the others, T_n×K."""
        others = Weights(self._matrix - self._matrices[video], self._bias - self._biases[video])
        return self.problem.cost.scores_of(others, video)

    def update(self, video: int, places: Places) -> None:
        """Change the placement of one video."""
        moved = np.flatnonzero(places != self.places[video])
        weights = self.problem.cost.weights_of(
            self.problem.features_at(video, places[moved]), (places[moved] >= 0).astype(np.float64)
        )
        self._matrix[:, moved] += weights.matrix - self._matrices[video][:, moved]
        self._bias[moved] += weights.bias - self._biases[video, moved]
        self._matrices[video][:, moved] = weights.matrix
        self._biases[video, moved] = weights.bias
        self.places[video] = places


def descent(
    problem: ClusteringProblem, start: Places | None = None, *, seed: int = 0, sweeps: int = 100
) -> Descent:
    """Lower the integer objective until no change of a single video lowers it further.

    Parameters
    ----------
    problem
        The problem; with costs of absence, steps may also become absent or present.
    start
        Initial placement, N×K; a random one if None.
    seed
        Seed of the random start and of the order of the videos.
    sweeps
        Maximum number of passes over all videos.
    """
    began = time.perf_counter()
    rng = np.random.default_rng(seed)
    places = problem.random_placement(rng) if start is None else start
    diagonal = 1.0 - problem.cost.leverages
    current = IncrementalWeights(problem, places)
    trace: list[TracePoint] = []
    for _ in range(sweeps):
        moved = False
        for video in rng.permutation(problem.videos):
            cost = diagonal[problem.rows(video), None] - 2.0 * current.scores_without(video)
            absence = None if problem.absence is None else problem.absence[video]
            old, new = current.places[video], problem.place(video, cost)
            saved = placement_value(cost, old, absence) - placement_value(cost, new, absence)
            if (new != old).any() and saved > 1e-12:
                current.update(video, new)
                moved = True
        objective = problem.objective(current.places, current.weights)
        trace.append(TracePoint("descent", time.perf_counter() - began, objective))
        if not moved:
            break
    return Descent(current.places, objective, current.weights, tuple(trace))
