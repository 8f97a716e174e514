"""The global order of the steps of a task, from the orders in the videos.

The global order π of K steps maximises Σ_n l_n(π), where l_n is the length of the longest common
subsequence (LCS) of π and the steps of video n in order of time; it minimises the order error
1 − Σl/Σu. A branch and bound over prefixes of π proves the optimum:

* best[n, j], the LCS length of the prefix and the first j steps of video n, is updated by one row
  of the dynamic program when a step is appended;
* Σ_n max_j (best[n, j] + number of distinct unplaced steps from j on) bounds all completions;
* of two prefixes with the same set of steps, one whose ``best`` is nowhere larger is pruned.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.evaluate.inputs import EvaluationError, is_integer

Table: TypeAlias = NDArray[np.int16]

# Real data sets need a few hundred; this many take some seconds.
_MAX_PREFIXES = 10_000
# No search with more steps, for example if every video has its own.
_MAX_STEPS = 30
# No search if the tables (K×N×T) have more cells; real data sets have some 100,000.
_MAX_CELLS = 1_000_000
_MAX_SEEN_CELLS = 100_000_000  # of the tables (N×T, two bytes a cell) kept for prefixes


@dataclass(frozen=True, slots=True)
class Order:
    """A global order of steps, its agreement Σ l_n, and whether it is ``proved`` to be optimal."""

    steps: tuple[int, ...]
    agreement: int
    proved: bool


def agreement(order: Sequence[int], sequences: Sequence[Sequence[int]]) -> list[int]:
    """Return l_n, the LCS length of ``order`` and each sequence.

    It is the longest increasing subsequence of the positions in ``order``, which has a step once.
    """
    position = {step: i for i, step in enumerate(order)}
    lengths = []
    for sequence in sequences:
        ends: list[int] = []  # ends[l]: the smallest end of an increasing subsequence of length l+1
        for i in (position[step] for step in sequence if step in position):
            at = bisect_left(ends, i)
            ends[at : at + 1] = [i]
        lengths.append(len(ends))
    return lengths


def find_order(sequences: Sequence[Sequence[int]], steps: int, most: int = _MAX_PREFIXES) -> Order:
    """Return the global order that agrees best with the order of steps in each video.

    Parameters
    ----------
    sequences
        The steps of each video in order of time, numbered from 0; a step may repeat.
    steps
        K, the number of steps.
    most
        Maximum number of prefixes to examine; then the best order so far is returned unproved.

    Raises
    ------
    EvaluationError
        If a step is not one of 0 … K − 1.
    """
    for n, sequence in enumerate(sequences):
        for step in sequence:
            if not is_integer(step) or not 0 <= step < steps:
                raise EvaluationError(f"step {step!r} in sequence {n}: must be 0 … {steps - 1}")
    order = _by_mean_position(sequences, steps)
    cells = steps * len(sequences) * (1 + max(map(len, sequences), default=0))
    if steps > _MAX_STEPS or cells > _MAX_CELLS:
        return Order(tuple(order), sum(agreement(order, sequences)), proved=False)
    table = _Sequences.of(sequences, steps)
    order, value = _local_search(table, order)
    width = len(sequences) * (1 + max(map(len, sequences), default=0))
    most = min(most, max(1, _MAX_SEEN_CELLS // max(width, 1)))
    search = _Search(table, tuple(order), value, most)
    search.extend((), table.start(), tuple(range(steps)))
    return Order(search.order, search.agreement, search.prefixes_left > 0)


@dataclass(frozen=True, slots=True)
class _Sequences:
    """All sequences as one array, N×T, padded with −1.

    ``ahead[s, n, j]`` is 1 if step s occurs at index j or later in video n.
    """

    steps: NDArray[np.int64]
    ahead: Table

    @classmethod
    def of(cls, sequences: Sequence[Sequence[int]], steps: int) -> "_Sequences":
        longest = max(map(len, sequences), default=0)
        padded = np.full((len(sequences), longest), -1, dtype=np.int64)
        for n, sequence in enumerate(sequences):
            padded[n, : len(sequence)] = sequence
        ahead = np.zeros((steps, len(sequences), longest + 1), dtype=np.int16)
        for step in range(steps):
            from_end = (padded == step)[:, ::-1]
            ahead[step, :, :-1] = np.logical_or.accumulate(from_end, axis=1)[:, ::-1]
        return cls(padded, ahead)

    def start(self) -> Table:
        """Return ``best`` of the empty prefix, N×(T+1)."""
        n, longest = self.steps.shape
        return np.zeros((n, longest + 1), dtype=np.int16)

    def append(self, step: int, best: Table) -> Table:
        """Return ``best`` of the prefix with ``step`` appended."""
        longer = best.copy()
        longer[:, 1:] = np.maximum(best[:, 1:], (best[:, :-1] + 1) * (self.steps == step))
        return np.maximum.accumulate(longer, axis=1)

    def bound(self, best: Table, unplaced: Sequence[int]) -> int:
        """Return an upper bound of the agreement of all completions of a prefix."""
        ahead = self.ahead[list(unplaced)].sum(axis=0, dtype=np.int16)
        return int((best + ahead).max(axis=1).sum())

    def agreement(self, order: Sequence[int]) -> int:
        """Return Σ l_n of an order."""
        best = self.start()
        for step in order:
            best = self.append(step, best)
        return int(best[:, -1].sum())


class _Search:
    """Depth-first branch and bound, the most promising prefix first."""

    def __init__(
        self, table: _Sequences, order: tuple[int, ...], agreement: int, max_prefixes: int
    ) -> None:
        self.table = table
        self.order = order
        self.agreement = agreement
        self.prefixes_left = max_prefixes
        self._seen: dict[frozenset[int], list[Table]] = {}

    def extend(self, prefix: tuple[int, ...], best: Table, unplaced: tuple[int, ...]) -> None:
        """Search all completions of a prefix, and keep the best order."""
        if not unplaced:
            if (agreement := int(best[:, -1].sum())) > self.agreement:
                self.order, self.agreement = prefix, agreement
            return
        branches = []
        for step in unplaced:
            rest = tuple(other for other in unplaced if other != step)
            extended = self.table.append(step, best)
            branches.append((self.table.bound(extended, rest), step, extended, rest))
        for bound, step, extended, rest in sorted(branches, key=lambda branch: -branch[0]):
            if bound <= self.agreement or self.prefixes_left <= 0:
                return
            if not self._is_dominated(frozenset(rest), extended):
                self.prefixes_left -= 1
                self.extend((*prefix, step), extended, rest)

    def _is_dominated(self, unplaced: frozenset[int], best: Table) -> bool:
        """Return whether a prefix seen earlier, of the same steps, is nowhere worse."""
        seen = self._seen.setdefault(unplaced, [])
        if any((other >= best).all() for other in seen):
            return True
        seen.append(best)
        return False


def _by_mean_position(sequences: Sequence[Sequence[int]], steps: int) -> list[int]:
    """Return the steps in order of their mean relative position."""
    positions: list[list[float]] = [[] for _ in range(steps)]
    for sequence in sequences:
        for i, step in enumerate(sequence):
            positions[step].append((i + 0.5) / len(sequence))
    means = [float(np.mean(values)) if values else 0.5 for values in positions]
    return sorted(range(steps), key=lambda step: means[step])


def _local_search(table: _Sequences, order: list[int]) -> tuple[list[int], int]:
    """Move single steps as long as the agreement rises; return the order and its agreement."""
    best = table.agreement(order)
    improved = True
    while improved:
        improved = False
        for step in tuple(order):
            rest = [other for other in order if other != step]
            for i in range(len(order)):
                candidate = [*rest[:i], step, *rest[i:]]
                if (value := table.agreement(candidate)) > best:
                    order, best, improved = candidate, value, True
    return order, best
