"""The order of the steps: rank aggregation, mentions that follow the order, and its variation.

**Rank aggregation.** A video that names the steps a and b votes "a before b" with the share of
pairs of its mentions in which a comes first, so that neither a preview nor a recap decides by
itself. With P[a, b] the sum of the votes, the Kemeny order maximises

    Σ over a placed before b of  (P[a, b] − P[b, a]) + prior[a, b],

where the prior is a small preference for the step that comes earlier in the videos on average: it
decides where few videos name both. The order is a local optimum under moves of single steps, which
is nearly always the best there is.

**Chains.** Mentions of a step may be a preview, a recap or an error. In every video, those that
follow the order of the script best are kept: a heaviest chain, by dynamic programming, in which the
step index never decreases. The weight of a mention is how well its position in the video fits the
step, times how likely it is work; further mentions of a step right after one another count less.

**Partial order.** Two steps can be swapped when at least a third of the videos that name both, and
at least two, name them in reverse order. A step is rarely mentioned when its support is less than a
third of the highest. All mentions of a video count, by their median time, not only those that
follow the order. Narrators leave things out, so this holds for what they say, not always for the
work.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.task import Relation, Script, Task

POSITION_WEIGHT = 1.0  # votes
POSITION_SCALE = 0.1  # gap between positions at which the prior saturates
MIN_SPREAD = 0.1  # of positions, relative to the duration of the video
MIN_FIT = 0.05  # of a mention far from the usual position
TALK_WEIGHT = 0.3  # of a mention that is certainly talk; of certain work it is 1.3
REPEAT_WEIGHT = 0.3  # of a further mention of the same step
SWAP_SHARE, SWAP_VIDEOS = 1 / 3, 2
RARE_SHARE = 1 / 3
Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]


def precedence(
    steps: Sequence[NDArray[np.int64]], videos: NDArray[np.int64], times: NDArray[np.float64]
) -> Matrix:
    """P[a, b]: the votes for step a before step b; each video has one vote per pair.

    Parameters
    ----------
    steps
        The mentions of each step, as indices.
    videos, times
        The video of every mention, and its time.
    """
    times_by_video = [_times_by_video(members, videos, times) for members in steps]
    before = np.zeros((len(steps), len(steps)))
    for a, times_a in enumerate(times_by_video):
        for b, times_b in enumerate(times_by_video[:a]):
            for video in times_a.keys() & times_b.keys():
                difference = times_a[video][:, None] - times_b[video][None, :]
                share = float(((difference < 0) + 0.5 * (difference == 0)).mean())
                before[a, b] += share
                before[b, a] += 1.0 - share
    return before


def aggregate(before: Matrix, positions: NDArray[np.float64]) -> list[int]:
    """The Kemeny order of the steps, as far as moves of single steps reach it.

    Parameters
    ----------
    before
        P of :func:`precedence`.
    positions
        The mean relative position of each step in the videos, in [0, 1].
    """
    prior = POSITION_WEIGHT * np.tanh((positions[None, :] - positions[:, None]) / POSITION_SCALE)
    gain = before - before.T + prior
    starts = (np.argsort(positions, kind="stable"), np.argsort(-gain.sum(axis=1), kind="stable"))
    orders = [_improved_by_moves([int(step) for step in start], gain) for start in starts]
    return max(orders, key=lambda order: kemeny_score(order, gain))


def kemeny_score(order: Sequence[int], gain: Matrix) -> float:
    """Σ gain[a, b] over all a placed before b."""
    return float(np.triu(gain[np.ix_(order, order)], 1).sum())


def _times_by_video(
    members: NDArray[np.int64], videos: NDArray[np.int64], times: NDArray[np.float64]
) -> dict[int, NDArray[np.float64]]:
    found: dict[int, list[float]] = {}
    for mention in members:
        found.setdefault(int(videos[mention]), []).append(float(times[mention]))
    return {video: np.array(values) for video, values in found.items()}


def _improved_by_moves(order: list[int], gain: Matrix) -> list[int]:
    """Move single steps to their best index until no move improves the score."""
    improved = True
    while improved:
        improved = False
        for step in tuple(order):
            here = order.index(step)
            rest = order[:here] + order[here + 1 :]
            before = np.concatenate([[0.0], np.cumsum(gain[rest, step])])
            after = gain[step, rest].sum() - np.concatenate([[0.0], np.cumsum(gain[step, rest])])
            scores = before + after
            best = int(scores.argmax())
            if scores[best] > scores[here] + 1e-9:
                order, improved = [*rest[:best], step, *rest[best:]], True
    return order


def keep_in_order(
    steps: Sequence[Indices],
    videos: Indices,
    positions: NDArray[np.float64],
    free: Sequence[Sequence[int]] = (),
    work: NDArray[np.float64] | None = None,
) -> list[Indices]:
    """The mentions of each step that follow the order of the script in their video, ascending.

    Parameters
    ----------
    steps
        The mentions of each step as indices, in the order of the script.
    videos, positions
        The video of every mention, and its relative position in it, in [0, 1].
    free
        Groups of steps that may come in any order.
    work
        The probability that each mention is work, not talk; None: not taken into account.
    """
    if not steps:
        return []
    may_follow = np.triu(np.ones((len(steps), len(steps)), dtype=np.bool_))
    for group in free:
        may_follow[np.ix_(group, group)] = True
    mentions = np.concatenate(list(steps))
    step = np.repeat(np.arange(len(steps)), [len(members) for members in steps])
    weights = np.concatenate([_fit(positions[members]) for members in steps])
    if work is not None:
        weights = weights * (TALK_WEIGHT + work[mentions])
    order = np.lexsort((step, positions[mentions], videos[mentions]))
    mentions, step, weights = mentions[order], step[order], weights[order]
    kept = np.zeros(len(mentions), dtype=np.bool_)
    bounds = np.flatnonzero(np.diff(videos[mentions], prepend=-1, append=-1))
    for begin, end in pairwise(bounds.tolist()):
        chain = _heaviest_chain(step[begin:end], weights[begin:end], may_follow)
        kept[begin + np.array(chain)] = True
    return [np.sort(mentions[kept & (step == k)]) for k in range(len(steps))]


def _fit(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """How well each position fits the step, by a Gaussian around their mean."""
    if not len(positions):
        return positions
    spread = max(MIN_SPREAD, float(positions.std()))
    z = (positions - positions.mean()) / spread
    return np.asarray(np.exp(-0.25 * z**2) + MIN_FIT)


def _heaviest_chain(step: Indices, weights: Matrix, may_follow: NDArray[np.bool_]) -> list[int]:
    """The mentions of the heaviest chain of one video, last first."""
    best, previous = weights.copy(), np.full(len(step), -1)
    for a in range(1, len(step)):
        factor = np.where(step[:a] == step[a], REPEAT_WEIGHT, 1.0)
        total = np.where(may_follow[step[:a], step[a]], best[:a] + factor * weights[a], -np.inf)
        before = int(total.argmax())
        if total[before] > best[a]:
            best[a], previous[a] = total[before], before
    chain = [int(best.argmax())]
    while previous[chain[-1]] >= 0:
        chain.append(int(previous[chain[-1]]))
    return chain


class Swap(NamedTuple):
    """Two steps (counted from 0), and how many videos name them in order and swapped."""

    one: int
    two: int
    in_order: int
    swapped: int


class PartialOrder(NamedTuple):
    """The pairs of steps that can be swapped, and the steps that few videos mention."""

    swaps: tuple[Swap, ...]
    rarely_mentioned: tuple[int, ...]


def partial_order(task: Task, script: Script) -> PartialOrder:
    """The swaps and the rarely mentioned steps of a script, from all mentions of the videos."""
    named = when_named(task, script)
    swaps = []
    for one in range(len(script.steps)):
        for two in range(one + 1, len(script.steps)):
            both = [times for times in named.values() if one in times and two in times]
            swapped = sum(times[two] < times[one] for times in both)
            if swapped >= max(SWAP_VIDEOS, SWAP_SHARE * len(both)):
                swaps.append(Swap(one, two, len(both) - swapped, swapped))
    highest = max((step.support for step in script.steps), default=0)
    rare = (k for k, step in enumerate(script.steps) if step.support < RARE_SHARE * highest)
    return PartialOrder(tuple(swaps), tuple(rare))


def when_named(task: Task, script: Script) -> Mapping[str, Mapping[int, float]]:
    """The median time at which each video names each step, by video id and step.

    So neither a preview nor a recap decides by itself, as in :func:`precedence`. Only relations
    that belong to a single step count: the same words in two steps ("tighten the nuts", and later
    again) do not tell which of them is meant.
    """
    steps_of: defaultdict[Relation, set[int]] = defaultdict(set)
    for k, step in enumerate(script.steps):
        for relation, _ in step.relations:
            steps_of[relation].add(k)
    unique = {relation: min(steps) for relation, steps in steps_of.items() if len(steps) == 1}
    found: dict[str, dict[int, float]] = {}
    for video in task.videos:
        times: defaultdict[int, list[float]] = defaultdict(list)
        for mention in video.mentions:
            named = unique.get(mention.relation)
            if named is not None and not mention.negated:
                times[named].append(mention.start)
        found[video.id] = {step: median(starts) for step, starts in times.items()}
    return found
