"""Discriminative clustering, Section 4.2 as a whole: from features and windows to placements."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from howsteps.errors import HowstepsError, unknown_name
from howsteps.localise.features import Places, checked_features, checked_windows
from howsteps.localise.ridge import Weights
from howsteps.paper.clustering_problem import (
    AUTHORS_BIAS,
    PAPER_BIAS,
    ClusteringCost,
    ClusteringProblem,
)
from howsteps.paper.clustering_solvers import (
    AUTHORS_ITERATIONS,
    PAPER_ITERATIONS,
    Relaxed,
    descent,
    frank_wolfe,
    mean_of_random_corners,
)
from howsteps.paper.windows import FORBIDDEN, relax

ClusteringMode: TypeAlias = Literal["paper", "authors"]
ClusteringSolver: TypeAlias = Literal["frank-wolfe", "descent"]
AUTHORS_VIDEOS = 30  # the constant N in the authors' λ


@dataclass(frozen=True)
class Clustering:
    """The placement of every step in every video, and how it was found.

    Attributes
    ----------
    intervals
        N×K: the interval of each step.
    objective
        h of that placement.
    relaxed_objective, duality_gap
        h of the last relaxed solution, and its duality gap: their difference is a lower bound of h
        over all placements. None after a descent.
    weights
        W* and b* of the placement.
    relaxed_windows
        Video and step of the windows that contradicted the order and were relaxed; the
        ``authors`` mode violates them without notice.
    roundings
        Placements that were visited after the chosen one: the worst and the best score among them
        are the paper's error bars.
    """

    intervals: Places
    objective: float
    relaxed_objective: float | None
    duality_gap: float | None
    weights: Weights
    relaxed_windows: tuple[tuple[int, int], ...]
    roundings: tuple[Places, ...]


def cluster(
    features: Sequence[ArrayLike],
    windows: Sequence[ArrayLike] | None = None,
    *,
    steps: int,
    regularisation: float | None = None,
    mode: ClusteringMode = "paper",
    solver: ClusteringSolver = "frank-wolfe",
    support: ArrayLike | None = None,
    iterations: int | None = None,
    starts: int = 4,
    seed: int = 0,
) -> Clustering:
    """Find the interval of every step in every video by discriminative clustering.

    Minimises h(Z) (:mod:`howsteps.paper.clustering_problem`) over the placements that keep the
    steps in order inside their windows.

    Parameters
    ----------
    features
        T_n×d per video, best in float32: most other types are copied. They may be memory-mapped.
    windows
        T_n×K booleans per video: where each step is allowed. None: everywhere.
    regularisation
        λ; 1/(N·K) when None, 1/(30·K) in the ``authors`` mode.
    mode
        ``paper``, or ``authors``: unregularised bias, twice h, windows as in their program.
    solver
        ``frank-wolfe``, as in the paper, with its best rounding; or ``descent``, one video at a
        time: the best of several random starts, with a lower h in less time.
    support
        N×K weight of each window, for the choice of those to relax if they contradict the order.
    iterations
        Of Frank-Wolfe; None: 200, or 650 in the ``authors`` mode. All are made, for the error bars.
    starts
        Of the descent.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> videos = [rng.random((20, 4), dtype=np.float32) for _ in range(3)]
    >>> for x in videos:
    ...     x[5] += (3, 0, 0, 0)
    ...     x[12] += (0, 3, 0, 0)
    >>> cluster(videos, steps=2).intervals
    array([[ 5, 12],
           [ 5, 12],
           [ 5, 12]])
    """
    if mode not in get_args(ClusteringMode):
        raise HowstepsError(unknown_name("mode", mode, get_args(ClusteringMode)))
    if solver not in get_args(ClusteringSolver):
        raise HowstepsError(unknown_name("solver", solver, get_args(ClusteringSolver)))
    if regularisation is not None and not regularisation > 0:
        raise HowstepsError(f"the regularisation is a positive number, not {regularisation}")
    videos = checked_features(features, steps)
    allowed = checked_windows(windows, [len(x) for x in videos], steps)
    as_authors = mode == "authors"
    if regularisation is None:
        regularisation = 1.0 / ((AUTHORS_VIDEOS if as_authors else len(videos)) * steps)
    feasible, relaxed_windows = (allowed, ()) if as_authors else relax(allowed, support)
    problem = ClusteringProblem(
        ClusteringCost(videos, regularisation, AUTHORS_BIAS if as_authors else PAPER_BIAS),
        feasible,
        scale=2.0 if as_authors else 1.0,
        forbidden=FORBIDDEN if as_authors else None,
    )
    relaxed: Relaxed | None = None
    if solver == "frank-wolfe":
        default = AUTHORS_ITERATIONS if as_authors else PAPER_ITERATIONS
        start = mean_of_random_corners(problem, np.random.default_rng(seed))
        relaxed = frank_wolfe(problem, start, iterations or default)
        places = relaxed.roundings[relaxed.chosen][1]
    else:
        generators = (np.random.default_rng((seed, start)) for start in range(max(1, starts)))
        _, places = min((descent(problem, rng) for rng in generators), key=lambda run: run[0])
    weights = problem.cost.weights(problem.indicator(places))
    return Clustering(
        intervals=places,
        objective=problem.objective(places, weights),
        relaxed_objective=None if relaxed is None else relaxed.objective,
        duality_gap=None if relaxed is None else relaxed.gap,
        weights=weights,
        relaxed_windows=relaxed_windows,
        roundings=()
        if relaxed is None
        else tuple(rounded for _, rounded in relaxed.roundings[relaxed.chosen + 1 :]),
    )
