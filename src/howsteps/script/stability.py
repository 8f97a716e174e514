"""How many steps? As many as two halves of the videos agree on.

The videos are split in two at random, several times, and each half is aligned on its own. For every
K the scripts of the two halves are compared: the longest common subsequence of their steps, each
step by its most frequent relation, as a share of their length (Dice). The largest K whose mean
agreement is within one standard error of the best is chosen.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from howsteps.script import selection
from howsteps.script.alignment import align

CANDIDATES = range(4, 16)
USUAL_STEPS = 10  # of the paper; used where there are too few videos to split
FEWEST_VIDEOS = 8
SPLITS = 6
SECONDS = 0.5


def stable_steps(
    sequences: Sequence[Sequence[int]], match: NDArray[np.bool_], *, mode: str, seed: int
) -> int:
    """Choose K; see the module for how."""
    spoken = [list(row) for row in sequences if len(row)]
    if len(spoken) < FEWEST_VIDEOS:
        return USUAL_STEPS
    generator = np.random.default_rng(seed)
    scores = np.zeros((SPLITS, len(CANDIDATES)))
    for split in range(SPLITS):
        order = generator.permutation(len(spoken))
        halves = [[spoken[n] for n in order[part::2]] for part in (0, 1)]
        found = [_ranked(half, match, mode, seed) for half in halves]
        for place, steps in enumerate(CANDIDATES):
            one, two = (_labels(*ranked, steps) for ranked in found)
            scores[split, place] = agreement(one, two, match)
    mean = scores.mean(axis=0)
    error = scores.std(axis=0, ddof=1) / np.sqrt(SPLITS)
    best = int(mean.argmax())
    return CANDIDATES[int(np.flatnonzero(mean >= mean[best] - error[best]).max())]


def agreement(one: Sequence[int], two: Sequence[int], match: NDArray[np.bool_]) -> float:
    """2·LCS/(k + k'): the share of the steps of two scripts that match in order."""
    if not one or not two:
        return 0.0
    row = np.zeros(len(two) + 1, dtype=np.int64)
    for relation in one:
        above = row.copy()
        for j, other in enumerate(two):
            row[j + 1] = max(above[j + 1], row[j], above[j] + match[relation, other])
    return 2 * int(row[-1]) / (len(one) + len(two))


def _ranked(
    sequences: list[list[int]], match: NDArray[np.bool_], mode: str, seed: int
) -> tuple[NDArray[np.int64], list[int]]:
    """Support and most frequent relation of every slot."""
    alignment = align(sequences, match, seconds=SECONDS, seed=seed, mode=mode)
    members: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for row, slots in zip(sequences, alignment.slots, strict=True):
        for relation, slot in zip(row, slots, strict=True):
            members[slot][relation] += 1
    supports = selection.support(alignment.slots)
    usual = [_most_common(members[slot]) for slot in range(len(supports))]
    return supports, usual


def _labels(supports: NDArray[np.int64], usual: list[int], steps: int) -> list[int]:
    return [usual[slot] for slot in selection.keep(supports, steps)]


def _most_common(counts: Counter[int]) -> int:
    return min(counts, key=lambda relation: (-counts[relation], relation), default=-1)
