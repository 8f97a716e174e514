"""Learn each step where it is named, and find it where it is not.

A classifier of each step is learnt from the windows of its mentions in the other videos
(:mod:`howsteps.localise.leave_one_out`). Its scores s, in units of their spread, the video's
own mentions p (:mod:`howsteps.localise.mention_prior`) and where in a video the step usually is u
(:mod:`howsteps.localise.position_prior`) are the evidence e = a·s + p + u; with the order
(:mod:`howsteps.localise.order_marginals`) they give the probability of every place of the step.
Those probabilities are better labels than the windows: inside a window they single out what the
step looks like in other videos, and they reach videos in which nobody names it. So the classifiers
are learnt again from them, beside the windows at half their weight, for a few rounds. More rounds
let a step drift from what it was named for; a script that is good needs few, a poor one gains by
many.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from howsteps.localise.backend import Videos
from howsteps.localise.cost import Weights
from howsteps.localise.leave_one_out import LeaveOneOut, Standard
from howsteps.localise.mention_prior import MentionPrior
from howsteps.localise.oracle import Floats
from howsteps.localise.order_marginals import ORDER, posterior
from howsteps.task import LIKE_SAID, LIKE_SEEN

GRID = 1.0  # seconds: steps are learnt on a grid no finer than this
GAP = 3.0  # seconds from one step to the next, at least
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
    order
        γ: how much the order of the steps counts.
    usual
        Whether it counts where in a video a step usually is.
    extent
        Seconds that a step reaches before and after its place; None: as far as its score does.
    alike
        The evidence of a step that is found by these features alone.
    kinds
        The tables of :mod:`howsteps.localise.certainty`: for a video that names some step, and for
        one that names none.
    """

    window: tuple[float, float] | None
    log_prior: float
    regularisation: float
    rounds: int
    centre: bool
    sharpness: float = 1.0
    smooth: float = 0.0
    order: float = ORDER
    usual: bool = False
    extent: tuple[float, float] | None = None
    alike: str = LIKE_SAID
    kinds: tuple[str, str] = ("words", "words")

    def grid(self, seconds: float) -> int:
        """How many intervals make one of the grid that steps are learnt on."""
        return max(int(GRID / seconds + 1e-9), 1)

    def prepared(self, x: NDArray[np.floating], seconds: float) -> NDArray[np.float32]:
        """Features of one video as the classifiers take them, on the coarse grid."""
        coarse = coarser(x, self.grid(seconds))
        return centred(coarse) if self.centre else coarse

    def smoothed(self, scores: Floats, seconds: float) -> Floats:
        """Scores blurred in time."""
        if not self.smooth:
            return scores
        return blurred(scores, self.smooth / seconds, "edge")


_WORDS = Learning(
    window=(0.0, 3.0),
    log_prior=4.0,
    regularisation=0.1,
    rounds=2,
    centre=False,
    order=0.4,
    usual=True,
    extent=(5.0, 7.0),
)
LEARNING = {
    "words": _WORDS,
    "meaning": replace(_WORDS, regularisation=0.01, centre=True),
    "sight": Learning(
        window=None,
        log_prior=4.0,
        regularisation=0.01,
        rounds=2,
        centre=True,
        sharpness=1.25,
        smooth=1.0,
        alike=LIKE_SEEN,
        kinds=("words and video", "video"),
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
    usual: Sequence[Floats] | None = None,
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
    usual
        T_n×K a video: log-density of where each step usually is; even when None.
    device
        As for :func:`howsteps.localise.cluster`.
    """
    leave_one_out = LeaveOneOut(features, how.regularisation, device)
    gap = round(GAP / seconds)
    labels = list(prior.labels())
    scores: list[Floats] = []
    for left in range(how.rounds, -1, -1):
        scores = [how.smoothed(score, seconds) for score in leave_one_out.scores(labels)]
        standard = Standard.of(scores, how.sharpness)
        for n, score in enumerate(scores):
            scores[n] = standard.apply(score)
        prior = prior.fitted(scores)
        if left:
            found = evidence(scores, prior.log_odds(), usual)
            for n, (e, mention) in enumerate(zip(found, prior.labels(), strict=True)):
                likely = _labels(posterior(e, gap, how.order), seconds)
                labels[n] = np.maximum(ANCHOR * mention, likely)
    return Learnt(tuple(scores), prior, standard.fold(leave_one_out.weights(labels)))


def evidence(
    scores: Sequence[Floats], log_odds: Sequence[Floats], usual: Sequence[Floats] | None
) -> Iterator[Floats]:
    """e, T_n×K a video: all that speaks for each place, as log-weights."""
    if usual is None:
        yield from (score + said for score, said in zip(scores, log_odds, strict=True))
        return
    for score, said, where in zip(scores, log_odds, usual, strict=True):
        yield score + said + where


def _labels(probability: Floats, seconds: float) -> Floats:
    """Probabilities as labels: the surest place of the video counts one."""
    labels = blurred(probability, SMOOTH / seconds, "constant")
    return labels / max(float(labels.max()), 1e-12)


def blurred(x: Floats, deviation: float, beyond: Literal["edge", "constant"]) -> Floats:
    """Columns blurred by a Gaussian of so many rows; beyond the ends is the last row, or nothing.

    It is SciPy's ``gaussian_filter1d``, without the import that takes longer than all blurring.
    """
    reach = int(4.0 * deviation + 0.5)
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
    padded = np.pad(x, ((reach, reach), (0, 0)), beyond)
    around = np.lib.stride_tricks.sliding_window_view(padded, len(bell), axis=0)
    found: Floats = around @ (bell / bell.sum())
    return found


def coarser(x: NDArray[np.floating], factor: int) -> NDArray[np.float32]:
    """Rows averaged by ``factor``; the last row has what is left."""
    starts = np.arange(0, len(x), factor)
    sums = np.add.reduceat(np.asarray(x, np.float64), starts, axis=0)
    counts = np.diff(np.append(starts, len(x)))[:, None]
    return (sums / counts).astype(np.float32)


def centred(x: NDArray[np.floating]) -> NDArray[np.float32]:
    """Rows less the mean of the video, of length one: what all rows have in common is removed."""
    moved = np.asarray(x, np.float64) - np.mean(x, axis=0, dtype=np.float64)
    length = np.linalg.norm(moved, axis=1, keepdims=True)
    return (moved / np.where(length > 1e-12, length, 1.0)).astype(np.float32)
