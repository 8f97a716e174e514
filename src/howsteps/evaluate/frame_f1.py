"""``frame-f1``: how many frames have the right step, counting frames that have a step at all.

One Hungarian matching of steps, shared by all videos, maximises the frames that agree::

    precision = right frames / frames predicted to be in a step
    recall    = right frames / frames that truly are in a step

This is the score of procedure learning (Elhamifar and Naing, 2019). Long steps count for more.
"""

from collections.abc import Sequence

from howsteps.evaluate.frames import BACKGROUND, Labels, joined, matched_steps, right_frames
from howsteps.evaluate.matching import Matching, as_steps
from howsteps.evaluate.score import Score, counted


def frame_f1(
    predicted: Sequence[Labels], true: Sequence[Labels], matching: Matching | None = None
) -> Score:
    """Precision, recall and F1 over all frames, by the best matching or a given one."""
    ours, theirs = joined(predicted, true)
    matched = matched_steps(ours, theirs, matching)
    return Score(
        *counted(
            right_frames(ours, theirs, matched).sum(),
            (ours != BACKGROUND).sum(),
            (theirs != BACKGROUND).sum(),
        ),
        matching=as_steps(matched),
    )
