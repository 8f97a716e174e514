"""``kukleva``: F1 over segments of which 15 frames are drawn, and MoF, both without background.

Frames whose true label is background are left out. One Hungarian matching, shared by all videos,
maximises the frames that agree. A true segment counts by the share of 15 frames, drawn from it
with replacement, whose matched label is right; c is the sum over all segments::

    precision = c / (N·K_pred)      recall = c / #segments      F1: the mean of 50 draws
    MoF = right frames / frames

This is what "F1 on YouTube Instructions" means since Kukleva et al. (2019). It rewards labelling
every frame with some step: background costs nothing; and where steps are repeated, precision can
pass 1. Their program never counts the last segment
of a task, and joins segments of one step that end one video and begin the next; this one does not.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from howsteps.evaluate.frames import BACKGROUND, Labels, joined, matched_steps, right_frames
from howsteps.evaluate.matching import Matching, as_steps
from howsteps.evaluate.score import Score, harmonic, ratio

SAMPLES, REPEATS = 15, 50


def kukleva(
    predicted: Sequence[Labels],
    true: Sequence[Labels],
    steps: int,
    matching: Matching | None = None,
    *,
    seed: int = 0,
    samples: int = SAMPLES,
    repeats: int = REPEATS,
) -> Score:
    """F1 and MoF, by the best matching or a given one; ``steps`` is K_pred.

    The bar of F1 goes over the draws.
    """
    matched = matched_steps(*joined(predicted, true), matching, steps)
    shares, right, frames = [], 0, 0
    for p, t in zip(predicted, true, strict=True):
        kept = t != BACKGROUND
        correct = right_frames(p[kept], t[kept], matched)
        right, frames = right + int(correct.sum()), frames + int(kept.sum())
        shares += [float(part.mean()) for part in _segments(correct, t[kept]) if len(part)]
    # 15 frames drawn with replacement, of which each is right with the segment's share.
    draws = np.random.default_rng(seed).binomial(samples, shares, size=(repeats, len(shares)))
    found = draws.sum(axis=1) / samples
    precisions = [ratio(c, len(predicted) * steps) for c in found]
    recalls = [ratio(c, len(shares)) for c in found]
    scores = [harmonic(p, r) for p, r in zip(precisions, recalls, strict=True)]
    return Score(
        precision=float(np.mean(precisions)),
        recall=float(np.mean(recalls)),
        f1=float(np.mean(scores)),
        low=min(scores),
        high=max(scores),
        frames=ratio(right, frames),
        matching=as_steps(matched),
    )


def _segments(values: NDArray[np.bool_], labels: Labels) -> list[NDArray[np.bool_]]:
    """Parts of ``values`` over which the label stays the same."""
    return np.split(values, np.flatnonzero(np.diff(labels)) + 1)
