"""The baselines of Appendix B.2: two aligners from bioinformatics, on the same problem and costs.

*Progressive* alignment (Clustal): a guide tree is built from pairwise distances, then profiles are
merged up the tree, each merge exact for its two profiles. *Partial-order* alignment (POA):
sequences are added one by one, the longest first, to a graph of columns, each along its heaviest
path. Neither revises earlier choices. Both maximise the gain of the objective itself, −2 Σ c.
"""

from collections.abc import Sequence
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import average
from scipy.spatial.distance import squareform

from howsteps.compiled import compiled
from howsteps.paper.alignment import Alignment, common_lengths, pair_bound
from howsteps.paper.alignment_problem import AlignmentProblem, Token, make_problem

Columns = list[list[int]]  # tokens, in order of slots


def progressive_alignment(
    sequences: Sequence[Sequence[Token]], match: ArrayLike | None = None
) -> Alignment:
    """Merge profiles up a guide tree."""
    problem = make_problem(sequences, match)
    profiles = [[[s] for s in range(begin, end)] for begin, end in pairwise(problem.first)]
    for left, right in _guide_tree(problem):
        profiles.append(_merge(problem, profiles[left], profiles[right]))
    return _alignment(problem, profiles[-1] if profiles else [])


def partial_order_alignment(
    sequences: Sequence[Sequence[Token]], match: ArrayLike | None = None
) -> Alignment:
    """Add the sequences to a graph of columns."""
    problem = make_problem(sequences, match)
    return _alignment(problem, _partial_order(problem))


def _alignment(problem: AlignmentProblem, columns: Columns) -> Alignment:
    slots = np.zeros(len(problem.tokens), dtype=np.int64)
    for slot, column in enumerate(columns):
        slots[column] = slot
    return Alignment(
        slots=problem.split(slots),
        objective=problem.objective(slots),
        tokens=len(slots),
        bound=pair_bound(problem),
    )


@compiled
def _heaviest_matching(gain: Any) -> Any:
    """The heaviest increasing matching: for every row its column (−1: none)."""
    height, width = gain.shape
    best = np.zeros((height + 1, width + 1))
    for i in range(1, height + 1):
        for j in range(1, width + 1):
            best[i, j] = max(best[i - 1, j], best[i, j - 1])
            if gain[i - 1, j - 1] > 0:
                best[i, j] = max(best[i, j], best[i - 1, j - 1] + gain[i - 1, j - 1])
    partner = np.full(height, -1, dtype=np.int64)
    i, j = height, width
    while i > 0 and j > 0:
        if best[i, j] == best[i - 1, j]:
            i -= 1
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            i -= 1
            j -= 1
            partner[i] = j
    return partner


def _profile(problem: AlignmentProblem, columns: Columns) -> NDArray[np.float64]:
    """The counts of relations in each column (columns × relations)."""
    counts = np.zeros((len(columns), len(problem.match)))
    for index, column in enumerate(columns):
        np.add.at(counts[index], problem.tokens[column], 1)
    return counts


def _merge(problem: AlignmentProblem, left: Columns, right: Columns) -> Columns:
    """Align two profiles exactly and merge their columns."""
    gain = -2 * _profile(problem, left) @ problem.costs @ _profile(problem, right).T
    merged: Columns = []
    used = 0
    for column, partner in zip(left, _heaviest_matching(gain).tolist(), strict=True):
        if partner < 0:
            merged.append(column)
        else:
            merged += right[used:partner]
            merged.append(column + right[partner])
            used = partner + 1
    return merged + right[used:]


def _guide_tree(problem: AlignmentProblem) -> NDArray[np.int64]:
    """The pairs of profiles to merge, by average linkage; each merge is numbered as a new profile.

    The distance of two sequences is the share of the shorter one that is not in their longest
    common subsequence.
    """
    if len(problem.lengths) < 2:
        return np.empty((0, 2), np.int64)
    shorter = np.minimum.outer(problem.lengths, problem.lengths)
    distance = 1 - common_lengths(problem) / np.maximum(1, shorter)
    np.fill_diagonal(distance, 0.0)
    pairs: NDArray[np.int64] = average(squareform(distance))[:, :2].astype(np.int64)
    return pairs


def _partial_order(problem: AlignmentProblem) -> Columns:
    columns: Columns = []  # the nodes of the graph
    predecessors: list[set[int]] = []
    topological_order: list[int] = []
    counts = np.zeros((0, len(problem.match)))
    for n in np.argsort(-problem.lengths, kind="stable"):
        tokens = list(range(problem.first[n], problem.first[n + 1]))
        gain = -2 * counts @ problem.costs[:, problem.tokens[tokens]]
        path = _heaviest_path(gain, predecessors, topological_order)
        left = -1
        new_counts = np.zeros((len(tokens), len(problem.match)))
        n_new = 0
        for s, node in zip(tokens, path, strict=True):
            column = node
            if node < 0:
                column = len(columns)
                columns.append([])
                predecessors.append(set())
                new_counts[n_new, problem.tokens[s]] = 1
                n_new += 1
            else:
                counts[column, problem.tokens[s]] += 1
            columns[column].append(s)
            if left >= 0:
                predecessors[column].add(left)
            left = column
        counts = np.concatenate([counts, new_counts[:n_new]])
        topological_order = _topological_sort(predecessors)
    return [columns[node] for node in topological_order]


def _heaviest_path(
    gain: NDArray[np.float64], predecessors: list[set[int]], topological_order: list[int]
) -> list[int]:
    """For every token the node that it joins on the heaviest path through the graph (−1: none).

    value[v][i] is the heaviest placement of the first i tokens on a path that ends at or before v.
    """
    n_tokens = gain.shape[1]
    value: dict[int, NDArray[np.float64]] = {}
    best_previous_of: dict[int, NDArray[np.int64]] = {}
    best_end = (0.0, -1)
    for node in topological_order:
        best_previous = np.full(n_tokens + 1, -1)
        base = np.zeros(n_tokens + 1)
        for previous in predecessors[node]:
            better = value[previous] > base
            base[better] = value[previous][better]
            best_previous[better] = previous
        reached = base.copy()
        joins = np.where(gain[node] > 0, base[:-1] + gain[node], -np.inf)
        reached[1:] = np.maximum(base[1:], joins)
        value[node] = np.maximum.accumulate(reached)
        best_previous_of[node] = best_previous
        if value[node][-1] > best_end[0]:
            best_end = (float(value[node][-1]), node)
    path = [-1] * n_tokens
    i, node = n_tokens, best_end[1]
    while node >= 0 and i > 0:
        best_previous = best_previous_of[node]
        base_value = value[int(best_previous[i])][i] if best_previous[i] >= 0 else 0.0
        if value[node][i] == value[node][i - 1]:
            i -= 1
        elif value[node][i] == base_value:
            node = int(best_previous[i])
        else:
            i -= 1
            path[i] = node
            node = int(best_previous[i])
    return path


def _topological_sort(predecessors: list[set[int]]) -> list[int]:
    # The nodes first, so that of several that are free the first comes first.
    sorter = TopologicalSorter(dict.fromkeys(range(len(predecessors)), ()))
    for node, previous in enumerate(predecessors):
        sorter.add(node, *previous)
    return list(sorter.static_order())
