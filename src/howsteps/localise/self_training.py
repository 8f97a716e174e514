"""Self-training, the default localiser: learn each step where it is named, find it elsewhere.

A classifier of each step is learnt where it is named in the other videos
(:mod:`howsteps.localise.ridge`). Its scores and the video's own mentions
(:mod:`howsteps.localise.evidence`), with the order of the steps (:mod:`howsteps.localise.order`),
give the posterior probability that the step is being done at any time.

These posteriors are better labels than the mentions: near a mention they select what looks like
the step in other videos, and they also cover videos that do not name the step. So the classifiers
are learnt again from them for a few rounds. Further rounds let a step drift away from its mentions:
good scripts need few rounds, poor ones gain from more.

Features of frames and of the narration differ only in :class:`FeatureKind`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.localise.evidence import SegmentPrior, feature_changes, standardised
from howsteps.localise.features import Floats, Videos
from howsteps.localise.ridge import LeaveOneOut, Weights
from howsteps.task import LIKE_SAID, LIKE_SEEN

GRID = 1.0  # seconds: the grid of learning is no finer than this
REGULARISATION = 0.01  # λ
ROUNDS = 2  # number of times the classifiers are learnt again from the posteriors


@dataclass(frozen=True)
class FeatureKind:
    """How steps are learnt from one kind of features.

    Attributes
    ----------
    seen
        Whether these are features of frames. They tell the lag, Δ and the durations, which
        otherwise stay as they are, and are less the mean of each video: what a room, a person or a
        camera adds to all intervals.
    alike
        The evidence of a step that is found by these features alone.
    known
        What is known about its segments before anything is learnt: attributes of
        :class:`~howsteps.localise.evidence.SegmentPrior`.
    """

    seen: bool
    alike: str
    known: dict[str, Any]

    def coarsening(self, seconds: float) -> int:
        """Return how many intervals of ``seconds`` make one of the grid of learning."""
        return max(int(GRID / seconds + 1e-9), 1)

    def prepare(self, x: NDArray[np.floating], seconds: float) -> NDArray[np.float32]:
        """Return the features of one video as the classifiers take them, on the coarse grid."""
        coarse = average_rows(x, self.coarsening(seconds))
        return centre_and_scale(coarse) if self.seen else coarse

    def evidence(self, *, said: bool, read: bool) -> str:
        """Return the kind of evidence in a video, a key of the models of certainty.

        ``said``: some step is named, or was read there; ``read``: a language model read the video.
        """
        source = "read" if read else "words"
        if not self.seen:
            return source
        return f"{source} and video" if said else "video"


KINDS = {
    # The words of a mention are what its classifier sees, so a step is near where it is named.
    "words": FeatureKind(
        seen=False,
        alike=LIKE_SAID,
        known={"lag": 0.5, "separation": 2.0, "duration": 4.0},
    ),
    "sight": FeatureKind(seen=True, alike=LIKE_SEEN, known={}),
}


@dataclass(frozen=True)
class Learnt:
    """The result of self-training.

    Attributes
    ----------
    scores
        T_n×K per video: standardised scores by the classifier of the other videos.
    prior
        The mentions, with what was learnt about them.
    weights
        The classifier of all videos, for new ones.
    """

    scores: tuple[Floats, ...]
    prior: SegmentPrior
    weights: Weights


def learn(features: Videos, prior: SegmentPrior, *, seen: bool) -> Learnt:
    """Learn a classifier of every step.

    Parameters
    ----------
    features
        T_n×d per video.
    prior
        The mentions of each video.
    seen
        Whether these are features of frames, which tell the lag, Δ and the durations.
    """
    classifiers = LeaveOneOut(features, REGULARISATION)
    if seen:
        prior = _with_lag(classifiers, prior, feature_changes(features, prior.seconds))
    labels = prior.labels()
    for rounds_left in range(ROUNDS, -1, -1):
        scores = [standardised(x) for x in classifiers.scores(labels)]
        prior = prior.fit(scores)[1] if seen else prior.measure(scores)
        if rounds_left:
            for n, score in enumerate(scores):
                doing, presence = prior.located(n, score)
                labels[n] = presence * doing
    return Learnt(tuple(scores), prior, classifiers.weights(labels))


def _with_lag(
    classifiers: LeaveOneOut, prior: SegmentPrior, changes: Sequence[Floats]
) -> SegmentPrior:
    """Choose the lag at which steps begin with a change, and look alike in all videos."""
    candidates = prior.lags(changes)
    if len(candidates) == 1:
        return candidates[0][1]

    def log_likelihood(candidate: tuple[float, SegmentPrior]) -> float:
        by_changes, at_lag = candidate
        scores = [standardised(x) for x in classifiers.scores(at_lag.labels())]
        return by_changes + at_lag.fit(scores)[0]

    return max(candidates, key=log_likelihood)[1]


def average_rows(x: NDArray[np.floating], factor: int) -> NDArray[np.float32]:
    """Return the means of groups of ``factor`` rows; the last group may be smaller."""
    starts = np.arange(0, len(x), factor)
    sums = np.add.reduceat(np.asarray(x, np.float64), starts, axis=0)
    counts = np.diff(np.append(starts, len(x)))[:, None]
    return (sums / counts).astype(np.float32)


def centre_and_scale(x: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return the rows less their mean, scaled to length one."""
    centred = np.asarray(x, np.float64) - np.mean(x, axis=0, dtype=np.float64)
    norm = np.linalg.norm(centred, axis=1, keepdims=True)
    return (centred / np.where(norm > 1e-12, norm, 1.0)).astype(np.float32)
