"""Learn each step where it is named, and find it where it is not.

A classifier of each step is learnt from the windows of its mentions in the other videos
(:mod:`howsteps.localise.leave_one_out`). Its scores s, in units of their spread, and the video's
own mentions p (:mod:`howsteps.localise.mention_prior`) are the evidence e = a·s + p; with the order
(:mod:`howsteps.localise.order_marginals`) they give the probability of every place of the step.
Those probabilities are better labels than the windows: inside a window they single out what the
step looks like in other videos, and they reach videos in which nobody names it. So the classifiers
are learnt again from them, beside the windows at half their weight, for a few rounds. More rounds
let a step drift from what it was named for; a script that is good needs few, a poor one gains by
many.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from howsteps.localise.backend import Videos
from howsteps.localise.cost import Weights
from howsteps.localise.extents import StepIntervals, extents
from howsteps.localise.leave_one_out import LeaveOneOut, Standard
from howsteps.localise.mention_prior import MentionPrior
from howsteps.localise.oracle import Floats, Places
from howsteps.localise.order_marginals import posterior
from howsteps.task import BETWEEN, LIKE_SAID, LIKE_SEEN, SAID

GRID = 1.0  # seconds: steps are learnt on a grid no finer than this
GAP = 3.0  # seconds from one step to the next, at least
NEAR = 2.5  # seconds around a place that count as the place
SURE = 0.5  # a step is seen where it is more likely than everywhere else together
ANCHOR = 0.5  # what the mentions weigh as labels beside the probabilities
SMOOTH = 1.0  # seconds by which probabilities are blurred before they become labels


@dataclass(frozen=True)
class Learning:
    """How steps are learnt from one kind of features.

    Attributes
    ----------
    window
        Δb and Δa, seconds: the flat window of a mention, for words, which are where they are said.
        None: what is named is seen with a lag that is learnt.
    log_prior
        Log-weight of a place inside such a window.
    regularisation
        λ.
    rounds
        How often the classifiers are learnt again from what they found.
    centre
        Take off what all intervals of a video have in common: a room, a person, a camera.
    sharpness
        a: what a score of one standard deviation weighs, as a logarithm.
    smooth
        Seconds by which scores are blurred: what is done lasts longer than a frame.
    delay
        Seconds by which features are moved back: words come a moment before what they name.
    alike
        The evidence of a step that is found by these features alone.
    """

    window: tuple[float, float] | None
    log_prior: float
    regularisation: float
    rounds: int
    centre: bool
    sharpness: float = 1.0
    smooth: float = 0.0
    delay: float = 0.0
    alike: str = LIKE_SAID

    def grid(self, seconds: float) -> int:
        """How many intervals make one of the grid that steps are learnt on."""
        return max(int(GRID / seconds + 1e-9), 1)

    def prepared(self, x: NDArray[np.floating], seconds: float) -> NDArray[np.float32]:
        """Features of one video as the classifiers take them, on the coarse grid."""
        grid = self.grid(seconds)
        coarse = delayed(coarser(x, grid), round(self.delay / (grid * seconds)))
        return centred(coarse) if self.centre else coarse

    def smoothed(self, scores: Floats, seconds: float) -> Floats:
        """Scores blurred in time."""
        if not self.smooth:
            return scores
        blurred: Floats = gaussian_filter1d(scores, self.smooth / seconds, axis=0, mode="nearest")
        return blurred


LEARNING = {
    "words": Learning(
        window=(0.0, 3.0), log_prior=4.0, regularisation=0.1, rounds=4, centre=False, delay=1.0
    ),
    "meaning": Learning(
        window=(0.0, 3.0), log_prior=4.0, regularisation=0.01, rounds=4, centre=True, delay=1.0
    ),
    "sight": Learning(
        window=None,
        log_prior=4.0,
        regularisation=0.01,
        rounds=2,
        centre=True,
        sharpness=1.25,
        smooth=1.0,
        alike=LIKE_SEEN,
    ),
}


@dataclass(frozen=True)
class Learnt:
    """What was learnt.

    ``scores``: T_n×K a video, by the other videos, as log-weights. ``prior``: the mentions, as they
    came to be read. ``weights``: those that all videos gave, whose scores are not blurred yet.
    """

    scores: tuple[Floats, ...]
    prior: MentionPrior
    weights: Weights


def learn(
    features: Videos,
    prior: MentionPrior,
    how: Learning,
    *,
    seconds: float,
    device: str = "cpu",
) -> Learnt:
    """Learn what every step is like.

    Parameters
    ----------
    features
        T_n×d a video.
    prior
        What is said in each video.
    how
        One of :data:`LEARNING`, or other settings.
    seconds
        How long an interval lasts.
    device
        As for :func:`howsteps.localise.cluster`.
    """
    leave_one_out = LeaveOneOut(features, how.regularisation, device)
    gap = round(GAP / seconds)
    labels = prior.labels()
    scores: list[Floats] = []
    for left in range(how.rounds, -1, -1):
        raw = [how.smoothed(score, seconds) for score in leave_one_out.scores(labels)]
        standard = Standard.of(raw, how.sharpness)
        scores = [standard.apply(score) for score in raw]
        prior = prior.fitted(scores)
        if left:
            labels = [
                np.maximum(ANCHOR * mention, _labels(posterior(s + said, gap), seconds))
                for s, said, mention in zip(scores, prior.log_odds(), prior.labels(), strict=True)
            ]
    return Learnt(tuple(scores), prior, standard.fold(leave_one_out.weights(labels)))


def _labels(probability: Floats, seconds: float) -> Floats:
    """Probabilities as labels: the surest place of the video counts one."""
    blurred: Floats = gaussian_filter1d(probability, SMOOTH / seconds, axis=0, mode="constant")
    return blurred / max(float(blurred.max()), 1e-12)


def decide(
    scores: Sequence[Floats],
    log_odds: Sequence[Floats],
    *,
    seconds: float,
    grid: int,
    lengths: Sequence[int],
    alike: str = LIKE_SEEN,
    absent: bool = False,
) -> StepIntervals:
    """Put every step where it is most likely; extent, confidence and evidence beside it.

    Parameters
    ----------
    scores, log_odds
        T×K a video, on the coarse grid: what is seen, and what is said (zero where it is not).
    seconds
        How long an interval of the coarse grid lasts.
    grid
        How many intervals of the fine grid it holds.
    lengths
        T_n of the fine grid, which the answer is on.
    alike
        The evidence of a step that is found by what it is like in the other videos.
    absent
        Leave out steps that are neither named nor sure.

    Returns
    -------
    The confidence is the probability that the step is within 2.5 s of its place, if it is in the
    video at all. A step that is neither named nor sure is given no larger extent than that.
    """
    shape = (len(scores), scores[0].shape[1])
    steps = np.arange(shape[1])
    places, first, last = np.full(shape, -1), np.full(shape, -1), np.full(shape, -1)
    confidence = np.zeros(shape)
    named = np.array([said.any(axis=0) for said in log_odds])
    for n, (score, said, length) in enumerate(zip(scores, log_odds, lengths, strict=True)):
        likely = posterior(score + said, round(GAP / seconds))
        coarse = likely.argmax(axis=0)
        confidence[n] = around(likely, round(NEAR / seconds))[coarse, steps]
        places[n] = apart(np.minimum(coarse * grid + grid // 2, length - 1), length)
        if absent:
            places[n, ~named[n] & (confidence[n] < SURE)] = -1
        in_time = np.argsort(places[n], kind="stable")
        fine = np.repeat(score[:, in_time], grid, axis=0)[:length]
        first[n, in_time], last[n, in_time] = extents(places[n, in_time], fine)
    confidence[places < 0] = 0.0
    kinds = np.select([places < 0, named, confidence >= SURE], ["", SAID, alike], BETWEEN)
    # The score of a guess hardly rises above that of the whole video, and says nothing of its ends.
    reach = np.where(kinds == BETWEEN, round(NEAR / seconds) * grid, max(lengths))
    first, last = np.maximum(first, places - reach), np.minimum(last, places + reach)
    there = (places >= 0).astype(np.float64)
    return StepIntervals(places, first, last, confidence, kinds, there)


def around(likely: Floats, reach: int) -> Floats:
    """Sum of each column over the rows within ``reach`` of every row."""
    total = np.vstack([np.zeros((1, likely.shape[1])), np.cumsum(likely, axis=0)])
    at = np.arange(len(likely))
    near: Floats = total[np.minimum(at + reach + 1, len(at))] - total[np.maximum(at - reach, 0)]
    return near


def apart(places: Places, length: int) -> Places:
    """Places that no two steps share, in the order they had; ``length`` is at least K."""
    rank = np.arange(len(places))
    in_time = np.argsort(places, kind="stable")
    free = np.maximum.accumulate(places[in_time] - rank)
    out = np.empty_like(places)
    out[in_time] = np.minimum(free, length - len(places)) + rank
    return out


def coarser(x: NDArray[np.floating], factor: int) -> NDArray[np.float32]:
    """Rows averaged by ``factor``; the last row has what is left."""
    starts = np.arange(0, len(x), factor)
    sums = np.add.reduceat(np.asarray(x, np.float64), starts, axis=0)
    counts = np.diff(np.append(starts, len(x)))[:, None]
    return (sums / counts).astype(np.float32)


def delayed(x: NDArray[np.float32], rows: int) -> NDArray[np.float32]:
    """Rows moved back by so many; nothing is known of the first."""
    if not rows:
        return x
    moved = np.zeros_like(x)
    moved[rows:] = x[:-rows]
    return moved


def centred(x: NDArray[np.floating]) -> NDArray[np.float32]:
    """Rows less the mean of the video, of length one: what all rows have in common is removed."""
    moved = np.asarray(x, np.float64) - np.mean(x, axis=0, dtype=np.float64)
    length = np.linalg.norm(moved, axis=1, keepdims=True)
    return (moved / np.where(length > 1e-12, length, 1.0)).astype(np.float32)
