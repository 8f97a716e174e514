"""Alignment of a transcript to known steps by a hidden Markov model (Malmaud et al., 2015).

The hidden state after each mention is the step that the narrator has reached; it never decreases.
A mention is either about that step, and drawn from its relations, or background, drawn from all
relations:

    P(mention | step k) = β·P(relation | k),   P(mention, background) = (1 − β)·P(relation)
    P(k → k + j) = (1 − stay)·2^−j for j ≥ 1,  stay for j = 0

The Viterbi algorithm finds the best path. A step is placed at its first mention, and steps without
a mention are spread evenly between their neighbours.
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
    """Return the step of every mention of one video, −1 for background; S.

    Parameters
    ----------
    relations
        S: index of the relation of every mention, in order of time.
    step_relations
        K×D: count of each relation among the mentions of each step.
    relation_counts
        D: count of each relation in the task.
    about_step
        β: probability that a mention is about the current step.
    stay
        Probability that the next mention is about the same step.
    """
    steps = len(step_relations)
    if not len(relations):
        return np.empty(0, np.int64)
    with np.errstate(divide="ignore"):
        emission = np.log(about_step * _normalised(step_relations))[:, relations].T
    background = np.log((1 - about_step) * _normalised(relation_counts[None] + 1.0))[0, relations]
    jump = np.arange(steps)[None, :] - np.arange(-1, steps)[:, None]  # −1: no step reached yet
    with np.errstate(divide="ignore"):
        transition = np.where(jump > 0, np.log((1 - stay) * 0.5 ** np.maximum(jump, 1)), -np.inf)
    transition[jump == 0] = np.log(stay)
    # best[k + 1]: log-probability of the best path that has reached step k; best[0]: no step yet.
    best = np.full(steps + 1, -np.inf)
    best[0] = 0.0
    came_from = np.zeros((len(relations), steps + 1), np.int64)
    for s, background_s in enumerate(background):
        candidates = best[:, None] + transition + emission[s]
        origin = candidates.argmax(axis=0)
        if_about_step = candidates[origin, np.arange(steps)]
        if_background = best + background_s
        came_from[s] = -1  # background keeps the state
        better = np.concatenate([[False], if_about_step > if_background[1:]])
        came_from[s, better] = origin[better[1:]]
        best = np.where(better, np.concatenate([[-np.inf], if_about_step]), if_background)
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
    """Return the interval of every step in every video from aligned mentions, N×K.

    Parameters
    ----------
    aligned
        S_n per video, from :func:`align_transcript`.
    intervals
        S_n per video: the interval of each mention.
    lengths
        T_n.
    steps
        K.
    """
    places = []
    for video, length in enumerate(lengths):
        step_of_mention, interval = aligned[video], intervals[video]
        named = [k for k in range(steps) if (step_of_mention == k).any()]
        # The ends of the video are half a step before the first and after the last.
        known_steps = [-0.5, *named, steps - 0.5]
        first_mentions = [float(interval[step_of_mention == k].min()) for k in named]
        targets = np.interp(
            np.arange(steps), known_steps, [0.0, *first_mentions, float(length - 1)]
        )
        row = cheapest_placement(np.abs(np.arange(length)[:, None] - targets))
        if row is None:
            raise too_short(video, length, steps)
        places.append(row)
    return np.array(places)


def _normalised(counts: Floats) -> Floats:
    """Return rows that sum to one; a row of zeros is unchanged."""
    total = counts.sum(axis=1, keepdims=True)
    return counts / np.where(total > 0, total, 1.0)
