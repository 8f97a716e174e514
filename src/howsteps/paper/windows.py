"""The windows of Section 4.2, AZ ≥ R, and the order of the steps: where each step is allowed.

A has the intervals in which a mention allows its step: a mention from a to b seconds has the window
[a − Δb, b + Δa]. R has the step that it belongs to. Of several windows of one step, the step is in
at least one: in their union. A step that is not mentioned may be anywhere. Windows that contradict
the order of the steps are relaxed (allowed everywhere): the set with the least support, found
exactly. They are reported.

The authors' program instead confines a step to the hull of its windows, from the first to the last
allowed interval, and earlier steps may not come after it, later ones not before it. Every other
entry of the cost is *overwritten* by a large number. Windows that contradict the order are
therefore violated without notice.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.errors import HowstepsError
from howsteps.localise.features import Floats, Mask, Places, too_short
from howsteps.localise.order import cheapest_placement
from howsteps.narration.features import AFTER, BEFORE

FORBIDDEN = 10_000.0


def mention_windows(
    times: ArrayLike,
    length: int,
    seconds_per_interval: float,
    *,
    before: float = BEFORE,
    after: float = AFTER,
) -> Mask:
    """Return the intervals inside the window of every mention of one video.

    Parameters
    ----------
    times
        S×2: start and end of the mentions, in seconds.
    length
        T_n.
    seconds_per_interval
        Duration s of an interval.
    before, after
        Δb and Δa, in seconds.

    Returns
    -------
    S×T_n: interval i = [i·s, (i+1)·s) is inside if it overlaps the window. A row without any
    interval is a mention outside the video.

    Raises
    ------
    HowstepsError
        A mention ends before it starts.
    """
    start, end = starts_and_ends(times)
    first = np.floor((start - before) / seconds_per_interval)
    last = np.floor((end + after) / seconds_per_interval)
    intervals = np.arange(length)
    inside: Mask = (intervals >= first) & (intervals <= last)
    return inside


def starts_and_ends(times: ArrayLike) -> tuple[Floats, Floats]:
    """Return the starts and the ends of mentions (S×2), S×1 each; raise if one ends too early."""
    spans = np.asarray(times, np.float64).reshape(-1, 2)
    if (wrong := ~(spans[:, 0] <= spans[:, 1])).any():
        index = int(wrong.argmax())
        start, end = spans[index]
        raise HowstepsError(f"mention {index} ends at {end:g} s, before it starts at {start:g} s")
    return spans[:, :1], spans[:, 1:]


def authors_mention_windows(
    times: ArrayLike, length: int, seconds_per_interval: float, *, before: int = 0, after: int = 30
) -> Mask:
    """Return the windows of mentions as the authors' program has them, S×T_n.

    From interval round(start/s) − Δb to round(end/s) + Δa, counted from one; Δb (``before``) and Δa
    (``after``) are in intervals, whatever the frame rate. The other parameters are those of
    :func:`mention_windows`.
    """
    start, end = starts_and_ends(times)
    # Halves are rounded up, as in the authors' program.
    first = np.floor(start / seconds_per_interval + 0.5) - before - 1
    last = np.floor(end / seconds_per_interval + 0.5) + after - 1
    intervals = np.arange(length)
    inside: Mask = (intervals >= first) & (intervals <= last)
    return inside


def step_windows(
    mentions: Sequence[ArrayLike], assignments: Sequence[ArrayLike], steps: int
) -> tuple[tuple[Mask, ...], NDArray[np.int64]]:
    """Combine the windows of the mentions of each step: their union.

    Parameters
    ----------
    mentions
        S_n×T_n per video, from :func:`mention_windows`.
    assignments
        S_n per video: the step that each mention belongs to, −1 for none.

    Returns
    -------
    The allowed intervals, T_n×K per video, and the number of mentions of each step, N×K.
    """
    support = np.zeros((len(mentions), steps), np.int64)
    allowed = []
    for video, (rows, step_of_row) in enumerate(zip(mentions, assignments, strict=True)):
        inside, assignment = np.asarray(rows, np.bool_), np.asarray(step_of_row)
        window = np.ones((inside.shape[1], steps), np.bool_)
        for step in range(steps):
            of_step = inside[assignment == step]
            support[video, step] = len(of_step)
            if len(of_step):
                window[:, step] = of_step.any(axis=0)
        allowed.append(window)
    return tuple(allowed), support


def relax(
    allowed: Sequence[ArrayLike], support: ArrayLike | None = None
) -> tuple[tuple[Mask, ...], tuple[tuple[int, int], ...]]:
    """Relax the windows (T_n×K per video) that contradict the order: allow their steps everywhere.

    Of all sets of windows whose relaxation makes the problem feasible, the one with the least
    ``support`` (N×K; 1 when None) is chosen, and among those of equal support the one with the
    fewest windows. The oracle finds it: the cost of a step outside its window is the support of
    that window. An empty window is always relaxed. Returns the windows, and the indices (video,
    step) of those that were relaxed.
    """
    opened, relaxed = [], []
    for video, rows in enumerate(allowed):
        window: Mask = np.array(rows, np.bool_)
        length, steps = window.shape
        if length < steps:
            raise too_short(video, length, steps)
        weight = np.ones(steps) if support is None else np.asarray(support, np.float64)[video]
        # Windows are only a cost here, so there always is a placement.
        places = cast(Places, cheapest_placement(np.where(window, 0.0, weight + 1e-6)))
        outside = [step for step, t in enumerate(places) if not window[t, step]]
        relaxed += [(video, step) for step in outside]
        window[:, outside] = True
        opened.append(window)
    return tuple(opened), tuple(relaxed)


def hull(allowed: Mask) -> Mask:
    """Return the mask from the first to the last allowed interval of each step, T×K.

    A step without an allowed interval is allowed everywhere. The authors' program forbids the
    intervals after a window only if there are at least two.
    """
    mask = np.ones_like(allowed)
    length = len(allowed)
    for k in np.flatnonzero(allowed.any(axis=0)):
        inside = np.flatnonzero(allowed[:, k])
        mask[: inside[0], k] = False
        if inside[-1] + 1 < length - 1:
            mask[inside[-1] + 1 :, k] = False
    return mask


def permitted(allowed: Mask) -> Mask:
    """Return the intervals that neither the window of a step nor those of the others forbid."""
    inside = hull(allowed)
    has_begun = np.logical_or.accumulate(inside)
    not_ended = np.logical_or.accumulate(inside[::-1])[::-1]
    earlier_have_begun = np.logical_and.accumulate(has_begun, axis=1)
    later_have_not_ended = np.logical_and.accumulate(not_ended[:, ::-1], axis=1)[:, ::-1]
    allowed_by_all: Mask = inside & earlier_have_begun & later_have_not_ended
    return allowed_by_all
