"""The number of steps, chosen by stability: as many as two halves of the videos agree on.

The videos are split into two random halves, many times. Each half is aligned on its own by a short
search, which gives a script for every K. With L the length of the longest common subsequence of the
two scripts, of k and k' steps, each step represented by its most frequent relation,

    gain(K) = mean over the splits of  2L − (k + k')/2,

so a step of both halves counts 1 and a step of one half −1/2. A further step pays only if both
halves have it more often than not, and a short script has a low gain however well the halves agree.
The curve is smoothed by a moving average of width three.

Of all K whose gain is within two standard errors of the maximum, the one nearest to the paper's ten
is chosen. If the maximum is not two standard errors above zero, as with some thirty videos of real
speech, the halves are uninformative, and K is ten.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from howsteps.script import selection
from howsteps.script.alignment import align
from howsteps.script.problem import make_problem, shared_problem

STEP_COUNTS = range(4, 16)
USUAL_STEPS = 10  # as in the paper
MIN_NARRATIONS = 8  # below, there is no split
SPLITS = 24
SECONDS = 0.05  # of search for each half
MARGIN = 2.0  # standard errors


def choose_step_count(
    sequences: Sequence[Sequence[int]], match: NDArray[np.bool_], *, seed: int
) -> int:
    """Choose K by stability; with few narrations it is the largest.

    Parameters
    ----------
    sequences
        The relations of each narration, as indices.
    match
        Which relations match (D×D).
    """
    shared = shared_problem(make_problem(sequences, match))  # the rest cannot be a step
    rows = [list(row) for row in shared.split(shared.tokens)]
    if len(rows) < MIN_NARRATIONS:
        return STEP_COUNTS[-1]
    generator = np.random.default_rng(seed)
    gains = np.zeros((SPLITS, len(STEP_COUNTS)))
    for split in range(SPLITS):
        order = generator.permutation(len(rows))
        halves = [
            _aligned([rows[n] for n in order[part::2]], shared.match, seed) for part in (0, 1)
        ]
        for index, steps in enumerate(STEP_COUNTS):
            one, two = (_script(supports, usual, steps) for supports, usual in halves)
            gains[split, index] = (
                2 * common_steps(one, two, shared.match) - (len(one) + len(two)) / 2
            )
    return best_step_count(gains)


def best_step_count(gains: NDArray[np.float64]) -> int:
    """The best K, from the gains (splits × values of K)."""
    padded = np.pad(gains, ((0, 0), (1, 1)), mode="edge")
    smooth = (padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]) / 3
    mean = smooth.mean(axis=0)
    best = int(mean.argmax())
    margin = MARGIN * float(smooth[:, best].std(ddof=1)) / np.sqrt(len(gains))
    if mean[best] <= margin:
        return USUAL_STEPS
    good = [STEP_COUNTS[index] for index in np.flatnonzero(mean >= mean[best] - margin)]
    return min(good, key=lambda steps: abs(steps - USUAL_STEPS))


def common_steps(one: Sequence[int], two: Sequence[int], match: NDArray[np.bool_]) -> int:
    """Length of the longest common subsequence of two scripts."""
    row = np.zeros(len(two) + 1, dtype=np.int64)
    for relation in one:
        above = row.copy()
        for j, other in enumerate(two):
            row[j + 1] = max(above[j + 1], row[j], above[j] + match[relation, other])
    return int(row[-1])


def _aligned(
    sequences: list[list[int]], match: NDArray[np.bool_], seed: int
) -> tuple[NDArray[np.int64], list[int]]:
    """Align some narrations; return support and most frequent relation of every slot."""
    alignment = align(sequences, match, seconds=SECONDS, seed=seed)
    members: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for row, slots in zip(sequences, alignment.slots, strict=True):
        for relation, slot in zip(row, slots, strict=True):
            members[slot][relation] += 1
    supports = selection.shared_support(alignment.slots)
    return supports, [_most_common(members[slot]) for slot in range(len(supports))]


def _script(supports: NDArray[np.int64], usual: list[int], steps: int) -> list[int]:
    """The relations of the ``steps`` best slots, in order."""
    return [usual[slot] for slot in selection.keep(supports, steps)]


def _most_common(counts: Counter[int]) -> int:
    return min(counts, key=lambda relation: (-counts[relation], relation))
