"""Re-alignment of a transcript to known steps by a hidden Markov model, as Malmaud et al. (2015).

The hidden state after each mention is the step that the narrator has reached; it never goes back.
A mention is either about that step, and drawn from its relations, or background, drawn from
all relations:

    P(mention | step k) = β·P(relation | k),   P(mention, background) = (1 − β)·P(relation)
    P(k → k + j) = (1 − stay)·2^−j for j ≥ 1,  stay for j = 0

Viterbi finds the best path. A step is placed at its first mention, and steps without a mention are
spread between their neighbours.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from howsteps.localise.oracle import Floats, Places, cheapest_placement
from howsteps.localise.problem import too_short


def align_transcript(
    relations: NDArray[np.integer],
    step_relations: Floats,
    relation_counts: Floats,
    *,
    about_step: float = 0.5,
    stay: float = 0.5,
) -> Places:
    """Step of every mention of one video, −1 for background.

    Parameters
    ----------
    relations
        S: the relation of every mention, in time order.
    step_relations
        K×D: how often each relation belongs to each step.
    relation_counts
        D: how often each relation occurs in the task.
    about_step
        β: probability that a mention is about the current step.
    stay
        Probability that the next mention is about the same step.
    """
    steps = len(step_relations)
    if not len(relations):
        return np.empty(0, np.int64)
    with np.errstate(divide="ignore"):
        of_step = np.log(about_step * _rows_to_one(step_relations))[:, relations].T
    background = np.log((1 - about_step) * _rows_to_one(relation_counts[None] + 1.0))[0, relations]
    jump = np.arange(steps)[None, :] - np.arange(-1, steps)[:, None]  # from −1 (none yet) on
    with np.errstate(divide="ignore"):
        move = np.where(jump > 0, np.log((1 - stay) * 0.5 ** np.maximum(jump, 1)), -np.inf)
    move[jump == 0] = np.log(stay)
    # best[k + 1]: log-probability of having reached step k, best[0] of none yet.
    best = np.full(steps + 1, -np.inf)
    best[0] = 0.0
    came_from = np.zeros((len(relations), steps + 1), np.int64)
    for s, unrelated in enumerate(background):
        about = best[:, None] + move + of_step[s]
        origin = about.argmax(axis=0)
        about_step_now = about[origin, np.arange(steps)]
        idle = best + unrelated
        came_from[s] = -1  # background keeps the state
        better = np.concatenate([[False], about_step_now > idle[1:]])
        came_from[s, better] = origin[better[1:]]
        best = np.where(better, np.concatenate([[-np.inf], about_step_now]), idle)
    state = int(best.argmax())
    aligned = np.full(len(relations), -1)
    for s in range(len(relations) - 1, -1, -1):
        if came_from[s, state] >= 0:
            aligned[s] = state - 1
            state = int(came_from[s, state])
    return aligned


def place_aligned(
    aligned: Sequence[Places], intervals: Sequence[Places], lengths: Sequence[int], steps: int
) -> Places:
    """Interval of every step in every video, N×K, from aligned mentions.

    Parameters
    ----------
    aligned
        S_n a video, from :func:`align_transcript`.
    intervals
        S_n a video: the interval of each mention.
    lengths
        T_n.
    steps
        K.
    """
    places = []
    for video, length in enumerate(lengths):
        step_of, mentioned = aligned[video], intervals[video]
        found = [k for k in range(steps) if (step_of == k).any()]
        # The ends of the video are half a step before the first and after the last.
        known = [-0.5, *found, steps - 0.5]
        wanted = [0.0, *(float(mentioned[step_of == k].min()) for k in found), float(length - 1)]
        targets = np.interp(np.arange(steps), known, wanted)
        row = cheapest_placement(np.abs(np.arange(length)[:, None] - targets))
        if row is None:
            raise too_short(video, length, steps)
        places.append(row)
    return np.array(places)


def _rows_to_one(counts: Floats) -> Floats:
    """Rows as probabilities; a row of zeros stays as it is."""
    total = counts.sum(axis=1, keepdims=True)
    return counts / np.where(total > 0, total, 1.0)
