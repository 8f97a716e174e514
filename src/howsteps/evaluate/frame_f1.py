"""``frame-f1``: how many frames have the right step, counting frames that have a step at all.

One Hungarian matching of steps, shared by all videos, maximises the frames that agree::

    precision = right frames / frames predicted to be in a step
    recall    = right frames / frames that truly are in a step

This is the score of procedure learning (Elhamifar and Naing, 2019). Long steps count for more.
"""

from collections.abc import Sequence

import numpy as np

from howsteps.evaluate.frames import BACKGROUND, Labels, joined, overlaps, steps_in
from howsteps.evaluate.matching import as_steps, match
from howsteps.evaluate.score import Score, counted


def frame_f1(predicted: Sequence[Labels], true: Sequence[Labels]) -> Score:
    """Precision, recall and F1 over the frames of all videos; −1 is background."""
    ours, theirs = joined(predicted, true)
    table = overlaps(ours, theirs, (steps_in(ours), steps_in(theirs)))
    matched = match(table)
    rows = np.flatnonzero(matched >= 0)
    return Score(
        *counted(
            table[rows, matched[rows]].sum(),
            (ours != BACKGROUND).sum(),
            (theirs != BACKGROUND).sum(),
        ),
        matching=as_steps(matched),
    )
