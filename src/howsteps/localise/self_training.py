"""Self-training, the default localiser: learn each step where it is named, find it elsewhere.

A classifier of each step is learnt where it is named in the other videos
(:mod:`howsteps.localise.ridge`). Its scores, the video's own mentions and the order of the steps
(:mod:`howsteps.localise.order`) give the posterior probability of every place.

By words (:mod:`howsteps.localise.word_evidence`), the evidence of a place is e = s + p + u: its
standardised score s, the log-odds p of the mentions, and the log-density u of the usual position of
the step. By video (:mod:`howsteps.localise.video_evidence`), a step is a segment, and its scores
and mentions say where it begins and how long it lasts.

These posteriors are better labels than the mentions: near a mention they select what looks like
the step in other videos, and they also cover videos that do not name the step. So the classifiers
are learnt again from them, together with the mentions, for a few rounds. Further rounds let a step
drift away from its mentions: good scripts need few rounds, poor ones gain from more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from howsteps.localise.features import Floats, Videos
from howsteps.localise.order import ORDER, Marginals, marginals, posterior
from howsteps.localise.ridge import LeaveOneOut, Standardiser, Weights
from howsteps.localise.video_evidence import SegmentPrior, feature_changes, standardised
from howsteps.localise.word_evidence import ReadPrior, WindowPrior
from howsteps.task import LIKE_SAID, LIKE_SEEN

GRID = 1.0  # seconds: the grid of learning is no finer than this
GAP = 3.0  # seconds: least time between consecutive steps
MENTION_LABEL_WEIGHT = 0.5  # of the labels from mentions, relative to those from posteriors
SAID_WEIGHT = 1 / 3  # the same for video, where both are probabilities
LABEL_BLUR = 1.0  # seconds: standard deviation of the blur of posteriors that become labels

Prior = WindowPrior | ReadPrior | SegmentPrior


@dataclass(frozen=True)
class LearningOptions:
    """How steps are learnt from one kind of features.

    Attributes
    ----------
    window
        Δb and Δa in seconds: the flat window of a mention, for features of the narration itself.
        None: the step is a segment of the video, some seconds after its mention.
    log_prior
        Log-weight of a place inside such a window.
    regularisation
        λ.
    rounds
        Number of times the classifiers are learnt again from the posteriors.
    centre
        Subtract the mean of each video: what a room, a person or a camera adds to all intervals.
    order
        γ: weight of the order of the steps.
    use_position
        Whether the usual position of a step in a video is evidence.
    extent
        Seconds of a step before and after its place. None: by the width of its peak of score.
    alike
        The evidence of a step that is found by these features alone.
    certainty_kinds
        Keys of :func:`howsteps.localise.certainty.certainty_models`: for videos that name some
        step, for those that name none, and for those in which a language model read some step, and
        read none.
    read_order
        γ of a step that was read in the video: the language model has read its order.
    read_spread
        Standard deviation of the place of a step around what was read: seconds, and a share of the
        seconds that were read. Small, because the language model has read the words too.
    """

    window: tuple[float, float] | None
    log_prior: float
    regularisation: float
    rounds: int
    centre: bool
    order: float = ORDER
    use_position: bool = False
    extent: tuple[float, float] | None = None
    alike: str = LIKE_SAID
    certainty_kinds: tuple[str, str, str, str] = ("words", "words", "read", "read")
    read_order: float = 0.1
    read_spread: tuple[float, float] = (0.5, 0.05)

    def coarsening(self, seconds: float) -> int:
        """Return how many intervals of ``seconds`` make one of the grid of learning."""
        return max(int(GRID / seconds + 1e-9), 1)

    def prepare(self, x: NDArray[np.floating], seconds: float) -> NDArray[np.float32]:
        """Return the features of one video as the classifiers take them, on the coarse grid."""
        coarse = average_rows(x, self.coarsening(seconds))
        return centre_and_scale(coarse) if self.centre else coarse


LEARNING_OPTIONS = {
    "words": LearningOptions(
        window=(0.0, 3.0),
        log_prior=4.0,
        regularisation=0.1,
        rounds=2,
        centre=False,
        order=0.4,
        use_position=True,
        extent=(5.0, 7.0),
    ),
    "sight": LearningOptions(
        window=None,
        log_prior=4.0,
        regularisation=0.01,
        rounds=2,
        centre=True,
        alike=LIKE_SEEN,
        certainty_kinds=("words and video", "video", "read and video", "video"),
        read_order=ORDER,
    ),
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
    prior: Prior
    weights: Weights


def learn(
    features: Videos,
    prior: Prior,
    options: LearningOptions,
    *,
    seconds: float,
    position_prior: Sequence[Floats] | None = None,
) -> Learnt:
    """Learn a classifier of every step.

    Parameters
    ----------
    features
        T_n×d per video.
    prior
        The mentions of each video.
    options
        One of :data:`LEARNING_OPTIONS`, or other options.
    seconds
        Duration of an interval.
    position_prior
        T_n×K per video: log-density of the usual position of each step; uniform when None.
    """
    classifiers = LeaveOneOut(features, options.regularisation)
    if isinstance(prior, SegmentPrior):
        prior = _with_lag(classifiers, prior, feature_changes(features, seconds))
        return _learn_segments(classifiers, prior, options, seconds)
    gap, labels = round(GAP / seconds), list(prior.labels())
    for rounds_left in range(options.rounds, -1, -1):
        scores = classifiers.scores(labels)
        standardiser = Standardiser.fit(scores)
        for n, score in enumerate(scores):  # in place, to hold one copy only
            scores[n] = standardiser.apply(score)
        if rounds_left:
            evidence = total_evidence(scores, prior.log_odds(), position_prior)
            for n, (e, said) in enumerate(zip(evidence, prior.labels(), strict=True)):
                posterior_labels = _as_labels(posterior(e, gap, options.order), seconds)
                labels[n] = np.maximum(MENTION_LABEL_WEIGHT * said, posterior_labels)
    return Learnt(tuple(scores), prior, standardiser.fold_into(classifiers.weights(labels)))


def _learn_segments(
    classifiers: LeaveOneOut, prior: SegmentPrior, options: LearningOptions, seconds: float
) -> Learnt:
    """Learn from the probability that each step is being done, by its segments so far."""
    labels = prior.labels()
    for rounds_left in range(options.rounds, -1, -1):
        scores = [standardised(x) for x in classifiers.scores(labels)]
        _, prior = prior.fit(scores)
        if rounds_left:
            located = locate(scores, prior, options, seconds=seconds)
            for n, (said, (doing, presence)) in enumerate(
                zip(prior.labels(), located, strict=True)
            ):
                labels[n] = SAID_WEIGHT * said + (1.0 - SAID_WEIGHT) * presence * doing
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


def locate(
    scores: Sequence[Floats],
    prior: Prior,
    options: LearningOptions,
    *,
    seconds: float,
    position_prior: Sequence[Floats] | None = None,
    read: Sequence[bool] | None = None,
) -> Iterator[Marginals]:
    """Yield where each step is, by all evidence and the order, and whether it is in the video.

    By words, ``places`` is the probability of every place; by video, the probability that the step
    is being done there. ``read`` are the videos that a language model read.
    """
    if isinstance(prior, SegmentPrior):
        for n, score in enumerate(scores):
            yield prior.located(n, score, options.order)
        return
    gap = round(GAP / seconds)
    log_odds = prior.log_odds()
    for n, evidence in enumerate(total_evidence(scores, log_odds, position_prior)):
        order: float | Floats = options.order
        if read is not None and read[n]:
            order = np.where(log_odds[n].any(axis=0), options.read_order, options.order)
        yield marginals(evidence, gap, order)


def total_evidence(
    scores: Sequence[Floats], log_odds: Sequence[Floats], position_prior: Sequence[Floats] | None
) -> Iterator[Floats]:
    """Yield e = score + log-odds of mentions + log-density of position, T_n×K per video."""
    if position_prior is None:
        yield from (score + odds for score, odds in zip(scores, log_odds, strict=True))
        return
    for score, odds, position in zip(scores, log_odds, position_prior, strict=True):
        yield score + odds + position


def _as_labels(probability: Floats, seconds: float) -> Floats:
    """Return posteriors (T×K) as labels in [0, 1]: blurred, the highest of the video is 1."""
    labels = gaussian_blur(probability, LABEL_BLUR / seconds, "constant")
    return labels / max(float(labels.max()), 1e-12)


def gaussian_blur(x: Floats, deviation: float, padding: Literal["edge", "constant"]) -> Floats:
    """Return the columns blurred by a Gaussian; rows beyond the ends repeat the last, or are 0.

    The same as SciPy's ``gaussian_filter1d``, whose import would take longer than all blurring.
    """
    radius = int(4.0 * deviation + 0.5)
    kernel = np.exp(-0.5 * (np.arange(-radius, radius + 1) / deviation) ** 2)
    padded = np.pad(x, ((radius, radius), (0, 0)), padding)
    neighbourhoods = np.lib.stride_tricks.sliding_window_view(padded, len(kernel), axis=0)
    blurred: Floats = neighbourhoods @ (kernel / kernel.sum())
    return blurred


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
