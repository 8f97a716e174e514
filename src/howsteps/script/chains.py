"""Which mentions of a step are the doing of it, and which a preview, a recap or a slip.

In every video the mentions that follow the order of the script best are kept: a chain in which the
step never goes back. A mention counts by how well its place in the video suits the step, and by how
likely it is work; further mentions of a step that is already in the chain count less.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled

LEAST_SPREAD = 0.1  # of a video's length
ANYWHERE = 0.05  # what a mention far from the usual place still counts
TALK = 0.3  # what talk counts beside the 1.3 of work
AGAIN = 0.3  # what a further mention of the same step counts

Indices = NDArray[np.int64]


def kept_in_order(
    steps: Sequence[Indices],
    videos: Indices,
    places: NDArray[np.float64],
    free: Sequence[Sequence[int]] = (),
    work: NDArray[np.float64] | None = None,
) -> list[Indices]:
    """The mentions of each step that its videos' chains hold, sorted.

    Parameters
    ----------
    steps
        The mentions of each step as indices, in the order of the script.
    videos, places
        The video of every mention, and its place in it, from 0 to 1.
    free
        Groups of steps that come in any order.
    work
        How likely each mention is work and not talk, where that is known.
    """
    if not steps:
        return []
    may_follow = np.triu(np.ones((len(steps), len(steps)), dtype=np.bool_))
    for group in free:
        may_follow[np.ix_(group, group)] = True
    mentions = np.concatenate(list(steps))
    step = np.repeat(np.arange(len(steps)), [len(own) for own in steps])
    fits = np.concatenate([_fits(places[own]) for own in steps])
    if work is not None:
        fits = fits * (TALK + work[mentions])
    order = np.lexsort((step, places[mentions], videos[mentions]))
    mentions, step, fits = mentions[order], step[order], fits[order]
    bounds = np.flatnonzero(np.diff(videos[mentions], prepend=-1, append=-1)).astype(np.int64)
    kept = np.zeros(len(mentions), dtype=np.bool_)
    _chains(bounds, step, fits, may_follow, kept)
    return [np.sort(mentions[kept & (step == k)]) for k in range(len(steps))]


def _fits(places: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = max(LEAST_SPREAD, float(places.std()))
    z = (places - places.mean()) / spread
    return np.asarray(np.exp(-0.25 * z**2) + ANYWHERE)


@compiled
def _chains(bounds: Any, step: Any, fits: Any, may_follow: Any, kept: Any) -> None:
    for n in range(len(bounds) - 1):
        begin, end = bounds[n], bounds[n + 1]
        size = end - begin
        best = np.zeros(size)
        previous = np.full(size, -1)
        for a in range(size):
            best[a] = fits[begin + a]
            for b in range(a):
                if may_follow[step[begin + b], step[begin + a]]:
                    weight = AGAIN if step[begin + b] == step[begin + a] else 1.0
                    worth = best[b] + weight * fits[begin + a]
                    if worth > best[a]:
                        best[a], previous[a] = worth, b
        at = best.argmax()
        while at >= 0:
            kept[begin + at] = True
            at = previous[at]
