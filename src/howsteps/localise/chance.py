"""What a step's score is worth: the scores that a step of random places reaches by chance.

A *decoy* is a step whose places were drawn at random in every video. Its classifier, learnt from
the other videos, also finds a best interval in each video, by coincidence alone. The decoys' best
scores are the null distribution that a real step's score is held against: for the confidence of a
located step, and for the cost at which a step is said to be absent. Decoys search the same windows
as the steps they stand for, so the maximum is taken over as many intervals.
"""

import numpy as np

from howsteps.localise.descent import Shares
from howsteps.localise.oracle import Floats, Mask, Places
from howsteps.localise.problem import Problem

PRESENCE_LEVEL = 0.9  # a step is present when it beats this share of the decoys


def chance_scores(problem: Problem, seed: int = 0) -> Floats:
    """Best score of a decoy in the window of every step, N×K."""
    rng = np.random.default_rng(seed)
    lengths = [len(window) for window in problem.windows]
    decoys = np.array(
        [np.sort(rng.choice(length, problem.steps, replace=False)) for length in lengths]
    )
    # Decoys are all alike, so any of them may stand for any step.
    decoys = rng.permuted(decoys, axis=1)
    shares = Shares(problem, decoys)
    best = [
        np.where(window, shares.others(n), -np.inf).max(axis=0)
        for n, window in enumerate(problem.windows)
    ]
    return np.array(best)


def held_out_scores(problem: Problem, places: Places) -> list[Floats]:
    """Scores of every video by the classifier of all the *other* videos, T_n×K each."""
    shares = Shares(problem, places)
    return [shares.others(n) for n in range(problem.videos)]


def confidences(places: Places, scores: list[Floats], chance: Floats) -> Floats:
    """Share of the decoys that each located step beats, N×K in [0, 1]; 0 where it is absent."""
    null = np.sort(chance.ravel())
    out = np.zeros(places.shape)
    for n, k in np.argwhere(places >= 0):
        out[n, k] = np.searchsorted(null, scores[n][places[n, k], k]) / len(null)
    return out


def absence_costs(
    chance: Floats, windows: tuple[Mask, ...], level: float = PRESENCE_LEVEL
) -> Floats:
    """Cost of leaving each step out, in units of 2T·h, N×K.

    Placing a step costs B_tt − 2s, with B_tt close to one, so that 1 − 2θ makes a step absent when
    its score s is below θ: the score that the share ``level`` of the decoys stays under. A step
    that the narration names in a video is in it: its cost there is infinite.
    """
    threshold = float(np.quantile(chance, level))
    named = np.array([~window.all(axis=0) for window in windows])
    return np.where(named, np.inf, 1.0 - 2.0 * threshold)
