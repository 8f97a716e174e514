"""The order in which a job is usually done, found from the orders in which people do it.

The global order π of K steps maximises Σ_n l_n(π), where l_n is the length of the longest common
subsequence of π and the steps of video n in time: the order error 1 − Σl/Σu is then the smallest
that any order has. A branch and bound over the beginnings of π proves the optimum:

* best[n, j], the longest chain among the first j steps of video n that uses the placed steps in
  their order, grows by one line of a dynamic programme when a step is placed;
* Σ_n max_j (best[n, j] + distinct unplaced steps from place j on) bounds all ends of a beginning;
* of two beginnings with the same steps, one whose ``best`` is nowhere larger is dropped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.evaluate.inputs import EvaluationError

Table: TypeAlias = NDArray[np.int16]

# Data of real jobs need a few hundred; this many take some seconds.
_MOST_BEGINNINGS = 10_000
# With more steps than this, as where every video has its own, no order is worth a search.
_MOST_STEPS = 30


@dataclass(frozen=True, slots=True)
class Order:
    """A global order of steps, and Σ l_n; ``proved`` if no order has a larger sum."""

    steps: tuple[int, ...]
    agreement: int
    proved: bool


def agreement(order: Sequence[int], sequences: Sequence[Sequence[int]]) -> list[int]:
    """l_n: the length of the longest common subsequence of ``order`` and each sequence."""
    table = _Sequences.of(sequences, max(order, default=-1) + 1)
    best = table.start()
    for step in order:
        best = table.place(step, best)
    return [int(length) for length in best[:, -1]]


def find_order(
    sequences: Sequence[Sequence[int]], steps: int, most: int = _MOST_BEGINNINGS
) -> Order:
    """Find the global order that agrees best with the order of steps in each video.

    Parameters
    ----------
    sequences
        The steps of each video, in time, counted from 0; a step may come again.
    steps
        K, the number of steps.
    most
        How many beginnings are examined before the best order so far is returned unproved.

    Raises
    ------
    EvaluationError
        When a step is not one of 0 … K − 1.
    """
    for n, sequence in enumerate(sequences):
        for step in sequence:
            if not 0 <= step < steps:
                raise EvaluationError(
                    f"step {step!r} in sequence {n}: steps are the numbers 0 … {steps - 1}"
                )
    table = _Sequences.of(sequences, steps)
    order = _by_mean_place(sequences, steps)
    if steps > _MOST_STEPS:
        return Order(tuple(order), table.agreed(order), proved=False)
    order, agreed = _insertions(table, order)
    search = _Search(table, tuple(order), agreed, most)
    search.extend((), table.start(), tuple(range(steps)))
    return Order(search.order, search.agreed, search.left > 0)


@dataclass(frozen=True, slots=True)
class _Sequences:
    """All sequences as one array: N×T, filled up with −1."""

    steps: NDArray[np.int64]
    ahead: Table
    """ahead[s, n, j]: whether step s comes at place j or later in video n."""

    @classmethod
    def of(cls, sequences: Sequence[Sequence[int]], steps: int) -> "_Sequences":
        longest = max(map(len, sequences), default=0)
        filled = np.full((len(sequences), longest), -1, dtype=np.int64)
        for n, sequence in enumerate(sequences):
            filled[n, : len(sequence)] = sequence
        ahead = np.zeros((steps, len(sequences), longest + 1), dtype=np.int16)
        for step in range(steps):
            here = (filled == step)[:, ::-1]
            ahead[step, :, :-1] = np.logical_or.accumulate(here, axis=1)[:, ::-1]
        return cls(filled, ahead)

    def start(self) -> Table:
        n, longest = self.steps.shape
        return np.zeros((n, longest + 1), dtype=np.int16)

    def place(self, step: int, best: Table) -> Table:
        """The table ``best`` after ``step`` is put behind the steps placed so far."""
        longer = best.copy()
        longer[:, 1:] = np.maximum(best[:, 1:], (best[:, :-1] + 1) * (self.steps == step))
        return np.maximum.accumulate(longer, axis=1)

    def bound(self, best: Table, unplaced: Sequence[int]) -> int:
        ahead = self.ahead[list(unplaced)].sum(axis=0, dtype=np.int16)
        return int((best + ahead).max(axis=1).sum())

    def agreed(self, order: Sequence[int]) -> int:
        best = self.start()
        for step in order:
            best = self.place(step, best)
        return int(best[:, -1].sum())


class _Search:
    """Depth first, the most promising beginning first."""

    def __init__(
        self, table: _Sequences, order: tuple[int, ...], agreed: int, beginnings: int
    ) -> None:
        self.table, self.order, self.agreed, self.left = table, order, agreed, beginnings
        self._seen: dict[frozenset[int], list[Table]] = {}

    def extend(self, placed: tuple[int, ...], best: Table, unplaced: tuple[int, ...]) -> None:
        if not unplaced:
            if (agreed := int(best[:, -1].sum())) > self.agreed:
                self.order, self.agreed = placed, agreed
            return
        nexts = []
        for step in unplaced:
            rest = tuple(other for other in unplaced if other != step)
            longer = self.table.place(step, best)
            nexts.append((self.table.bound(longer, rest), step, longer, rest))
        for bound, step, longer, rest in sorted(nexts, key=lambda item: -item[0]):
            if bound <= self.agreed or self.left <= 0:
                return
            if self._is_new(frozenset(rest), longer):
                self.left -= 1
                self.extend((*placed, step), longer, rest)

    def _is_new(self, unplaced: frozenset[int], best: Table) -> bool:
        seen = self._seen.setdefault(unplaced, [])
        if any((other >= best).all() for other in seen):
            return False
        seen.append(best)
        return True


def _by_mean_place(sequences: Sequence[Sequence[int]], steps: int) -> list[int]:
    places: list[list[float]] = [[] for _ in range(steps)]
    for sequence in sequences:
        for place, step in enumerate(sequence):
            places[step].append((place + 0.5) / len(sequence))
    return sorted(range(steps), key=lambda s: float(np.mean(places[s])) if places[s] else 0.5)


def _insertions(table: _Sequences, order: list[int]) -> tuple[list[int], int]:
    """Move single steps elsewhere as long as that helps."""
    agreed = table.agreed(order)
    better = True
    while better:
        better = False
        for step in tuple(order):
            rest = [other for other in order if other != step]
            for place in range(len(order)):
                moved = [*rest[:place], step, *rest[place:]]
                if (found := table.agreed(moved)) > agreed:
                    order, agreed, better = moved, found, True
    return order, agreed
