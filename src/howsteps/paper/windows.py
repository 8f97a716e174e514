"""Windows: the intervals in which the mentions allow each step (the constraints on Z).

A mention of step k from a to b seconds has the window [a − Δb, b + Δa]. Several windows of one step
are combined in one of three ways:

* ``union``: the step is in at least one of them (the paper's words, and the default);
* ``intersection``: in all of them at once (the paper's formula read literally);
* ``hull``: anywhere from the first to the last of them (what the authors' program does).

A step that is not mentioned may be anywhere. Windows that contradict the order of the steps are
relaxed (allowed everywhere): the set with the least support, found exactly. They are reported.

The authors' program instead confines a step to the hull of its allowed intervals, and earlier steps
may not come after it, later ones not before it. Every other entry of the cost is *overwritten* by a
large number. Windows that contradict the order are therefore violated without notice;
:func:`violated` finds them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.errors import unknown_name
from howsteps.localise.features import Floats, LocaliseError, Mask, Places, too_short
from howsteps.localise.order import cheapest_placement
from howsteps.localise.word_evidence import RelaxedWindow, starts_and_ends

WindowMode = Literal["union", "intersection", "hull"]

FORBIDDEN = 10_000.0


@dataclass(frozen=True)
class Windows:
    """Allowed intervals, T_n×K per video, and the number of mentions of each step, N×K."""

    allowed: tuple[Mask, ...]
    support: NDArray[np.int64]


def authors_mention_windows(
    times: ArrayLike, length: int, seconds_per_interval: float, *, before: int = 0, after: int = 30
) -> Mask:
    """Return the windows of mentions as the authors' program has them, S×T_n.

    From interval round(start/s) − Δb to round(end/s) + Δa, counted from one; Δb (``before``) and Δa
    (``after``) are in intervals, whatever the frame rate. The other parameters are those of
    :func:`howsteps.localise.mention_windows`.
    """
    start, end = starts_and_ends(times)
    # Halves are rounded up, as in the authors' program.
    first = np.floor(start / seconds_per_interval + 0.5) - before - 1
    last = np.floor(end / seconds_per_interval + 0.5) + after - 1
    intervals = np.arange(length)
    inside: Mask = (intervals >= first) & (intervals <= last)
    return inside


def step_windows(
    mentions: Sequence[ArrayLike],
    assignments: Sequence[ArrayLike],
    steps: int,
    mode: WindowMode = "union",
) -> Windows:
    """Combine the windows of the mentions of each step.

    Parameters
    ----------
    mentions
        S_n×T_n per video, from :func:`mention_windows`.
    assignments
        S_n per video: the step that each mention belongs to, −1 for none.
    steps
        K.
    mode
        ``union``, ``intersection`` or ``hull``.
    """
    if mode not in ("union", "intersection", "hull"):
        raise LocaliseError(
            unknown_name("mode of windows", mode, ("union", "intersection", "hull"))
        )
    support = np.zeros((len(mentions), steps), np.int64)
    allowed = []
    for video, (rows, step_of_row) in enumerate(zip(mentions, assignments, strict=True)):
        inside, assignment = np.asarray(rows, np.bool_), np.asarray(step_of_row)
        if len(assignment) and not -1 <= assignment.min() <= assignment.max() < steps:
            raise LocaliseError(
                f"video {video}: mentions belong to the steps 0 … {steps - 1}, or to none (−1)"
            )
        window = np.ones((inside.shape[1], steps), np.bool_)
        for step in range(steps):
            of_step = inside[assignment == step]
            support[video, step] = len(of_step)
            if not len(of_step):
                continue
            if mode == "intersection":
                window[:, step] = of_step.all(axis=0)
                continue
            window[:, step] = of_step.any(axis=0)
            if mode == "hull" and window[:, step].any():
                first, last = np.flatnonzero(window[:, step])[[0, -1]]
                window[first : last + 1, step] = True
        allowed.append(window)
    return Windows(tuple(allowed), support)


def relax(
    allowed: Sequence[ArrayLike], support: ArrayLike | None = None
) -> tuple[tuple[Mask, ...], tuple[RelaxedWindow, ...]]:
    """Relax the windows that contradict the order: allow their steps everywhere.

    Of all sets of windows whose relaxation makes the problem feasible, the one with the least
    support is chosen, and among those of equal support the one with the fewest windows. The oracle
    finds it: the cost of a step outside its window is the support of that window. An empty window
    is always relaxed.

    Parameters
    ----------
    allowed
        T_n×K per video.
    support
        N×K: weight of each window; 1 when None.
    """
    opened, relaxed = [], []
    weights = None if support is None else np.asarray(support, np.float64)
    for video, rows in enumerate(allowed):
        window: Mask = np.asarray(rows, np.bool_)
        length, steps = window.shape
        if length < steps:
            raise too_short(video, length, steps)
        weight = np.ones(steps) if weights is None else weights[video]
        violated = _violated(window, weight)
        if violated:
            window = window.copy()
            window[:, violated] = True
            relaxed += [RelaxedWindow(video, step, float(weight[step])) for step in violated]
        opened.append(window)
    return tuple(opened), tuple(relaxed)


def _violated(window: Mask, weight: Floats) -> list[int]:
    """Return the steps outside their window in the placement that violates the least support."""
    # Windows are only a cost here, so there always is a placement.
    places = cast(Places, cheapest_placement(np.where(window, 0.0, weight + 1e-6)))
    return [step for step, t in enumerate(places) if not window[t, step]]


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
    not_ended = np.flip(np.maximum.accumulate(np.flip(inside, 0), 0), 0)
    has_begun = np.maximum.accumulate(inside, 0)
    earlier_ok = np.ones_like(inside)
    later_ok = np.ones_like(inside)
    for k in range(inside.shape[1]):
        earlier_ok[:, :k] &= not_ended[:, [k]]
        later_ok[:, k + 1 :] &= has_begun[:, [k]]
    return inside & earlier_ok & later_ok


def forbid(cost: Floats, mask: Mask, forbidden: float = FORBIDDEN) -> Floats:
    """Return the cost, overwritten by ``forbidden`` outside the mask of :func:`permitted`."""
    return np.where(mask, cost, forbidden)


def violated(places: Places, allowed: Mask) -> list[int]:
    """Return the steps that are placed outside the hull of their windows."""
    inside = hull(allowed)
    return [k for k, t in enumerate(places) if t >= 0 and not inside[t, k]]
