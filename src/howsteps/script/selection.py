"""From slots to steps: which relations are aligned, which slots are kept, and their mentions."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

BROAD_SIMILARITY = 0.9


def most_frequent(sequences: Sequence[Sequence[int]], limit: int) -> set[int]:
    """Return the ``limit`` most frequent relations; of equals, those with the lower number."""
    counts = Counter(relation for sequence in sequences for relation in sequence)
    return set(sorted(counts, key=lambda relation: (-counts[relation], relation))[:limit])


def last_occurrences(sequence: Sequence[int]) -> list[int]:
    """Return the positions in a sequence at which a relation occurs for the last time."""
    last = {relation: place for place, relation in enumerate(sequence)}
    return sorted(last.values())


def support(slots: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Count the mentions in every slot."""
    used = [at for row in slots for at in row]
    return np.bincount(used).astype(np.int64) if used else np.zeros(0, dtype=np.int64)


def shared_support(slots: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Support of every slot; zero where only one of several narrations fills it."""
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
    least = threshold(supports, steps)
    return np.flatnonzero(np.asarray(supports) >= least).tolist()


def keep_some(supports: ArrayLike, steps: int) -> list[int]:
    """Return the slots that become steps; where too many tie at the top, all of those.

    For a K that was chosen automatically, which must not empty the script.
    """
    found = np.asarray(supports, dtype=np.int64)
    best = int(found.max(initial=0))
    return keep(found, max(steps, int((found == best).sum()))) if best else []


def broaden(
    sequences: Sequence[Sequence[int]],
    members: Sequence[Sequence[int]],
    match: ArrayLike,
    steps: int,
) -> list[list[int]]:
    """Let earlier mentions join the steps of their narration (the authors' "broad" constraints).

    A mention that belongs to no step joins the first step k that its narration names later on, when
    its mean similarity to the relations aligned in step k exceeds 0.9.

    Parameters
    ----------
    sequences
        All mentions of every narration, as relations.
    members
        The step of every mention; −1 where it has none.
    match
        D×D similarity.

    Returns
    -------
    ``members`` with the mentions that joined.
    """
    similarity = np.asarray(match, dtype=np.float64)
    aligned: list[list[int]] = [[] for _ in range(steps)]
    for row, belongs in zip(sequences, members, strict=True):
        for relation, step in zip(row, belongs, strict=True):
            if step >= 0:
                aligned[step].append(relation)
    widened = [list(belongs) for belongs in members]
    for n, (row, belongs) in enumerate(zip(sequences, members, strict=True)):
        for step in range(steps):
            if step not in belongs:
                continue
            triggered = list(belongs).index(step)
            for place in range(triggered):
                alike = similarity[row[place], aligned[step]].mean()
                if widened[n][place] < 0 and alike > BROAD_SIMILARITY:
                    widened[n][place] = step
    return widened
