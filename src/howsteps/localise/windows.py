"""Windows: the intervals in which the mentions allow each step.

A mention of step k from a to b seconds has the window [a − Δb, b + Δa]. Several windows of one step
are combined in one of three ways:

* ``union``: the step is in at least one of them (the paper's words, and the default);
* ``intersection``: in all of them at once (the paper's formula read literally);
* ``hull``: anywhere from the first to the last of them (what the authors' program does).

A step that is not mentioned may be anywhere. Windows that contradict the order of the steps are
relaxed (allowed everywhere): the set with the least support, found exactly. They are reported.
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
    """Allowed intervals, T_n×K per video, and the number of mentions of each step, N×K."""

    allowed: tuple[Mask, ...]
    support: NDArray[np.int64]

    @property
    def named(self) -> tuple[Mask, ...]:
        """Intervals inside the window of a mention; none for a step that is not mentioned."""
        return tuple(
            window & (mentions > 0)
            for window, mentions in zip(self.allowed, self.support, strict=True)
        )


@dataclass(frozen=True)
class RelaxedWindow:
    """A window that was relaxed because it contradicted others, and its number of mentions."""

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
        Δb and Δa, in seconds; in the ``authors`` mode in intervals, whatever the frame rate.
    mode
        ``paper``: interval i = [i·s, (i+1)·s) is inside if it overlaps the window. ``authors``:
        from interval round(start/s) − Δb to round(end/s) + Δa, counted from one.

    Returns
    -------
    S×T_n; a row without any interval is a mention outside the video.
    """
    intervals = np.arange(length)
    spans = np.asarray(times, np.float64).reshape(-1, 2)
    start, end = spans[:, :1], spans[:, 1:]
    if mode == "authors":
        # Halves are rounded up, as in the authors' program.
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


def window_probabilities(
    mentions: Floats,
    length: int,
    seconds_per_interval: float,
    steps: int,
    *,
    before: float = BEFORE,
    after: float = AFTER,
) -> Floats:
    """Return the highest probability of the mentions of each step around every interval, T×K.

    It is 0 outside all windows.

    Parameters
    ----------
    mentions
        S×4: start and end in seconds, the step, and the probability that it is being done.
    length, seconds_per_interval, before, after
        As for :func:`mention_windows`.
    steps
        K.
    """
    inside = mention_windows(
        mentions[:, :2], length, seconds_per_interval, before=before, after=after
    )
    highest = np.zeros((length, steps))
    for window, (_, _, step, probability) in zip(inside, mentions, strict=True):
        highest[window, int(step)] = np.maximum(highest[window, int(step)], probability)
    return highest


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
