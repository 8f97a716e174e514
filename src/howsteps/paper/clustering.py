"""Discriminative clustering, the paper's method: from features and windows to placements."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from howsteps.errors import unknown_name
from howsteps.localise.decision import StepIntervals
from howsteps.localise.features import (
    Floats,
    LocaliseError,
    Mask,
    Places,
    checked_features,
    checked_windows,
)
from howsteps.localise.model import ModelOptions, SavedModel
from howsteps.localise.order import cheapest_placement
from howsteps.localise.ridge import Weights
from howsteps.localise.self_training import LEARNING_OPTIONS
from howsteps.localise.word_evidence import RelaxedWindow
from howsteps.paper.clustering_problem import (
    AUTHORS_BIAS,
    PAPER_BIAS,
    ClusteringCost,
    ClusteringProblem,
    Relaxed,
    TracePoint,
)
from howsteps.paper.clustering_solvers import (
    AUTHORS_ITERATIONS,
    PAPER_ITERATIONS,
    descent,
    frank_wolfe,
)
from howsteps.paper.interior_point import interior_point
from howsteps.paper.null_scores import absence_costs, leave_one_out_scores, locate, null_scores
from howsteps.paper.windows import FORBIDDEN, relax, violated
from howsteps.task import LIKE_SEEN

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
        """N×K: scores of null samples (:mod:`howsteps.paper.null_scores`); on first use."""
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
) -> Clustering:
    """Find the interval of every step in every video by discriminative clustering.

    Minimises h(Z) (:mod:`howsteps.paper.clustering_problem`) over the placements that keep the
    steps in order inside their windows.

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
        :mod:`howsteps.paper.windows`.
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
        ClusteringCost(videos, regularisation, AUTHORS_BIAS if as_authors else PAPER_BIAS),
        feasible,
        scale=2.0 if as_authors else 1.0,
        forbidden=FORBIDDEN if as_authors else None,
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
        diagonal = np.array(
            [np.median(problem.cost.diagonal[problem.rows(n)]) for n in range(len(videos))]
        )
        costs = absence_costs(leave_one_out_scores(problem, places), null, feasible, diagonal)
        problem = ClusteringProblem(problem.cost, feasible, absence=costs)
        improved = descent(problem, places, seed=seed)
        places, trace = improved.places, (*trace, *improved.trace)
    if as_authors:
        window_support = None if support is None else np.asarray(support, np.float64)
        relaxed_windows = tuple(
            RelaxedWindow(n, k, 1.0 if window_support is None else float(window_support[n, k]))
            for n, window in enumerate(feasible)
            for k in violated(places[n], window)
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


@dataclass(frozen=True)
class ClusteringModel(SavedModel):
    """What a clustering has learnt, for new videos."""

    modes: ClassVar[tuple[str, ...]] = get_args(ClusteringMode)

    @staticmethod
    def learnt(
        clustering: Clustering, steps: Sequence[str], options: ModelOptions | None = None
    ) -> "ClusteringModel":
        """Return the model of a clustering; ``steps`` are the labels of its steps."""
        if len(steps) != clustering.intervals.shape[1]:
            raise LocaliseError(f"{len(steps)} labels for {clustering.intervals.shape[1]} steps")
        return ClusteringModel(
            tuple(steps),
            clustering.weights,
            np.sort(clustering.null_scores, axis=None),
            options or ModelOptions(),
        )

    def localise(
        self,
        features: Sequence[ArrayLike],
        windows: Sequence[ArrayLike] | None = None,
        *,
        absent: bool = False,
    ) -> StepIntervals:
        """Localise the steps in new videos.

        Parameters
        ----------
        features
            T_n×d per video.
        windows
            T_n×K per video: where the narration allows each step. Windows that contradict the order
            are relaxed (:func:`~howsteps.paper.windows.relax`). None: everywhere.
        absent
            Leave out the steps that are probably not in a video.
        """
        videos = self.checked_videos(features)
        allowed = checked_windows(windows, [len(x) for x in videos], len(self.steps))
        relaxed, _ = relax(allowed)
        scores = [self.weights.scores(x) for x in videos]
        absence = absence_costs(scores, self.null_scores, relaxed, np.ones(len(videos)))
        places = [
            # Least squares: ‖z − s‖² changes by 1 − 2s where z becomes 1.
            cheapest_placement(1.0 - 2.0 * score, window, absence[n] if absent else None)
            for n, (score, window) in enumerate(zip(scores, relaxed, strict=True))
        ]
        options = LEARNING_OPTIONS.get(self.options.learnt_from)
        alike = options.alike if options else LIKE_SEEN
        return locate(np.array(places), scores, self.null_scores, relaxed, alike=alike)


class StepLocaliser:
    """Localise the steps of a task in videos.

    Parameters
    ----------
    steps
        K, or the names of the steps in order. None: the number of columns of the windows.
    mode, solver, regularisation, absent, restarts, tolerance, iterations, seed
        As for :func:`cluster`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> videos = [rng.random((20, 4), dtype=np.float32) for _ in range(4)]
    >>> for x in videos:
    ...     x[5] += (3, 0, 0, 0)
    ...     x[12] += (0, 3, 0, 0)
    >>> localiser = StepLocaliser(steps=["boil", "pour"]).fit(videos[:3])
    >>> localiser.predict(videos[3:])
    array([[ 5, 12]])
    """

    def __init__(
        self,
        steps: int | Sequence[str] | None = None,
        *,
        mode: ClusteringMode = "paper",
        solver: ClusteringSolver | None = None,
        regularisation: float | None = None,
        absent: bool = False,
        restarts: int = 0,
        tolerance: float = 1e-6,
        iterations: int | None = None,
        seed: int = 0,
    ) -> None:
        self.steps = steps
        self.mode = mode
        self.regularisation = regularisation
        self.absent = absent
        self._options: dict[str, Any] = {
            "solver": solver,
            "restarts": restarts,
            "tolerance": tolerance,
            "iterations": iterations,
            "seed": seed,
        }
        self._clustering: Clustering | None = None
        self._model: ClusteringModel | None = None

    def fit(
        self,
        features: Sequence[ArrayLike],
        windows: Sequence[ArrayLike] | None = None,
        *,
        support: ArrayLike | None = None,
    ) -> Self:
        """Cluster the features of some videos, and learn a linear classifier of each step.

        Parameters
        ----------
        features
            T_n×d per video.
        windows
            T_n×K per video: where the narration allows each step. None: everywhere.
        support
            N×K: weight of each window, for those that contradict the order.
        """
        names = self._names(windows)
        self._clustering = cluster(
            features,
            windows,
            steps=len(names),
            mode=self.mode,
            regularisation=self.regularisation,
            support=support,
            absent=self.absent,
            **self._options,
        )
        self._model = None
        return self

    def predict(
        self, features: Sequence[ArrayLike], windows: Sequence[ArrayLike] | None = None
    ) -> Places:
        """Return the interval of every step in new videos, N×K; −1 where a step is absent."""
        return self.locate(features, windows).intervals

    def fit_predict(
        self, features: Sequence[ArrayLike], windows: Sequence[ArrayLike] | None = None
    ) -> Places:
        """Fit, and return the interval of every step in these videos, N×K."""
        return self.fit(features, windows).clustering.intervals

    def locate(
        self, features: Sequence[ArrayLike], windows: Sequence[ArrayLike] | None = None
    ) -> StepIntervals:
        """Return the places in new videos with extent, confidence and evidence."""
        return self.model.localise(features, windows, absent=self.absent)

    @property
    def clustering(self) -> Clustering:
        """The result of :func:`cluster` for the videos of :meth:`fit`."""
        if self._clustering is None:
            raise LocaliseError("the localiser is not fitted: call fit(features, windows) first")
        return self._clustering

    @property
    def model(self) -> ClusteringModel:
        """The model that :meth:`predict` uses; it can be saved."""
        if self._model is None:
            names = self._names(self.clustering.windows)
            options = ModelOptions(self.mode, self.regularisation)
            self._model = ClusteringModel.learnt(self.clustering, names, options)
        return self._model

    @property
    def weights(self) -> Weights:
        """W (d×K) and b (K) of the linear classifiers."""
        return self.clustering.weights

    @property
    def scores(self) -> tuple[Floats, ...]:
        """T_n×K per video of :meth:`fit`: scores by the classifier of the other videos."""
        return self.clustering.scores

    def _names(self, windows: Sequence[ArrayLike] | None) -> list[str]:
        if isinstance(self.steps, str):
            raise LocaliseError(f"steps are a number or a list of names, not {self.steps!r}")
        if self.steps is None:
            if windows is None or not len(windows) or np.ndim(windows[0]) != 2:
                raise LocaliseError("the number of steps is not known: give steps or windows")
            return [f"step {k}" for k in range(np.shape(windows[0])[1])]
        if isinstance(self.steps, int | np.integer):
            return [f"step {k}" for k in range(self.steps)]
        return list(self.steps)
