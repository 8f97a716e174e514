"""Discriminative clustering, the paper's method: from features and windows to placements."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from howsteps.errors import unknown_name
from howsteps.localise import authors
from howsteps.localise.cost import AUTHORS_BIAS, PAPER_BIAS, ClusteringCost, Weights
from howsteps.localise.descent import descent
from howsteps.localise.extents import StepIntervals, locate
from howsteps.localise.frank_wolfe import AUTHORS_ITERATIONS, PAPER_ITERATIONS, frank_wolfe
from howsteps.localise.interior_point import interior_point
from howsteps.localise.null_scores import absence_costs, leave_one_out_scores, null_scores
from howsteps.localise.oracle import Floats, Mask, Places
from howsteps.localise.problem import (
    ClusteringProblem,
    LocaliseError,
    Relaxed,
    TracePoint,
    checked_features,
    checked_windows,
)
from howsteps.localise.windows import RelaxedWindow, relax

ClusteringMode: TypeAlias = Literal["paper", "authors"]
ClusteringSolver: TypeAlias = Literal["combined", "descent", "frank-wolfe", "interior"]
AUTHORS_VIDEOS = 30  # the constant N in the authors' λ


@dataclass(frozen=True)
class Clustering:
    """The placement of every step in every video, and how it was found.

    Attributes
    ----------
    intervals
        N×K: the interval of each step, −1 where it is absent.
    objective
        h of that placement.
    relaxed_objective, duality_gap
        h of the best relaxed solution, and its duality gap: their difference is a lower bound of h
        over all placements. None for a solver without a bound.
    weights
        W* and b* of the placement.
    trace
        Seconds, objective and gap of the solver.
    relaxed_windows
        Windows that contradicted the order and were relaxed.
    roundings
        Placements that were visited after the chosen one: the worst and the best score among them
        are the paper's error bars.
    windows
        T_n×K per video: the given windows.
    """

    intervals: Places
    objective: float
    relaxed_objective: float | None
    duality_gap: float | None
    weights: Weights
    trace: tuple[TracePoint, ...]
    relaxed_windows: tuple[RelaxedWindow, ...]
    roundings: tuple[Places, ...]
    windows: tuple[Mask, ...] = field(repr=False)
    _problem: ClusteringProblem = field(repr=False)
    _all_present: Places = field(repr=False)
    _seed: int = field(repr=False)

    @cached_property
    def scores(self) -> tuple[Floats, ...]:
        """T_n×K per video: scores by the classifier of the *other* videos; on first use."""
        return leave_one_out_scores(self._problem, self.intervals)

    @cached_property
    def null_scores(self) -> Floats:
        """N×K: scores of null samples (:mod:`howsteps.localise.null_scores`); on first use."""
        return null_scores(self._problem, self._all_present, self._seed)

    @cached_property
    def located(self) -> StepIntervals:
        """The placement with extent, confidence and evidence; computed on first use."""
        return locate(self.intervals, self.scores, self.null_scores, self.windows)


def cluster(
    features: Sequence[ArrayLike],
    windows: Sequence[ArrayLike] | None = None,
    *,
    steps: int,
    regularisation: float | None = None,
    mode: ClusteringMode = "paper",
    solver: ClusteringSolver | None = None,
    support: ArrayLike | None = None,
    absent: bool = False,
    restarts: int = 0,
    tolerance: float = 1e-6,
    iterations: int | None = None,
    seed: int = 0,
    device: str = "cpu",
) -> Clustering:
    """Find the interval of every step in every video by discriminative clustering.

    Minimises h(Z) (:mod:`howsteps.localise.cost`) over the placements that keep the steps in order
    inside their windows.

    Parameters
    ----------
    features
        T_n×d per video (arrays or lists of lists), best in float32: most other types are copied.
        They may be memory-mapped.
    windows
        T_n×K booleans per video: where each step is allowed. None: everywhere.
    steps
        K.
    regularisation
        λ; 1/(N·K) when None, 1/(30·K) in the ``authors`` mode.
    mode
        ``paper``, or ``authors``: unregularised bias, twice h, windows as in
        :mod:`howsteps.localise.authors`.
    solver
        ``combined`` (the default: interior point, rounding, descent), ``descent``,
        ``frank-wolfe`` (the default of the ``authors`` mode), or ``interior``; the last two round
        the relaxed point.
    support
        N×K weight of each window, for the choice of those to relax if they contradict the order.
    absent
        Leave a step that is not named out of a video if its score is no better than that of null
        samples.
    restarts
        Number of additional random starts of the descent.
    tolerance
        Relative duality gap at which ``interior`` and ``combined`` stop. ``frank-wolfe`` runs all
        iterations, because the paper's error bars need its roundings.
    iterations
        Maximum number of iterations of the relaxed solver; None: its default (``frank-wolfe``: 200,
        or 650 in the ``authors`` mode).
    seed
        Seed of all random choices.
    device
        ``cpu``, ``cuda`` or ``torch-cpu``: where Gram matrix, factorisation and scores are
        computed.

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
        raise LocaliseError(unknown_name("mode", mode, get_args(ClusteringMode)))
    if mode == "authors" and absent:
        raise LocaliseError("mode 'authors' places every step: it does not go with absent=True")
    if regularisation is not None and not regularisation > 0:
        raise LocaliseError(f"the regularisation is a positive number, not {regularisation}")
    videos = checked_features(features, steps)
    allowed = checked_windows(windows, [len(x) for x in videos], steps)
    as_authors = mode == "authors"
    if regularisation is None:
        regularisation = 1.0 / ((AUTHORS_VIDEOS if as_authors else len(videos)) * steps)
    feasible, relaxed_windows = (allowed, ()) if as_authors else relax(allowed, support)
    problem = ClusteringProblem(
        ClusteringCost(videos, regularisation, AUTHORS_BIAS if as_authors else PAPER_BIAS, device),
        feasible,
        scale=2.0 if as_authors else 1.0,
        forbidden=authors.FORBIDDEN if as_authors else None,
    )
    name = solver or ("frank-wolfe" if as_authors else "combined")
    relaxed = _relax(problem, name, mode, tolerance, iterations, seed)
    trace = () if relaxed is None else relaxed.trace
    start = None if relaxed is None else relaxed.roundings[relaxed.chosen][1]
    if start is None or name == "combined":
        places, descent_trace = _descend(problem, start, restarts, seed)
        trace = (*trace, *descent_trace)
    else:
        places = start
    all_present = places
    if absent:
        null = null_scores(problem, places, seed)
        leverages = problem.cost.leverages
        diagonal = np.array([1 - np.median(leverages[problem.rows(n)]) for n in range(len(videos))])
        costs = absence_costs(leave_one_out_scores(problem, places), null, feasible, diagonal)
        problem = ClusteringProblem(problem.cost, feasible, absence=costs)
        improved = descent(problem, places, seed=seed)
        places, trace = improved.places, (*trace, *improved.trace)
    if as_authors:
        window_support = None if support is None else np.asarray(support, np.float64)
        relaxed_windows = tuple(
            RelaxedWindow(n, k, 1.0 if window_support is None else float(window_support[n, k]))
            for n, window in enumerate(feasible)
            for k in authors.violated(places[n], window)
        )
    weights = problem.cost.weights(problem.indicator(places))
    return Clustering(
        intervals=places,
        objective=problem.objective(places, weights),
        relaxed_objective=None if relaxed is None else relaxed.objective,
        duality_gap=None if relaxed is None else relaxed.gap,
        weights=weights,
        trace=trace,
        relaxed_windows=relaxed_windows,
        roundings=()
        if relaxed is None
        else tuple(rounded for _, rounded in relaxed.roundings[relaxed.chosen + 1 :]),
        windows=allowed,
        _problem=problem,
        _all_present=all_present,
        _seed=seed,
    )


def _relax(
    problem: ClusteringProblem,
    solver: str,
    mode: str,
    tolerance: float,
    iterations: int | None,
    seed: int,
) -> Relaxed | None:
    """Solve the relaxed problem; None for a solver that does not."""
    if solver == "descent":
        return None
    if solver in ("combined", "interior"):
        return interior_point(problem, tolerance=tolerance, iterations=iterations or 200)
    if solver == "frank-wolfe":
        default = AUTHORS_ITERATIONS if mode == "authors" else PAPER_ITERATIONS
        return frank_wolfe(problem, iterations=iterations or default, seed=seed)
    raise LocaliseError(unknown_name("solver", solver, get_args(ClusteringSolver)))


def _descend(
    problem: ClusteringProblem, start: Places | None, restarts: int, seed: int
) -> tuple[Places, tuple[TracePoint, ...]]:
    """Return the best of a descent from ``start`` and of those from random placements."""
    runs = [descent(problem, start, seed=seed)]
    runs += [descent(problem, seed=seed + 1 + restart) for restart in range(restarts)]
    best = min(runs, key=lambda run: run.objective)
    return best.places, tuple(point for run in runs for point in run.trace)
