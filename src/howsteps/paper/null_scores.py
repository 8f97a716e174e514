"""The null distribution of the score of a step: best scores of steps at random places.

A *null sample* is a step whose place was drawn at random in every video. Its classifier, trained on
the other videos, also has a best interval in each video, by chance. The scores of a real step are
compared with these best scores: for the confidence of a placed step, and for the cost of absence. A
null sample searches the same windows as the step it stands for, so that both maxima are taken over
equally many intervals.

The classifier of a real step has a larger spread of scores than that of a null sample, also in
videos without the step. Scores are therefore compared as (s − median)/MAD over the video, where the
median absolute deviation is robust to the few intervals that show the step.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from howsteps.localise.decision import StepIntervals, extents
from howsteps.localise.features import Floats, Mask, Places
from howsteps.paper.clustering_problem import ClusteringProblem
from howsteps.paper.clustering_solvers import IncrementalWeights
from howsteps.task import BETWEEN, LIKE_SEEN, SAID

PRESENCE_LEVEL = 0.9  # share of the null samples that the score of a present step exceeds

# Factor on null scores: in a video without the step, the classifier of a real step still finds
# higher scores than a null sample does, because its training examples are alike.
_MARGIN = 2.0


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
        free[places[n][places[n] >= 0]] = False
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


def leave_one_out_scores(problem: ClusteringProblem, places: Places) -> tuple[Floats, ...]:
    """Return the scores of every video by the classifier of the *other* videos, T_n×K each."""
    classifier = IncrementalWeights(problem, places)
    return tuple(classifier.scores_without(n) for n in range(problem.videos))


def confidences(places: Places, scores: Sequence[Floats], null: Floats) -> Floats:
    """Return the share of the null samples with a lower score, N×K; 0 where a step is absent."""
    ordered = np.sort(null, axis=None)
    confidence = np.zeros(places.shape)
    for n, score in enumerate(scores):
        median, deviation = robust_spread(score)
        for k in np.flatnonzero(places[n] >= 0):
            height = (score[places[n, k], k] - median[k]) / deviation[k]
            confidence[n, k] = np.searchsorted(ordered, height) / len(ordered)
    return confidence


def absence_costs(
    scores: Sequence[Floats],
    null: Floats,
    windows: Sequence[Mask],
    diagonal: Floats,
) -> Floats:
    """Return the cost of leaving each step out, in units of 2T·h, N×K.

    Placing a step costs B_tt − 2s. So with the cost B_tt − 2θ, where B_tt is a typical one of the
    video (``diagonal``, N), a step is absent if its score s is below θ. The standardised θ is the
    quantile of the null scores at ``PRESENCE_LEVEL``. A step that the narration names is always
    present: its cost is infinite.
    """
    height = float(np.quantile(null, PRESENCE_LEVEL))
    costs = np.empty((len(windows), windows[0].shape[1]))
    for n, (score, window) in enumerate(zip(scores, windows, strict=True)):
        median, deviation = robust_spread(score)
        named = ~window.all(axis=0)
        costs[n] = np.where(named, np.inf, diagonal[n] - 2.0 * (median + height * deviation))
    return costs


def locate(
    intervals: ArrayLike,
    scores: Sequence[ArrayLike],
    null: ArrayLike,
    windows: Sequence[ArrayLike] | None = None,
    *,
    alike: str = LIKE_SEEN,
) -> StepIntervals:
    """Add extent, confidence and evidence to placements.

    Parameters
    ----------
    intervals
        N×K, −1 where a step is absent.
    scores
        T_n×K per video, by a classifier that was not trained on that video.
    null
        Scores of null samples, of any shape (:func:`null_scores`).
    windows
        T_n×K per video; a step whose window excludes some interval is named by the narration.
    alike
        The evidence of a step that scores higher than nine null samples in ten: *looks
        like the others* or *like what others say*, depending on the features.
    """
    intervals = np.asarray(intervals, np.int64)
    rows = [np.asarray(score, np.float64) for score in scores]
    confidence = confidences(intervals, rows, np.asarray(null, np.float64))
    first, last = np.full(intervals.shape, -1), np.full(intervals.shape, -1)
    for n, (places, score) in enumerate(zip(intervals, rows, strict=True)):
        first[n], last[n] = extents(places, score)
    named = np.zeros(intervals.shape, np.bool_)
    if windows is not None:
        named = np.array([~np.asarray(window, np.bool_).all(axis=0) for window in windows])
    evidence = np.select(
        [intervals < 0, named, confidence >= PRESENCE_LEVEL], ["", SAID, alike], default=BETWEEN
    )
    presence = (intervals >= 0).astype(np.float64)
    return StepIntervals(intervals, first, last, confidence, evidence, presence)
