"""``per-video``: each video is matched on its own, so a step need not be the same in all of them.

In every video, a Hungarian matching of its predicted to its true labels maximises the frames that
agree. For a true label g with its match p, F1 = 2|p∩g| / (|p|+|g|), and 0 without a match. Scores
are means over the labels of a video, and then over videos; MoF is the share of right frames.

With background, background is one more label on both sides. Without it, frames whose true label
is background are left out, and predicted background is never right.
"""

from collections.abc import Sequence

import numpy as np

from howsteps.evaluate.frames import BACKGROUND, Labels, joined, overlaps, steps_in
from howsteps.evaluate.matching import match
from howsteps.evaluate.score import Score, ratio


def per_video(predicted: Sequence[Labels], true: Sequence[Labels], *, background: bool) -> Score:
    """Precision, recall, F1 and MoF, as means over the videos that have labels to be found."""
    joined(predicted, true)  # for its check of lengths
    found = [_video(p, t, background) for p, t in zip(predicted, true, strict=True) if len(t)]
    rows = np.array([row for row in found if row is not None])
    if not len(rows):
        return Score(0.0, 0.0, 0.0, frames=0.0)
    precision, recall, f1, frames = (float(column) for column in rows.mean(axis=0))
    return Score(precision, recall, f1, frames=frames)


def _video(
    predicted: Labels, true: Labels, background: bool
) -> tuple[float, float, float, float] | None:
    if background:  # counts from 0 as any other label
        predicted, true = predicted + 1, true + 1
    kept = true != BACKGROUND
    if not kept.any():
        return None
    predicted, true = predicted[kept], true[kept]
    table = overlaps(predicted, true, (steps_in(predicted), steps_in(true)))
    matched = match(table)
    own = np.bincount(predicted[predicted != BACKGROUND], minlength=len(table))
    theirs = np.bincount(true)
    precisions, recalls, scores, right = [], [], [], 0
    partner = {int(g): p for p, g in enumerate(matched) if g >= 0}
    for g in np.flatnonzero(theirs):
        p = partner.get(int(g))
        common = 0 if p is None else int(table[p, g])
        right += common
        precisions.append(0.0 if p is None else ratio(common, own[p]))
        recalls.append(ratio(common, theirs[g]))
        scores.append(ratio(2 * common, theirs[g] + (0 if p is None else own[p])))
    means = (float(np.mean(values)) for values in (precisions, recalls, scores))
    precision, recall, f1 = means
    return precision, recall, f1, ratio(right, len(true))
