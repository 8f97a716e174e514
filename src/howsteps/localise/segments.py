"""Steps by sight alone: videos in which nobody speaks are cut into segments that they share.

**Transport.** A video has a soft assignment S (T_n×K, rows add up to one) of its intervals to the
steps. As in the action segmentation by optimal transport of Xu and Gould (2024), it minimises a
fused Gromov-Wasserstein distance: an interval belongs to a step that it looks like, near the usual
position of that step, and to the step of its neighbours; all steps last about as long; entropy
keeps S soft. Divided by the weight of the entropy,

    F(S) = Σ_tk S_tk·(ρ·|t/T_n − p_k| − c·x_tk − α/2·S̄_tk + log S_tk) + λ·Σ_k q_k·log(K·q_k)

with the score x of the classifier of each step, its position p, the mean S̄ of S over the
neighbours of t, and the mean q of S over the video. Mirror descent halves the step: log S ←
½·(log S − gradient), projected on rows that add up to one. The order is soft: steps may be swapped.

**Segments.** The classifiers (:mod:`howsteps.localise.ridge`) are learnt from S of the other
videos, and S from the scores, in turn; at first, S is K equal segments.

**Places.** A segment also covers what comes before and after a step, and may be mostly that. So
classifiers of places follow: the posterior of the place of each step, given its score, a wide bell
around its segment and the order of the steps, is the label of the next classifier.

**Number of steps.** A step in a video is *distinct* if, at its place, its classifier has the
highest score of all. With more steps, fewer are; K is the largest number at which most still are.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError
from howsteps.localise.decision import extents, separate
from howsteps.localise.features import Floats, Places, checked_features
from howsteps.localise.order import posterior
from howsteps.localise.ridge import FACTOR_MEMORY, LeaveOneOut
from howsteps.localise.self_training import KINDS, REGULARISATION, average_rows, centre_and_scale
from howsteps.task import BY_HAND, LIKE_SEEN, Localisation

SCORE = 0.5  # c: weight of a score one standard deviation above the mean
POSITION = 2.0  # ρ
NEIGHBOURS = 4.0  # α
BALANCE = 1.5  # λ
RADIUS = 0.04  # of the neighbourhood, as a share of the video
SMOOTH = 1.0  # seconds on either side, over which scores of places are averaged
SHARPNESS = 1.25  # log-weight of such a score one standard deviation above the mean
_DESCENT = 25  # iterations of mirror descent
_ROUNDS = 8  # of classifiers and segments
_PLACE_ROUNDS = 6  # of classifiers and places
_FILL_ROUNDS = 3
GAP = 3.0  # seconds: least time between consecutive steps

BELL = 1.5, 2.0  # standard deviation: multiple of that of the segment, plus seconds
_FLOOR = 0.01  # height of a bell far from its segment

FEWEST, MOST = 3, 15  # steps, where their number is chosen
DISTINCT = 0.7  # least share of distinct steps
# Share of the places that are right where another step has a higher score, where none has, and
# where all are a standard deviation below: means over seven kinds of footage, real and synthetic.
# These differ much: .18 to .42, .14 to .77 and .29 to 1.
RIGHT = 0.27, 0.49, 0.68

Features = Mapping[str, NDArray[np.floating]]


def find_steps(
    features: Features, steps: int | None = None, *, seconds: float = 1 / 3
) -> tuple[Localisation, ...]:
    """Find steps that videos share, and their places, without any words.

    Parameters
    ----------
    features
        T_n×d by video id. A video with fewer seconds than steps is left out.
    steps
        K; None: the largest number at which most are distinct.
    seconds
        Duration of an interval.

    Raises
    ------
    HowstepsError
        There are fewer than two videos that are long enough.
    """
    most = steps
    if most is None:
        usual = np.median([len(x) for x in features.values()]) * seconds / (2 * GAP)
        most = int(np.clip(usual, FEWEST, MOST))
    factor = _coarsening(features, seconds)
    used = {video: x for video, x in features.items() if len(x) >= most * factor}
    if len(used) < 2 <= len(features):
        raise HowstepsError(f"fewer than two videos are long enough for {most} steps")
    if len(used) < 2:
        raise HowstepsError("steps are found by sight in two or more videos of the same job")
    videos = _prepared(checked_features(list(used.values()), most), factor)
    others = LeaveOneOut(videos, REGULARISATION)
    grid = factor * seconds
    lengths = [len(x) for x in videos]
    found = _search(others, lengths, most, grid)
    while steps is None and most > FEWEST and (found.margins > 0).mean() < DISTINCT:
        most -= 1
        found = _search(others, lengths, most, grid)
    return found.localisations(list(used), grid)


@dataclass(frozen=True)
class _Found:
    """The interval of every step, its margin there, and the scores.

    Attributes
    ----------
    places
        N×K.
    margins
        N×K: the score of the step less the highest one of the others.
    scores
        T_n×K per video.
    """

    places: Places
    margins: Floats
    scores: Sequence[Floats]

    def localisations(self, videos: Sequence[str], seconds: float) -> tuple[Localisation, ...]:
        """Return the places in seconds."""
        found = []
        for n, video in enumerate(videos):
            by_time = np.argsort(self.places[n])
            first, last = extents(self.places[n, by_time], self.scores[n][:, by_time])
            for k, start, end in sorted(zip(by_time.tolist(), first, last, strict=True)):
                found.append(
                    Localisation(
                        video,
                        k,
                        time=(float(self.places[n, k]) + 0.5) * seconds,
                        start=float(start) * seconds,
                        end=float(end + 1) * seconds,
                        confidence=RIGHT[int(self.margins[n, k] > 0) + int(self.margins[n, k] > 1)],
                        evidence=LIKE_SEEN,
                        presence=1.0,
                    )
                )
        return tuple(found)


def _search(others: LeaveOneOut, lengths: Sequence[int], steps: int, seconds: float) -> _Found:
    """Return K steps; all on the grid of learning, whose intervals last ``seconds``."""
    shares = [equal_segments(length, steps) for length in lengths]
    for _ in range(_ROUNDS):
        shares = [transport(score) for score in _standardised(others.scores(shares))]
    bells = [_bells(share, seconds) for share in shares]
    labels = [np.exp(bell) for bell in bells]
    gap, smooth = round(GAP / seconds), round(SMOOTH / seconds)
    for _ in range(_PLACE_ROUNDS):
        scores = _standardised([moving_sum(score, smooth) for score in others.scores(labels)])
        labels = [
            posterior(SHARPNESS * score + bell, gap)
            for score, bell in zip(scores, bells, strict=True)
        ]
    places = np.array([separate(label.argmax(axis=0), len(label)) for label in labels])
    there = np.array([score[row] for score, row in zip(scores, places, strict=True)])  # N×K×K
    own = np.diagonal(there, axis1=1, axis2=2).copy()
    there[:, range(steps), range(steps)] = -np.inf
    return _Found(places, own - there.max(axis=2), scores)


def equal_segments(length: int, steps: int) -> Floats:
    """Return S of K equal segments."""
    shares: Floats = np.eye(steps)[np.arange(length) * steps // length]
    return shares


def transport(scores: Floats, positions: Floats | None = None) -> Floats:
    """Return S (T_n×K) from the standardised scores of one video.

    ``positions`` are p (K), as shares of the video; by default, those of K equal segments.
    """
    length, steps = scores.shape
    usual = (np.arange(steps) + 0.5) / steps if positions is None else positions
    cost = POSITION * np.abs((np.arange(length)[:, None] + 0.5) / length - usual) - SCORE * scores
    radius = max(round(RADIUS * length), 1)
    log_shares = np.full((length, steps), -np.log(steps))
    for _ in range(_DESCENT):
        shares = np.exp(log_shares)
        near = (moving_sum(shares, radius) - shares) / (2 * radius)
        size = np.log(np.maximum(steps * shares.mean(axis=0), 1e-9))
        log_shares = 0.5 * (log_shares - cost + NEIGHBOURS * near - BALANCE * size)
        log_shares -= np.logaddexp.reduce(log_shares, axis=1, keepdims=True)
    found: Floats = np.exp(log_shares)
    return found


def filled(
    places: Sequence[Localisation], features: Features, *, seconds: float = 1 / 3
) -> tuple[Localisation, ...]:
    """Return places whose extents cover every video from its beginning to its end.

    The borders are those of transport, with classifiers that are learnt from the other videos. A
    video without features stays as it is, and so does what a person placed.
    """
    factor = _coarsening(features, seconds)
    grid = factor * seconds
    steps = max((at.step for at in places), default=-1) + 1
    by_video: dict[str, list[Localisation]] = {}
    for at in places:
        if at.time is not None:
            by_video.setdefault(at.video, []).append(at)
    seen = [video for video in by_video if video in features and len(features[video])]
    if not seen:
        return tuple(places)
    x = _prepared([features[video] for video in seen], factor)
    others = LeaveOneOut(x, REGULARISATION)
    columns = [np.array([at.step for at in by_video[video]]) for video in seen]
    middles = [np.array([at.time for at in by_video[video]], np.float64) / grid for video in seen]
    shares = []
    for rows, middle, column in zip(x, middles, columns, strict=True):
        nearest = np.abs(np.arange(len(rows))[:, None] + 0.5 - middle).argmin(axis=1)
        shares.append(np.eye(steps)[column[nearest]])
    for _ in range(_FILL_ROUNDS):
        scores = _standardised(others.scores(shares))
        for n, (score, column) in enumerate(zip(scores, columns, strict=True)):
            shares[n] = np.zeros_like(score)
            shares[n][:, column] = transport(score[:, column], middles[n] / len(score))
    wider = {}
    for video, share in zip(seen, shares, strict=True):
        for at in _cover(by_video[video], share, grid, len(features[video]) * seconds):
            wider[video, at.step] = at
    return tuple(wider.get((at.video, at.step), at) for at in places)


def _cover(
    places: Iterable[Localisation], shares: Floats, grid: float, duration: float
) -> list[Localisation]:
    """Return the places of a video with extents that cover it; what a person placed stays.

    Between two neighbouring places only their steps are, with the larger shares (one row of S per
    ``grid`` seconds) on both sides of the border, which never cuts the interval of a place.
    """
    ordered = sorted(places, key=lambda at: at.time or 0.0)
    borders = [0.0]
    for left, right in pairwise(ordered):
        first, last = left.time or 0.0, right.time or 0.0
        after = int(first / grid) + 1
        between = shares[after : int(last / grid)]
        gain = np.cumsum([0.0, *(between[:, left.step] - between[:, right.step])])
        border = (after + int(gain.argmax())) * grid
        if left.evidence == BY_HAND and left.end is not None:
            border = left.end
        elif right.evidence == BY_HAND and right.start is not None:
            border = right.start
        reach = min(grid, last - first) / 2
        borders.append(min(max(border, first + reach), last - reach, duration))
    return [
        at if at.evidence == BY_HAND else replace(at, start=start, end=end)
        for at, (start, end) in zip(ordered, pairwise([*borders, duration]), strict=True)
    ]


def _coarsening(features: Features, seconds: float) -> int:
    """Return how many intervals make one of the grid of learning.

    It is coarser than usual for a collection so large that leaving videos out would take hours.
    """
    usual = KINDS["sight"].coarsening(seconds)
    needed = 8 * sum((len(x) / usual) ** 2 for x in features.values())  # bytes of the factors
    return usual * max(1, math.ceil(math.sqrt(needed / FACTOR_MEMORY)))


def _prepared(videos: Sequence[NDArray[np.floating]], factor: int) -> list[NDArray[np.float32]]:
    return [centre_and_scale(average_rows(x, factor)) for x in videos]


def _standardised(scores: Sequence[Floats]) -> list[Floats]:
    """Return scores of mean 0 and deviation 1 over all videos: how distinct they are may differ."""
    every = np.concatenate(scores)
    mean, deviation = every.mean(axis=0), np.maximum(every.std(axis=0), 1e-12)
    return [(score - mean) / deviation for score in scores]


def _bells(shares: Floats, seconds: float) -> Floats:
    """Return the logarithm of a wide bell around the segment of every step, T_n×K."""
    time = np.arange(len(shares))[:, None]
    weight = shares / np.maximum(shares.sum(axis=0), 1e-9)
    middle = (weight * time).sum(axis=0)
    deviation = np.sqrt((weight * (time - middle) ** 2).sum(axis=0))
    offset = (time - middle) / (BELL[0] * deviation + BELL[1] / seconds)
    bells: Floats = np.log(np.exp(-0.5 * offset**2) + _FLOOR)
    return bells


def moving_sum(values: Floats, radius: int) -> Floats:
    """Return the sum of each column over the rows within ``radius`` of every row."""
    total = np.vstack([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    row = np.arange(len(values))
    sums: Floats = (
        total[np.minimum(row + radius + 1, len(row))] - total[np.maximum(row - radius, 0)]
    )
    return sums
