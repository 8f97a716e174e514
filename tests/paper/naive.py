"""Slow, obviously right versions of the mathematics of the script."""

from functools import cache
from itertools import combinations, pairwise, product

import numpy as np


def random_instance(
    seed: int, *, sequences: int, longest: int, relations: int, alike: float = 0.15
) -> tuple[list[list[int]], np.ndarray]:
    """Sequences with repeats and a symmetric match that need not be transitive."""
    generator = np.random.default_rng(seed)
    match = generator.random((relations, relations)) < alike
    match = match | match.T | np.eye(relations, dtype=bool)
    rows = [
        generator.integers(relations, size=generator.integers(longest + 1)).tolist()
        for _ in range(sequences)
    ]
    return rows, match


def increasing(slots) -> bool:
    return all(left < right for left, right in pairwise(slots))


def objective(sequences, match, slots) -> int:
    """Σ over all ordered pairs of tokens in one slot, term by term."""
    placed = [
        (slot, relation)
        for row, slots_of_row in zip(sequences, slots, strict=True)
        for relation, slot in zip(row, slots_of_row, strict=True)
    ]
    return sum(
        (-1 if match[d][e] else 100) for (k, d), (l_, e) in product(placed, placed) if k == l_
    )


def optimum(sequences, match) -> int:
    """Best objective on a template of any length: each column advances some of the sequences."""
    rows = [row for row in sequences if row]

    @cache
    def best(done: tuple[int, ...]) -> int:
        ready = [n for n, count in enumerate(done) if count < len(rows[n])]
        if not ready:
            return 0
        values = []
        for size in range(1, len(ready) + 1):
            for column in combinations(ready, size):
                relations = [rows[n][done[n]] for n in column]
                cost = sum(-1 if match[d][e] else 100 for d in relations for e in relations)
                rest = tuple(count + (n in column) for n, count in enumerate(done))
                values.append(cost + best(rest))
        return min(values)

    return best((0,) * len(rows))


def cheapest_placement(cost) -> float:
    tokens, length = cost.shape
    return min(
        sum(cost[i, slot] for i, slot in enumerate(slots))
        for slots in combinations(range(length), tokens)
    )
