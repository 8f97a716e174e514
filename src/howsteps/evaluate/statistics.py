"""Statistics of a data set: the global order of its steps, and how regularly a task is done."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from howsteps.errors import HowstepsError
from howsteps.evaluate.inputs import check_truth, ratio
from howsteps.task import Truth

# Beyond this many comparisons of a step in an order with one in a video, there is no search.
_MAX_COMPARISONS = 3_000_000


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


def find_order(sequences: Sequence[Sequence[int]], steps: int) -> tuple[int, ...]:
    """Return a global order that agrees with the order of steps in each video.

    ``sequences`` have the steps of each video in order of time, numbered from 0; a step may repeat.
    From the steps in order of their mean position, single steps are moved while Σ l_n rises. (On
    the paper's five tasks and on two of CrossTask that is the optimum, by branch and bound.)
    """
    positions: list[list[float]] = [[] for _ in range(steps)]
    for n, sequence in enumerate(sequences):
        for i, step in enumerate(sequence):
            if not 0 <= step < steps:
                raise HowstepsError(f"step {step!r} in sequence {n}: must be 0 … {steps - 1}")
            positions[step].append((i + 0.5) / len(sequence))
    means = [float(np.mean(values)) if values else 0.5 for values in positions]
    order = sorted(range(steps), key=lambda step: means[step])
    if steps**2 * sum(map(len, sequences)) > _MAX_COMPARISONS:
        return tuple(order)
    best, improved = sum(agreement(order, sequences)), True
    while improved:
        improved = False
        for step in tuple(order):
            rest = [other for other in order if other != step]
            for i in range(steps):
                candidate = [*rest[:i], step, *rest[i:]]
                if (value := sum(agreement(candidate, sequences))) > best:
                    order, best, improved = candidate, value, True
    return tuple(order)


def sequences_of(truth: Truth) -> list[list[int]]:
    """Return the steps of each video in order of time."""
    return [[a.step for a in annotations] for annotations in truth.by_video.values()]


@dataclass(frozen=True, slots=True)
class Statistics:
    """The statistics of one task; errors are shares in [0, 1]."""

    task: str
    videos: int
    steps: int
    annotated: int
    order: tuple[int, ...]
    order_error: float
    missing: float
    repetition: float


def statistics(truth: Truth) -> Statistics:
    """Return the statistics of a task, by the global order of :func:`find_order`."""
    check_truth(truth)
    sequences = sequences_of(truth)
    order = find_order(sequences, len(truth.steps))
    annotated = sum(map(len, sequences))
    distinct = sum(len(set(sequence)) for sequence in sequences)
    return Statistics(
        task=truth.task,
        videos=len(sequences),
        steps=len(truth.steps),
        annotated=annotated,
        order=order,
        order_error=1 - ratio(sum(agreement(order, sequences)), distinct) if distinct else 0.0,
        missing=1 - ratio(distinct, len(truth.steps) * len(sequences)),
        repetition=1 - ratio(distinct, annotated) if annotated else 0.0,
    )
