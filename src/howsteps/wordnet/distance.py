"""Path distance in the hypernym graph."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

_ROOT = -1


def path_distance(
    first: Iterable[int],
    second: Iterable[int],
    starts: npt.NDArray[np.int32],
    hypernyms: npt.NDArray[np.int32],
    *,
    simulate_root: bool,
) -> int | None:
    """Return the length of the shortest path between two sets of synsets.

    A path goes up from one synset to a common ancestor and down to the other:

        d(A, B) = min over a ∈ A, b ∈ B and ancestors c of both of  up(a, c) + up(b, c)

    where up(a, c) is the least number of hypernym links from a to c, and up(a, a) = 0.

    Parameters
    ----------
    first, second
        The synsets A and B.
    starts, hypernyms
        The hypernyms of synset i are ``hypernyms[starts[i]:starts[i + 1]]``.
    simulate_root
        Join all trees under one made-up root, so that there always is a path. As in NLTK, the root
        lies one link above the *farthest* ancestor of a synset, not above the nearest tree top.

    Returns
    -------
    The distance, or None where no path exists.
    """
    up_first = _climb(first, starts, hypernyms, simulate_root)
    up_second = _climb(second, starts, hypernyms, simulate_root)
    common = up_first.keys() & up_second.keys()
    return min((up_first[c] + up_second[c] for c in common), default=None)


def _climb(
    synsets: Iterable[int],
    starts: npt.NDArray[np.int32],
    hypernyms: npt.NDArray[np.int32],
    simulate_root: bool,
) -> dict[int, int]:
    """Return min over a of up(a, c) for every ancestor c of some synset a."""
    nearest: dict[int, int] = {}
    for synset in synsets:
        up = _ancestors(synset, starts, hypernyms)
        if simulate_root:
            up[_ROOT] = max(up.values()) + 1
        for ancestor, links in up.items():
            nearest[ancestor] = min(links, nearest.get(ancestor, links))
    return nearest


def _ancestors(
    synset: int, starts: npt.NDArray[np.int32], hypernyms: npt.NDArray[np.int32]
) -> dict[int, int]:
    """Return up(synset, c) for every ancestor c, by breadth-first search."""
    up = {synset: 0}
    level = [synset]
    while level:
        above = []
        for below in level:
            for hypernym in hypernyms[starts[below] : starts[below + 1]].tolist():
                # WordNet holds a cycle of verbs, so a synset may be met again on the way up.
                if hypernym not in up:
                    up[hypernym] = up[below] + 1
                    above.append(hypernym)
        level = above
    return up
