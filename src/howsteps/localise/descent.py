"""Block-exact descent on the integer problem: one video at a time, each solved exactly.

A video has exactly one 1 per step, so with all other videos fixed h is linear in its placement:

    2T·h = const + Σ_k ( B_tt − 2 s_k(t) )  at t = t_k,

where s are the scores of the classifier of the *other* videos and B_tt = 1 − leverage of t. One
dynamic programme therefore finds the best placement of the video, and h never rises. W* is linear
in Z: each video's share of it is kept, so a visit costs a product with that video's rows, and the
d×d matrix is only touched for the steps that moved.
"""

import time
from dataclasses import dataclass

import numpy as np

from howsteps.localise.cost import Weights
from howsteps.localise.oracle import Floats, Places, placement_value
from howsteps.localise.problem import ClusteringProblem, TracePoint

_VIDEOS_A_PRODUCT = 8  # enough for the d×d product to run at full speed


@dataclass(frozen=True)
class Descent:
    """Where the descent ended.

    ``objective`` is h (times the scale), without the cost of absences.
    """

    places: Places
    objective: float
    weights: Weights
    trace: tuple[TracePoint, ...]


class Shares:
    """W* as a sum of the videos' shares, kept up to date as placements change."""

    def __init__(self, problem: ClusteringProblem, places: Places) -> None:
        self.problem = problem
        self.places = places.copy()
        videos, steps = places.shape
        width = problem.features_at(0, places[0]).shape[0]
        self._matrices = np.empty((videos, width, steps))
        self._biases = np.empty((videos, steps))
        for first in range(0, videos, _VIDEOS_A_PRODUCT):
            group = range(first, min(first + _VIDEOS_A_PRODUCT, videos))
            sums = np.concatenate([problem.features_at(n, places[n]) for n in group], axis=1)
            counts = (places[group.start : group.stop] >= 0).astype(np.float64)
            share = problem.cost.weights_of(sums, counts.ravel())
            for column, n in enumerate(group):
                own = slice(column * steps, (column + 1) * steps)
                self._matrices[n] = share.matrix[:, own]
                self._biases[n] = share.bias[own]
        self._matrix = self._matrices.sum(axis=0)
        self._bias = self._biases.sum(axis=0)

    @property
    def weights(self) -> Weights:
        """W* and b* of the placements."""
        return Weights(self._matrix.copy(), self._bias.copy())

    def others(self, video: int) -> Floats:
        """Scores of one video by the classifier of all the others, T_n×K."""
        rest = Weights(self._matrix - self._matrices[video], self._bias - self._biases[video])
        return self.problem.cost.scores_of(rest, video)

    def move(self, video: int, places: Places) -> None:
        """Give one video a new placement."""
        moved = np.flatnonzero(places != self.places[video])
        share = self.problem.cost.weights_of(
            self.problem.features_at(video, places[moved]), (places[moved] >= 0).astype(np.float64)
        )
        self._matrix[:, moved] += share.matrix - self._matrices[video][:, moved]
        self._bias[moved] += share.bias - self._biases[video, moved]
        self._matrices[video][:, moved] = share.matrix
        self._biases[video, moved] = share.bias
        self.places[video] = places


def descent(
    problem: ClusteringProblem, start: Places | None = None, *, seed: int = 0, sweeps: int = 100
) -> Descent:
    """Lower the integer objective until no single video can.

    Parameters
    ----------
    problem
        What to solve; with absence costs, steps may come and go.
    start
        Placement to begin at, N×K; a random one when None.
    seed
        Of the random start and of the order in which videos are visited.
    sweeps
        Most visits to every video.
    """
    began = time.perf_counter()
    rng = np.random.default_rng(seed)
    places = problem.random_placement(rng) if start is None else start
    own = 1.0 - problem.cost.leverages
    shares = Shares(problem, places)
    trace: list[TracePoint] = []
    for _ in range(sweeps):
        moved = False
        for video in rng.permutation(problem.videos):
            cost = own[problem.rows(video), None] - 2.0 * shares.others(video)
            absence = None if problem.absence is None else problem.absence[video]
            old, new = shares.places[video], problem.place(video, cost)
            saved = placement_value(cost, old, absence) - placement_value(cost, new, absence)
            if (new != old).any() and saved > 1e-12:
                shares.move(video, new)
                moved = True
        objective = problem.objective(shares.places, shares.weights)
        trace.append(TracePoint("descent", time.perf_counter() - began, objective))
        if not moved:
            break
    return Descent(shares.places, objective, shares.weights, tuple(trace))
