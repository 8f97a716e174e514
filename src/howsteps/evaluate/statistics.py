"""Statistics of a data set: the global order of its steps, and how regularly a task is done."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError
from howsteps.evaluate.inputs import TruthLike, as_truth, is_integer, ratio
from howsteps.evaluate.script_protocols import steps_of
from howsteps.task import Mention, Rule, Truth

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

    ``sequences`` have the steps of each video in order of time, numbered from 0; a step may repeat.
    After ``most`` prefixes, the best order so far is returned unproved.
    """
    for n, sequence in enumerate(sequences):
        for step in sequence:
            if not is_integer(step) or not 0 <= step < steps:
                raise HowstepsError(f"step {step!r} in sequence {n}: must be 0 … {steps - 1}")
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


@dataclass(frozen=True, slots=True)
class Statistics:
    """The statistics of one task; shares are in [0, 1], lengths in seconds."""

    task: str
    videos: int
    steps: int
    annotated: int
    order: tuple[int, ...]
    order_proved: bool
    order_error: float
    missing: float
    repetition: float
    repetition_in_turn: float
    step_length: float
    video_length: float | None
    covered: float | None


def statistics(truth: TruthLike, order: Sequence[int] | None = None) -> Statistics:
    """Return the statistics of a task, with the given or the best global order of the steps.

    ``order_proved`` says whether that is proved to be optimal.
    """
    truth = as_truth(truth)
    sequences = [[a.step for a in annotations] for annotations in truth.by_video.values()]
    proved = True
    if order is None:
        found = find_order(sequences, len(truth.steps))
        order, proved = found.steps, found.proved
    elif sorted(order) != list(range(len(truth.steps))):
        raise HowstepsError(f"the order has to have each of the {len(truth.steps)} steps once")
    annotated = sum(map(len, sequences))
    distinct = sum(len(set(sequence)) for sequence in sequences)
    turns = sum(1 for sequence in sequences for _ in groupby(sequence))
    lengths = [a.end - a.start for a in truth.annotations]
    known = [duration for duration in truth.durations.values() if duration is not None]
    return Statistics(
        task=truth.task,
        videos=len(sequences),
        steps=len(truth.steps),
        annotated=annotated,
        order=tuple(order),
        order_proved=proved,
        order_error=1 - ratio(sum(agreement(order, sequences)), distinct) if distinct else 0.0,
        missing=1 - ratio(distinct, len(truth.steps) * len(sequences)),
        repetition=1 - ratio(distinct, annotated) if annotated else 0.0,
        repetition_in_turn=1 - ratio(distinct, turns) if turns else 0.0,
        step_length=float(np.median(lengths)) if lengths else 0.0,
        video_length=float(np.median(known)) if known else None,
        covered=_covered(truth),
    )


def _covered(truth: Truth) -> float | None:
    """Return the share of time in which any step is done, over videos of known duration."""
    total, covered = 0.0, 0.0
    for video, annotations in truth.by_video.items():
        duration = truth.durations[video]
        if duration is None:
            continue
        total += duration
        last_end = 0.0
        for a in annotations:
            covered += max(0.0, a.end - max(a.start, last_end))
            last_end = max(last_end, a.end)
    return covered / total if total else None


def narration_leads(
    mentions: Sequence[Mention], rules: Mapping[str, Sequence[Rule]], truth: Truth
) -> list[float]:
    """Return the seconds from mentions to the starts of their steps; negative if named later.

    For every mention that the rules assign to a true step in its video: the time from the mention
    to the nearest start of that step.
    """
    starts: dict[tuple[str, int], list[float]] = {}
    for a in truth.annotations:
        starts.setdefault((a.video, a.step), []).append(a.start)
    leads = []
    for mention in mentions:
        times = [
            start - mention.start
            for step in steps_of(mention, rules, truth.steps)
            for start in starts.get((mention.video, step), ())
        ]
        if times:
            leads.append(min(times, key=abs))
    return leads
