"""The null distribution of a step's score: what a step at random places reaches.

A *null sample* is a step whose places were drawn at random in every video. Its classifier, learnt
from the other videos, also finds a best interval in each video, by coincidence alone. These best
scores are the null distribution that the score of a real step is compared with: for the confidence
of a located step, and for the cost at which a step counts as absent. A null sample searches the
same windows as the step it stands for, so the maximum is taken over as many intervals.

The classifier of a real step is stronger than that of a null sample, also on videos that lack the
step. Scores are therefore compared in units of their own spread over the video:
(s − median)/deviation, where the deviation is the median one, which a few intervals that truly show
the step do not change.
"""

from collections.abc import Sequence

import numpy as np

from howsteps.localise.descent import Shares
from howsteps.localise.oracle import Floats, Mask, Places
from howsteps.localise.problem import ClusteringProblem

PRESENCE_LEVEL = 0.9  # a step is present when it beats this share of the null samples …
# … by this factor: in a video without the step, the classifier of a real step still finds higher
# scores than a null sample does, because the rows it was learnt from agree with one another.
_MARGIN = 2.0


def robust_spread(scores: Floats) -> tuple[Floats, Floats]:
    """Median and median deviation of every step's scores over one video."""
    middle: Floats = np.median(scores, axis=0)
    deviation: Floats = np.median(np.abs(scores - middle), axis=0)
    return middle, np.maximum(deviation, 1e-12)


def null_scores(problem: ClusteringProblem, places: Places, seed: int = 0) -> Floats:
    """Best score of a null sample in the window of every step, N×K: its height, times the margin.

    Null samples are drawn from, and search, the intervals where no step was found (``places``), as
    far as there are enough.
    """
    rng = np.random.default_rng(seed)
    elsewhere = []
    for n, window in enumerate(problem.windows):
        free = np.ones(len(window), np.bool_)
        free[places[n][places[n] >= 0]] = False
        elsewhere.append(free if free.sum() >= problem.steps else np.ones_like(free))
    sampled = np.array(
        [rng.choice(np.flatnonzero(free), problem.steps, replace=False) for free in elsewhere]
    )
    shares = Shares(problem, sampled)
    best = []
    for n, (window, free) in enumerate(zip(problem.windows, elsewhere, strict=True)):
        scores = shares.others(n)
        middle, deviation = robust_spread(scores)
        searched = window & free[:, None]
        searched[:, ~searched.any(axis=0)] = True
        best.append((np.where(searched, scores, -np.inf).max(axis=0) - middle) / deviation)
    return _MARGIN * np.array(best)


def leave_one_out_scores(problem: ClusteringProblem, places: Places) -> tuple[Floats, ...]:
    """Scores of every video by the classifier of all the *other* videos, T_n×K each."""
    shares = Shares(problem, places)
    return tuple(shares.others(n) for n in range(problem.videos))


def confidences(places: Places, scores: Sequence[Floats], null: Floats) -> Floats:
    """Share of the null samples that each located step beats, N×K in [0, 1]; 0 where absent."""
    ordered = np.sort(null, axis=None)
    out = np.zeros(places.shape)
    for n, score in enumerate(scores):
        middle, deviation = robust_spread(score)
        for k in np.flatnonzero(places[n] >= 0):
            height = (score[places[n, k], k] - middle[k]) / deviation[k]
            out[n, k] = np.searchsorted(ordered, height) / len(ordered)
    return out


def absence_costs(
    scores: Sequence[Floats],
    null: Floats,
    windows: Sequence[Mask],
    own: Floats,
) -> Floats:
    """Cost of leaving each step out, in units of 2T·h, N×K.

    Placing a step costs B_tt − 2s, so that B_tt − 2θ, with the usual B_tt of the video (``own``,
    N), makes a step absent when its score s is below θ. θ lies as many deviations over the median
    of the video as nine null samples in ten stay under, margin included. A step that the narration
    names in a video is present there: its cost is infinite.
    """
    height = float(np.quantile(null, PRESENCE_LEVEL))
    costs = np.empty((len(windows), windows[0].shape[1]))
    for n, (score, window) in enumerate(zip(scores, windows, strict=True)):
        middle, deviation = robust_spread(score)
        named = ~window.all(axis=0)
        costs[n] = np.where(named, np.inf, own[n] - 2.0 * (middle + height * deviation))
    return costs
