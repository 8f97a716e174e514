"""Windows of mentions: [a − Δb, b + Δa] for a mention from a to b seconds, as in the paper."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from howsteps.errors import HowstepsError
from howsteps.localise.features import Floats, Mask
from howsteps.narration.features import AFTER, BEFORE


@dataclass(frozen=True)
class RelaxedWindow:
    """A window that other evidence overruled, and its number of mentions."""

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
