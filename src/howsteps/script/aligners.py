"""Baselines: two aligners from biology, on the same problem and the same costs.

*Progressive* alignment (Clustal): a guide tree from the distances of pairs, then profiles are
merged up the tree, each merge exact for the two profiles. *Partial-order* alignment (POA):
sequences are added one by one to a graph of columns, each along its heaviest path. Neither revises
earlier choices, so each is run for several orders and the best is kept. Both use the gain of the
objective itself, −2 Σ c.
"""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import average
from scipy.spatial.distance import squareform

from howsteps.compiled import compiled
from howsteps.script.alignment import Alignment
from howsteps.script.bounds import pair_bound
from howsteps.script.problem import AlignmentProblem, Match, Token, pose

Columns = list[list[int]]  # tokens, in order of slots


def progressive_alignment(
    sequences: Sequence[Sequence[Token]],
    match: Match | None = None,
    *,
    orders: int = 5,
    seed: int = 0,
) -> Alignment:
    """Merge profiles up a guide tree; ``orders`` trees, all but the first with noisy distances."""
    return _best_of(pose(sequences, match), _progressive, orders, seed)


def partial_order_alignment(
    sequences: Sequence[Sequence[Token]],
    match: Match | None = None,
    *,
    orders: int = 5,
    seed: int = 0,
) -> Alignment:
    """Add the sequences to a graph of columns; ``orders`` orders, the first by length."""
    return _best_of(pose(sequences, match), _partial_order, orders, seed)


def _best_of(
    problem: AlignmentProblem,
    build: Callable[[AlignmentProblem, int, np.random.Generator], Columns],
    orders: int,
    seed: int,
) -> Alignment:
    start = perf_counter()
    generator = np.random.default_rng(seed)
    best, trace = problem.tokens, []
    lowest: float = np.inf
    for attempt in range(orders):
        slots = np.zeros(len(problem.tokens), dtype=np.int64)
        for at, column in enumerate(build(problem, attempt, generator)):
            slots[column] = at
        value = problem.objective(slots)
        if value < lowest:
            best, lowest = slots, value
            trace.append((perf_counter() - start, value))
    return Alignment(
        slots=problem.split(best),
        objective=problem.objective(best),
        tokens=len(problem.tokens),
        bound=pair_bound(problem),
        trace=tuple(trace),
        seconds=perf_counter() - start,
    )


@compiled
def _heaviest_matching(gain: Any) -> Any:
    """Mark for every row the column that it is matched with (−1: none), in order, heaviest."""
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
    counts = np.zeros((len(columns), len(problem.match)))
    for at, column in enumerate(columns):
        np.add.at(counts[at], problem.tokens[column], 1)
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


def _progressive(
    problem: AlignmentProblem, attempt: int, generator: np.random.Generator
) -> Columns:
    profiles: list[Columns] = [
        [[s] for s in range(begin, end)]
        for begin, end in zip(problem.first[:-1], problem.first[1:], strict=True)
    ]
    many = len(profiles)
    if many < 2:
        return profiles[0] if profiles else []
    distance = np.zeros((many, many))
    for n in range(many):
        for m in range(n):
            alike = problem.match[
                np.ix_(problem.tokens[[c[0] for c in profiles[n]]],
                       problem.tokens[[c[0] for c in profiles[m]]])
            ]  # fmt: skip
            common = (_heaviest_matching(alike.astype(np.float64)) >= 0).sum() if alike.size else 0
            distance[n, m] = distance[m, n] = 1 - common / max(1, min(alike.shape))
    noise = 0.0 if attempt == 0 else 0.2
    jitter = generator.random((many, many)) * noise
    tree = average(squareform(distance + np.triu(jitter, 1) + np.triu(jitter, 1).T, checks=False))
    for left, right, _, _ in tree:
        profiles.append(_merge(problem, profiles[int(left)], profiles[int(right)]))
    return profiles[-1]


def _partial_order(
    problem: AlignmentProblem, attempt: int, generator: np.random.Generator
) -> Columns:
    order = generator.permutation(len(problem.lengths))
    if attempt == 0:
        order = np.argsort(-problem.lengths, kind="stable")
    columns: Columns = []  # the nodes of the graph
    before: list[set[int]] = []  # and their predecessors
    ranked: list[int] = []  # in topological order
    counts = np.zeros((0, len(problem.match)))
    for n in order:
        tokens = list(range(problem.first[n], problem.first[n + 1]))
        gain = -2 * counts @ problem.costs[:, problem.tokens[tokens]]
        path = _heaviest_path(gain, before, ranked)
        left = -1
        fresh = np.zeros((len(tokens), len(problem.match)))
        opened = 0
        for s, node in zip(tokens, path, strict=True):
            at = node
            if node < 0:
                at = len(columns)
                columns.append([])
                before.append(set())
                fresh[opened, problem.tokens[s]] = 1
                opened += 1
            else:
                counts[at, problem.tokens[s]] += 1
            columns[at].append(s)
            if left >= 0:
                before[at].add(left)
            left = at
        counts = np.concatenate([counts, fresh[:opened]])
        ranked = _topological(before)
    return [columns[node] for node in ranked]


def _heaviest_path(
    gain: NDArray[np.float64], before: list[set[int]], ranked: list[int]
) -> list[int]:
    """Return for every token the node that it joins on one path through the graph (−1: none).

    value[v, i]: heaviest way to place the first i tokens on a path that ends at or before node v.
    """
    many = gain.shape[1]
    value: dict[int, NDArray[np.float64]] = {}
    arrived: dict[int, NDArray[np.int64]] = {}
    ended = (0.0, -1)
    for node in ranked:
        came = np.full(many + 1, -1)
        base = np.zeros(many + 1)
        for previous in before[node]:
            better = value[previous] > base
            base[better] = value[previous][better]
            came[better] = previous
        reached = base.copy()
        joins = np.where(gain[node] > 0, base[:-1] + gain[node], -np.inf)
        reached[1:] = np.maximum(base[1:], joins)
        value[node] = np.maximum.accumulate(reached)
        arrived[node] = came
        if value[node][-1] > ended[0]:
            ended = (float(value[node][-1]), node)
    path = [-1] * many
    i, node = many, ended[1]
    while node >= 0 and i > 0:
        came = arrived[node]
        base_at = value[int(came[i])][i] if came[i] >= 0 else 0.0
        if value[node][i] == value[node][i - 1]:
            i -= 1
        elif value[node][i] == base_at:
            node = int(came[i])
        else:
            i -= 1
            path[i] = node
            node = int(came[i])
    return path


def _topological(before: list[set[int]]) -> list[int]:
    after: list[list[int]] = [[] for _ in before]
    waiting = [len(previous) for previous in before]
    for node, previous in enumerate(before):
        for one in previous:
            after[one].append(node)
    ranked = [node for node, count in enumerate(waiting) if count == 0]
    for node in ranked:
        for following in after[node]:
            waiting[following] -= 1
            if waiting[following] == 0:
                ranked.append(following)
    return ranked
