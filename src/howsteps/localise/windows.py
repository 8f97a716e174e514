"""Where the narration allows each step: mentions in, allowed intervals out.

A mention of step k from a to b seconds opens the window [a − Δb, b + Δa]. Three ways to combine
several windows of one step:

* ``union``: the step is in at least one of them (the paper's words, and the default);
* ``intersection``: in all of them at once (the paper's formula read literally);
* ``hull``: anywhere from the first to the last of them (what the authors' program does).

A step that is not mentioned may be anywhere. Windows that contradict the order of the steps are
found exactly and opened, least support first. They are listed, never violated in silence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.errors import unknown_name
from howsteps.localise.oracle import Floats, Mask, Places, cheapest_placement
from howsteps.localise.problem import LocaliseError, too_short

WindowMode = Literal["union", "intersection", "hull"]

BEFORE = 0.0  # Δb, seconds
AFTER = 10.0  # Δa, seconds


@dataclass(frozen=True)
class Windows:
    """Allowed intervals, T_n×K a video, and the number of mentions behind each, N×K."""

    allowed: tuple[Mask, ...]
    support: NDArray[np.int64]

    @property
    def named(self) -> tuple[Mask, ...]:
        """Intervals at which a mention names the step: none where nobody mentions it."""
        return tuple(
            window & (mentions > 0)
            for window, mentions in zip(self.allowed, self.support, strict=True)
        )


@dataclass(frozen=True)
class RelaxedWindow:
    """A window that was opened because it contradicted the others, and how many mentions it had."""

    video: int
    step: int
    support: float


def mention_windows(
    times: ArrayLike,
    length: int,
    seconds_per_interval: float,
    *,
    before: float = BEFORE,
    after: float = AFTER,
    mode: Literal["paper", "authors"] = "paper",
) -> Mask:
    """Intervals inside the window of every mention of one video.

    Parameters
    ----------
    times
        S×2: start and end of the mentions, in seconds.
    length
        T_n.
    seconds_per_interval
        How long an interval lasts.
    before, after
        Δb and Δa, in seconds; in the ``authors`` mode they count intervals, whatever the frame
        rate.
    mode
        ``paper``: interval i = [i·s, (i+1)·s) is inside when it meets the window. ``authors``:
        from interval round(start/s) − Δb to round(end/s) + Δa, counted from one.

    Returns
    -------
    S×T_n; a row without any interval is a mention outside the video.
    """
    intervals = np.arange(length)
    spans = np.asarray(times, np.float64).reshape(-1, 2)
    start, end = spans[:, :1], spans[:, 1:]
    if mode == "authors":
        # Halves go up, as in the authors' language.
        first = np.floor(start / seconds_per_interval + 0.5) - before - 1
        last = np.floor(end / seconds_per_interval + 0.5) + after - 1
    else:
        first = np.floor((start - before) / seconds_per_interval)
        last = np.floor((end + after) / seconds_per_interval)
    inside: Mask = (intervals >= first) & (intervals <= last)
    return inside


def step_windows(
    mentions: Sequence[ArrayLike],
    assignments: Sequence[ArrayLike],
    steps: int,
    mode: WindowMode = "union",
) -> Windows:
    """Combine the windows of the mentions, step by step.

    Parameters
    ----------
    mentions
        S_n×T_n a video, from :func:`mention_windows`.
    assignments
        S_n a video: the step that each mention belongs to, −1 for none.
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
    for video, (rows, numbers) in enumerate(zip(mentions, assignments, strict=True)):
        inside, assignment = np.asarray(rows, np.bool_), np.asarray(numbers)
        if len(assignment) and not -1 <= assignment.min() <= assignment.max() < steps:
            raise LocaliseError(
                f"video {video}: mentions belong to the steps 0 … {steps - 1}, or to none (−1)"
            )
        window = np.ones((inside.shape[1], steps), np.bool_)
        for step in range(steps):
            own = inside[assignment == step]
            support[video, step] = len(own)
            if not len(own):
                continue
            if mode == "intersection":
                window[:, step] = own.all(axis=0)
                continue
            window[:, step] = own.any(axis=0)
            if mode == "hull" and window[:, step].any():
                first, last = np.flatnonzero(window[:, step])[[0, -1]]
                window[first : last + 1, step] = True
        allowed.append(window)
    return Windows(tuple(allowed), support)


def surest_windows(
    spoken: Floats,
    length: int,
    seconds_per_interval: float,
    steps: int,
    *,
    before: float = BEFORE,
    after: float = AFTER,
) -> Floats:
    """How surely each step is being done, by the surest mention around; T×K, 0 where there is none.

    Parameters
    ----------
    spoken
        S×4: start and end in seconds, the step, and how surely it is being done (0 to 1).
    length, seconds_per_interval, before, after
        As for :func:`mention_windows`.
    steps
        K.
    """
    inside = mention_windows(
        spoken[:, :2], length, seconds_per_interval, before=before, after=after
    )
    sure = np.zeros((length, steps))
    for row, (_, _, step, share) in zip(inside, spoken, strict=True):
        sure[row, int(step)] = np.maximum(sure[row, int(step)], share)
    return sure


def relax(
    allowed: Sequence[ArrayLike], support: ArrayLike | None = None
) -> tuple[tuple[Mask, ...], tuple[RelaxedWindow, ...]]:
    """Open the windows that contradict the order.

    The set that is opened has the least support of all sets that leave a feasible problem, and
    among those of equal support the fewest windows. It is the answer of the oracle itself, for the
    cost "support of the window if the step is put outside it". An empty window can never hold, and
    is opened.

    Parameters
    ----------
    allowed
        T_n×K a video.
    support
        N×K: what each window weighs; one each when None.
    """
    opened, relaxed = [], []
    weights = None if support is None else np.asarray(support, np.float64)
    for video, rows in enumerate(allowed):
        window: Mask = np.asarray(rows, np.bool_)
        length, steps = window.shape
        if length < steps:
            raise too_short(video, length, steps)
        weight = np.ones(steps) if weights is None else weights[video]
        broken = _broken(window, weight)
        if broken:
            window = window.copy()
            window[:, broken] = True
            relaxed += [RelaxedWindow(video, step, float(weight[step])) for step in broken]
        opened.append(window)
    return tuple(opened), tuple(relaxed)


def _broken(window: Mask, weight: Floats) -> list[int]:
    """List the steps outside their window in the placement that breaks the least support."""
    # Without windows the order can always be kept, so there is a placement.
    places = cast(Places, cheapest_placement(np.where(window, 0.0, weight + 1e-6)))
    return [step for step, t in enumerate(places) if not window[t, step]]
