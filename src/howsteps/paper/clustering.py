"""Discriminative clustering, the paper's method: from features and windows to placements.

Confidence comes from the null distribution of the score of a step. A *null sample* is a step whose
place was drawn at random in every video. Its classifier, trained on the other videos, also has a
best interval in each video, by chance. A null sample searches the same windows as the step it
stands for, so that both maxima are taken over equally many intervals.

The classifier of a real step has a larger spread of scores than that of a null sample, also in
videos without the step. Scores are therefore compared as (s − median)/MAD over the video, where the
median absolute deviation is robust to the few intervals that show the step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from howsteps.errors import HowstepsError, unknown_name
from howsteps.localise.decision import StepIntervals, extents
from howsteps.localise.features import (
    Floats,
    Mask,
    Places,
    checked_features,
    checked_windows,
)
from howsteps.localise.ridge import Weights
from howsteps.localise.windows import RelaxedWindow
from howsteps.paper.clustering_problem import (
    AUTHORS_BIAS,
    FORBIDDEN,
    PAPER_BIAS,
    ClusteringCost,
    ClusteringProblem,
    relax,
    violated,
)
from howsteps.paper.clustering_solvers import (
    AUTHORS_ITERATIONS,
    PAPER_ITERATIONS,
    IncrementalWeights,
    Relaxed,
    descent,
    frank_wolfe,
    mean_of_random_corners,
)
from howsteps.task import BETWEEN, LIKE_SEEN, SAID

ClusteringMode: TypeAlias = Literal["paper", "authors"]
ClusteringSolver: TypeAlias = Literal["frank-wolfe", "descent"]
AUTHORS_VIDEOS = 30  # the constant N in the authors' λ
PRESENCE_LEVEL = 0.9  # share of the null samples that the score of a present step exceeds

# Factor on null scores: in a video without the step, the classifier of a real step still finds
# higher scores than a null sample does, because its training examples are alike.
_MARGIN = 2.0


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
        Windows that contradicted the order and were relaxed.
    roundings
        Placements that were visited after the chosen one: the worst and the best score among them
        are the paper's error bars.
    """

    intervals: Places
    objective: float
    relaxed_objective: float | None
    duality_gap: float | None
    weights: Weights
    relaxed_windows: tuple[RelaxedWindow, ...]
    roundings: tuple[Places, ...]
    _problem: ClusteringProblem = field(repr=False)
    _seed: int = field(repr=False)


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
    if as_authors:
        weight = np.ones((len(videos), steps)) if support is None else np.asarray(support, float)
        relaxed_windows = tuple(
            RelaxedWindow(n, k, float(weight[n, k]))
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
        relaxed_windows=relaxed_windows,
        roundings=()
        if relaxed is None
        else tuple(rounded for _, rounded in relaxed.roundings[relaxed.chosen + 1 :]),
        _problem=problem,
        _seed=seed,
    )


def robust_spread(scores: Floats) -> tuple[Floats, Floats]:
    """Return the median and median absolute deviation of scores over one video, K each."""
    median: Floats = np.median(scores, axis=0)
    deviation: Floats = np.median(np.abs(scores - median), axis=0)
    return median, np.maximum(deviation, 1e-12)


def null_scores(problem: ClusteringProblem, places: Places, seed: int = 0) -> Floats:
    """Return the best standardised score of a null sample of every step, times the margin; N×K.

    Null samples are drawn from, and search, the intervals outside ``places`` (N×K), if there are
    enough of them.
    """
    rng = np.random.default_rng(seed)
    free_by_video = []
    for n, window in enumerate(problem.windows):
        free = np.ones(len(window), np.bool_)
        free[places[n]] = False
        free_by_video.append(free if free.sum() >= problem.steps else np.ones_like(free))
    sampled = np.array(
        [rng.choice(np.flatnonzero(free), problem.steps, replace=False) for free in free_by_video]
    )
    classifier = IncrementalWeights(problem, sampled)
    best = []
    for n, (window, free) in enumerate(zip(problem.windows, free_by_video, strict=True)):
        scores = classifier.scores_without(n)
        median, deviation = robust_spread(scores)
        searched = window & free[:, None]
        searched[:, ~searched.any(axis=0)] = True
        best.append((np.where(searched, scores, -np.inf).max(axis=0) - median) / deviation)
    return _MARGIN * np.array(best)


def confidences(places: Places, scores: Sequence[Floats], null: Floats) -> Floats:
    """Return the share of the null samples with a lower score, N×K."""
    ordered = np.sort(null, axis=None)
    confidence = np.zeros(places.shape)
    for n, score in enumerate(scores):
        median, deviation = robust_spread(score)
        heights = (score[places[n], np.arange(places.shape[1])] - median) / deviation
        confidence[n] = np.searchsorted(ordered, heights) / len(ordered)
    return confidence


def locate(found: Clustering, windows: Sequence[Mask], *, alike: str = LIKE_SEEN) -> StepIntervals:
    """Add extent, confidence and evidence to placements, N×K.

    Videos are scored by the classifier of the *others*. A step whose window excludes some interval
    is named by the narration. ``alike`` is the evidence of a step that scores higher than nine null
    samples in ten: *looks like the others* or *like what others say*, depending on the features.
    """
    problem, intervals = found._problem, found.intervals
    classifier = IncrementalWeights(problem, intervals)
    scores = [classifier.scores_without(n) for n in range(problem.videos)]
    null = null_scores(problem, intervals, found._seed)
    confidence = confidences(intervals, scores, null)
    ends = [extents(places, score) for places, score in zip(intervals, scores, strict=True)]
    first, last = (np.array(each) for each in zip(*ends, strict=True))
    named = np.array([~window.all(axis=0) for window in windows])
    evidence = np.select([named, confidence >= PRESENCE_LEVEL], [SAID, alike], default=BETWEEN)
    return StepIntervals(intervals, first, last, confidence, evidence, np.ones(intervals.shape))
