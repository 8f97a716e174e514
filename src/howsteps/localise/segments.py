"""Steps by sight alone: videos in which nobody speaks are cut into segments that they share.

**Transport.** A video has a soft assignment S (T_n×K, rows add up to one) of its intervals to the
steps. As in the action segmentation by optimal transport of Xu and Gould (2024), it minimises a
fused Gromov-Wasserstein distance: an interval belongs to a step that it looks like, near the usual
position of that step, and to the step of its neighbours; all steps last about as long; entropy
keeps S soft. Divided by the weight of the entropy,

    F(S) = Σ_tk S_tk·(ρ·|t/T_n − p_k| − c·x_tk − α/2·S̄_tk + log S_tk) + λ·Σ_k q_k·log(K·q_k)

with the score x of the classifier of each step, its position p_k = (k + ½)/K, the mean S̄ of S over
the neighbours of t, and the mean q of S over the video. Mirror descent halves the step: log S ←
½·(log S − gradient), projected on rows that add up to one. The order is soft: steps may be swapped.

**Learning.** The classifiers (:mod:`howsteps.localise.ridge`) are learnt from S of the other
videos, and S from the scores, in turn; at first, S is K equal segments. In the end, each step is
placed where S is highest.

**Number of steps.** A step in a video is *distinct* if, at its place, its classifier has the
highest score of all. With more steps, fewer are; K is the largest number at which most still are.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError
from howsteps.localise.decision import StepIntervals, extents, separate
from howsteps.localise.features import Floats, checked_features
from howsteps.localise.ridge import FACTOR_MEMORY, LeaveOneOut
from howsteps.localise.self_training import KINDS, REGULARISATION, average_rows, centre_and_scale
from howsteps.task import BY_HAND, LIKE_SEEN, Localisation

SCORE = 0.5  # c: weight of a score one standard deviation above the mean
POSITION = 2.0  # ρ
NEIGHBOURS = 4.0  # α
BALANCE = 1.5  # λ
RADIUS = 0.04  # of the neighbourhood, as a share of the video
_DESCENT = 25  # iterations of mirror descent
_ROUNDS = 8  # of classifiers and segments

FEWEST, MOST = 3, 15  # steps, where their number is chosen
SHORTEST = 6.0  # seconds: of such segments no more are looked for than fit into a video
DISTINCT = 0.7  # least share of distinct steps
# Share of the places that are right where another step has a higher score, where none has, and
# where all are a standard deviation below: means over seven kinds of footage, real and synthetic.
RIGHT = 0.18, 0.28, 0.52

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
        usual = np.median([len(x) for x in features.values()]) * seconds / SHORTEST
        most = int(np.clip(usual, FEWEST, MOST))
    factor = _coarsening(features, seconds)
    used = {video: x for video, x in features.items() if len(x) >= most * factor}
    if len(used) < 2 <= len(features):
        raise HowstepsError(f"fewer than two videos are long enough for {most} steps")
    if len(used) < 2:
        raise HowstepsError("steps are found by sight in two or more videos of the same job")
    checked = checked_features(list(used.values()), most)
    videos = [centre_and_scale(average_rows(x, factor)) for x in checked]
    others, lengths = LeaveOneOut(videos, REGULARISATION), [len(x) for x in videos]
    found, margins = _search(others, lengths, most)
    while steps is None and most > FEWEST and (margins > 0).mean() < DISTINCT:
        most -= 1
        found, margins = _search(others, lengths, most)
    return found.in_seconds(list(used), factor * seconds)


def _search(
    others: LeaveOneOut, lengths: Sequence[int], steps: int
) -> tuple[StepIntervals, Floats]:
    """Return the places of K steps, and their margins (N×K).

    A margin is the score of the step at its place less the highest one of the others.
    """
    shares = [equal_segments(length, steps) for length in lengths]
    for _ in range(_ROUNDS):
        scores = _standardised(others.scores(shares))
        shares = [transport(score) for score in scores]
    places = np.array([separate(share.argmax(axis=0), len(share)) for share in shares])
    first, last = places.copy(), places.copy()
    for n, score in enumerate(scores):
        by_time = np.argsort(places[n])
        first[n, by_time], last[n, by_time] = extents(places[n, by_time], score[:, by_time])
    there = np.array([score[row] for score, row in zip(scores, places, strict=True)])  # N×K×K
    own = np.diagonal(there, axis1=1, axis2=2).copy()
    there[:, range(steps), range(steps)] = -np.inf
    margins = own - there.max(axis=2)
    confidence = np.array(RIGHT)[(margins > 0).astype(int) + (margins > 1)]
    everywhere = np.ones(places.shape)
    evidence = np.full(places.shape, LIKE_SEEN)
    return StepIntervals(places, first, last, confidence, evidence, everywhere), margins


def equal_segments(length: int, steps: int) -> Floats:
    """Return S of K equal segments."""
    shares: Floats = np.eye(steps)[np.arange(length) * steps // length]
    return shares


def transport(scores: Floats) -> Floats:
    """Return S (T_n×K) from the standardised scores of one video."""
    length, steps = scores.shape
    usual = (np.arange(steps) + 0.5) / steps
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
    places: Sequence[Localisation],
    lengths: Mapping[str, float],
    features: Features | None = None,
    *,
    seconds: float = 1 / 3,
) -> tuple[Localisation, ...]:
    """Return places whose extents cover every video from its beginning to its end.

    Two steps meet where the frames change; without features, in the middle of the pause between
    them. What a person placed stays as it is. ``lengths`` are in seconds; ``features`` (T_n×d by
    video id) have intervals of ``seconds``.
    """
    by_video: dict[str, list[Localisation]] = {}
    for at in places:
        if at.time is not None:
            by_video.setdefault(at.video, []).append(at)
    wider = {}
    for video, unordered in by_video.items():
        ordered = sorted(unordered, key=lambda at: at.time or 0.0)
        x = (features or {}).get(video, np.empty((0, 1)))
        inner = [
            min(_border(left, right, x, seconds), lengths[video])
            for left, right in pairwise(ordered)
        ]
        end = max(lengths[video], ordered[-1].end or 0.0)  # the last interval may be partial
        borders = pairwise([0.0, *inner, end])
        for at, (start, end) in zip(ordered, borders, strict=True):
            if at.evidence != BY_HAND:
                wider[video, at.step] = replace(at, start=start, end=end)
    return tuple(wider.get((at.video, at.step), at) for at in places)


def _border(
    left: Localisation, right: Localisation, x: NDArray[np.floating], seconds: float
) -> float:
    """Return where a step ends and the next one begins, between their places.

    It is the split of both extents that explains most of the scatter of their rows. Near the ends,
    a split explains much by chance; so a parabola around the middle of the pause, as wide as the
    places are apart, is the weight.
    """
    first, last = left.time or 0.0, right.time or 0.0
    end = last if left.end is None else left.end
    start = first if right.start is None else right.start
    if BY_HAND in (left.evidence, right.evidence):
        border = end if left.evidence == BY_HAND else start
        return min(max(border, first), last)
    middle = min(max((start + end) / 2, first), last)
    offset = round((first if left.start is None else left.start) / seconds)
    rows = x[offset : round((last if right.end is None else right.end) / seconds)]
    if len(rows) < 2:
        return middle
    before = np.arange(1, len(rows))  # number of rows before the split
    sums = np.cumsum(rows - rows.mean(axis=0, dtype=np.float64), axis=0)[:-1]
    explained = (sums**2).sum(axis=1) / (before * (len(rows) - before))
    times = (offset + before) * seconds
    weight = ((last - first) / 2) ** 2 - (times - middle) ** 2
    gain = np.where((first < times) & (times < last), weight * explained, 0.0)
    return float(times[gain.argmax()]) if gain.max() > 0 else middle


def _coarsening(features: Features, seconds: float) -> int:
    """Return how many intervals make one of the grid of learning.

    It is coarser than usual for a collection so large that leaving videos out would take hours.
    """
    usual = KINDS["sight"].coarsening(seconds)
    needed = 8 * sum((len(x) / usual) ** 2 for x in features.values())  # bytes of the factors
    return usual * max(1, math.ceil(math.sqrt(needed / FACTOR_MEMORY)))


def _standardised(scores: Sequence[Floats]) -> list[Floats]:
    """Return scores of mean 0 and deviation 1 over all videos: how distinct they are may differ."""
    every = np.concatenate(scores)
    mean, deviation = every.mean(axis=0), np.maximum(every.std(axis=0), 1e-12)
    return [(score - mean) / deviation for score in scores]


def moving_sum(values: Floats, radius: int) -> Floats:
    """Return the sum of each column over the rows within ``radius`` of every row."""
    total = np.vstack([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    row = np.arange(len(values))
    sums: Floats = (
        total[np.minimum(row + radius + 1, len(row))] - total[np.maximum(row - radius, 0)]
    )
    return sums
