"""From slots to steps: which relations are aligned, which slots are kept, which mentions join."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

BROAD_SIMILARITY = 0.9


def most_frequent(sequences: Sequence[Sequence[int]], limit: int) -> set[int]:
    """Return the ``limit`` most frequent relations; ties go to the lower index."""
    counts = Counter(relation for sequence in sequences for relation in sequence)
    return set(sorted(counts, key=lambda relation: (-counts[relation], relation))[:limit])


def last_occurrences(sequence: Sequence[int]) -> list[int]:
    """Return the indices in a sequence at which a relation occurs for the last time."""
    last = {relation: i for i, relation in enumerate(sequence)}
    return sorted(last.values())


def support(slots: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Count the mentions in every slot."""
    used = [slot for row in slots for slot in row]
    return np.bincount(used).astype(np.int64) if used else np.zeros(0, dtype=np.int64)


def shared_support(slots: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Count the mentions in every slot; zero if only one of several narrations fills it."""
    supports = support(slots)
    several = sum(1 for row in slots if row) > 1
    return np.where(supports > 1, supports, 0) if several else supports


def threshold(supports: ArrayLike, steps: int) -> int:
    """Return s*, the smallest support that leaves at most ``steps`` slots.

    s* = min {s ≥ 1 : #{l : support_l ≥ s} ≤ K}. Ties are never split: k ≤ K slots remain.
    """
    falling = np.sort(np.asarray(supports, dtype=np.int64))[::-1]
    return 1 if len(falling) <= steps else max(1, int(falling[steps]) + 1)


def keep(supports: ArrayLike, steps: int) -> list[int]:
    """Return the slots that become steps, in order."""
    return np.flatnonzero(np.asarray(supports) >= threshold(supports, steps)).tolist()


def keep_some(supports: ArrayLike, steps: int) -> list[int]:
    """Return the slots that become steps; if more than K tie at the top, all of those.

    For a K that was chosen automatically, which must not empty the script.
    """
    counts = np.asarray(supports, dtype=np.int64)
    best = int(counts.max(initial=0))
    return keep(counts, max(steps, int((counts == best).sum()))) if best else []


def broaden(
    sequences: Sequence[Sequence[int]],
    step_of: Sequence[Sequence[int]],
    match: ArrayLike,
    steps: int,
) -> list[list[int]]:
    """Let earlier mentions join the steps of their narration (the authors' "broad" constraints).

    A mention without a step joins the first step k that its narration names later on, if its mean
    similarity to the relations aligned in step k exceeds 0.9.

    Parameters
    ----------
    sequences
        All mentions of every narration, as relations.
    step_of
        The step of every mention; −1: none.
    match
        D×D similarity.

    Returns
    -------
    ``step_of`` with the mentions that joined.
    """
    similarity = np.asarray(match, dtype=np.float64)
    aligned: list[list[int]] = [[] for _ in range(steps)]
    for row, steps_of_row in zip(sequences, step_of, strict=True):
        for relation, step in zip(row, steps_of_row, strict=True):
            if step >= 0:
                aligned[step].append(relation)
    broadened = [list(row) for row in step_of]
    for n, (row, steps_of_row) in enumerate(zip(sequences, step_of, strict=True)):
        for step in range(steps):
            if step not in steps_of_row:
                continue
            for i in range(list(steps_of_row).index(step)):
                mean = similarity[row[i], aligned[step]].mean()
                if broadened[n][i] < 0 and mean > BROAD_SIMILARITY:
                    broadened[n][i] = step
    return broadened
