"""The number of steps: as many as two halves of the videos are likely to agree on.

The videos are split in two at random, many times. Each half is aligned on its own by a short
search, and for every K its steps are those that would be shown. With L the longest common
subsequence of the two scripts of k and k' steps, each step by its most frequent relation,

    gain(K) = mean over the splits of  2L − (k + k')/2,

so a step that both halves have counts 1 and a step that one of them has counts −1/2. A further step
must be found again more often than not, and a short script is worth little however well the halves
agree. The curve is smoothed by a moving average over three.

Of all K whose gain is within two standard errors of the greatest, the one nearest to the ten of the
paper is chosen. Where the greatest gain is not two standard errors above zero, as with some thirty
videos of real speech, the halves do not tell, and K is ten.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from howsteps.script import selection
from howsteps.script.alignment import align
from howsteps.script.problem import pose, shared_part

STEP_COUNTS = range(4, 16)
USUAL_STEPS = 10  # of the paper
FEWEST_NARRATIONS = 8  # fewer are not split
SPLITS = 24
SECONDS = 0.05  # effort of the search, for each half
CLEAR = 2.0  # standard errors


def stable_steps(sequences: Sequence[Sequence[int]], match: NDArray[np.bool_], *, seed: int) -> int:
    """Choose K; see the module for how. Few narrations are given all that they can show."""
    shared = shared_part(pose(sequences, match))  # what one video alone says is no step anyway
    rows = [list(row) for row in shared.split(shared.tokens)]
    if len(rows) < FEWEST_NARRATIONS:
        return STEP_COUNTS[-1]
    generator = np.random.default_rng(seed)
    gains = np.zeros((SPLITS, len(STEP_COUNTS)))
    for split in range(SPLITS):
        order = generator.permutation(len(rows))
        halves = [_ranked([rows[n] for n in order[part::2]], shared.match, seed) for part in (0, 1)]
        for place, steps in enumerate(STEP_COUNTS):
            one, two = (_shown(supports, usual, steps) for supports, usual in halves)
            gains[split, place] = 2 * common(one, two, shared.match) - (len(one) + len(two)) / 2
    return choose(gains)


def choose(gains: NDArray[np.float64]) -> int:
    """Choose K from the gains (splits × candidates)."""
    padded = np.pad(gains, ((0, 0), (1, 1)), mode="edge")
    smooth = (padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]) / 3
    mean = smooth.mean(axis=0)
    best = int(mean.argmax())
    margin = CLEAR * float(smooth[:, best].std(ddof=1)) / np.sqrt(len(gains))
    if mean[best] <= margin:
        return USUAL_STEPS
    open_to_choice = [STEP_COUNTS[place] for place in np.flatnonzero(mean >= mean[best] - margin)]
    return min(open_to_choice, key=lambda steps: abs(steps - USUAL_STEPS))


def common(one: Sequence[int], two: Sequence[int], match: NDArray[np.bool_]) -> int:
    """The number of steps of two scripts that match in order (longest common subsequence)."""
    row = np.zeros(len(two) + 1, dtype=np.int64)
    for relation in one:
        above = row.copy()
        for j, other in enumerate(two):
            row[j + 1] = max(above[j + 1], row[j], above[j] + match[relation, other])
    return int(row[-1])


def _ranked(
    sequences: list[list[int]], match: NDArray[np.bool_], seed: int
) -> tuple[NDArray[np.int64], list[int]]:
    """Support and most frequent relation of every slot."""
    alignment = align(sequences, match, seconds=SECONDS, seed=seed)
    members: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for row, slots in zip(sequences, alignment.slots, strict=True):
        for relation, slot in zip(row, slots, strict=True):
            members[slot][relation] += 1
    supports = selection.shared_support(alignment.slots)
    return supports, [_most_common(members[slot]) for slot in range(len(supports))]


def _shown(supports: NDArray[np.int64], usual: list[int], steps: int) -> list[int]:
    return [usual[slot] for slot in selection.keep(supports, steps)]


def _most_common(counts: Counter[int]) -> int:
    return min(counts, key=lambda relation: (-counts[relation], relation))
