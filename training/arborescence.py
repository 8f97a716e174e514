"""The best dependency tree for a matrix of arc scores (Chu–Liu/Edmonds)."""

import numpy as np
from numpy.typing import NDArray


def best_tree(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Heads of the highest-scoring tree with exactly one root.

    Parameters
    ----------
    scores
        (n+1) × (n+1); ``scores[d, h]`` is the score of ``h`` governing ``d``, with place 0 the
        artificial root. Row 0 is ignored.

    Returns
    -------
    n+1 heads; the head of place 0 is -1.
    """
    heads = _arborescence(scores)
    roots = np.flatnonzero(heads[1:] == 0) + 1
    if len(roots) <= 1:
        return heads
    # More than one root: try each candidate alone and keep the best (exact, and seldom needed).
    best, best_value = heads, -np.inf
    for root in roots:
        single = scores.copy()
        others = np.arange(1, len(scores)) != root
        single[1:, 0][others] = -np.inf
        trial = _arborescence(single)
        value = single[np.arange(1, len(scores)), trial[1:]].sum()
        if value > best_value:
            best, best_value = trial, value
    return best


def _arborescence(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    scores = scores.copy()
    np.fill_diagonal(scores, -np.inf)
    heads = scores.argmax(axis=1)
    heads[0] = -1
    cycle = _cycle(heads)
    if cycle is None:
        return heads
    # Contract the cycle to one place, solve the smaller problem, and open the cycle again where
    # the solution enters it.
    inside = np.zeros(len(scores), dtype=bool)
    inside[cycle] = True
    outside = np.flatnonzero(~inside)
    weight = scores[cycle, heads[cycle]]
    enter = scores[np.ix_(cycle, outside)] - weight[:, None]
    leave = scores[np.ix_(outside, cycle)]
    size = len(outside)
    small = np.full((size + 1, size + 1), -np.inf)
    small[:size, :size] = scores[np.ix_(outside, outside)]
    small[size, :size] = enter.max(axis=0)
    small[:size, size] = leave.max(axis=1)
    solved = _arborescence(small)
    result = heads.copy()
    for place, dependent in enumerate(outside):
        if dependent == 0:
            continue
        head = solved[place]
        result[dependent] = cycle[leave[place].argmax()] if head == size else outside[head]
    entry = solved[size]
    broken = cycle[enter[:, entry].argmax()]
    result[broken] = outside[entry]
    return result


def _cycle(heads: NDArray[np.intp]) -> NDArray[np.intp] | None:
    colour = np.zeros(len(heads), dtype=int)
    for start in range(1, len(heads)):
        path = []
        node = start
        while node > 0 and colour[node] == 0:
            colour[node] = start
            path.append(node)
            node = heads[node]
        if node > 0 and colour[node] == start:
            return np.array(path[path.index(node) :])
    return None
