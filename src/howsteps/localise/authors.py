"""Windows as in the authors' program, to compare numbers with theirs.

A step is confined to the hull of its allowed intervals, earlier steps may not come after it, later
ones not before it, and every other entry of the cost is *overwritten* by a large number. Windows
that contradict the order are thereby violated in silence; :func:`broken` finds them afterwards.
"""

import numpy as np

from howsteps.localise.oracle import Floats, Mask, Places

FORBIDDEN = 10_000.0


def hull(allowed: Mask) -> Mask:
    """Every interval from the first to the last allowed one; a step without any stays free.

    The program forbids what follows a window only when at least two intervals follow it.
    """
    out = np.ones_like(allowed)
    length = len(allowed)
    for k in np.flatnonzero(allowed.any(axis=0)):
        inside = np.flatnonzero(allowed[:, k])
        out[: inside[0], k] = False
        if inside[-1] + 1 < length - 1:
            out[inside[-1] + 1 :, k] = False
    return out


def left_open(allowed: Mask) -> Mask:
    """Intervals that neither the window of a step nor those of the others forbid it."""
    keep = hull(allowed)
    open_until = np.flip(np.maximum.accumulate(np.flip(keep, 0), 0), 0)  # an interval is left
    open_since = np.maximum.accumulate(keep, 0)  # the window has begun
    earlier_ok = np.ones_like(keep)
    later_ok = np.ones_like(keep)
    for k in range(keep.shape[1]):
        earlier_ok[:, :k] &= open_until[:, [k]]
        later_ok[:, k + 1 :] &= open_since[:, [k]]
    return keep & earlier_ok & later_ok


def filtered(cost: Floats, open_: Mask, forbidden: float = FORBIDDEN) -> Floats:
    """Overwrite the cost wherever :func:`left_open` leaves a step no place."""
    return np.where(open_, cost, forbidden)


def broken(places: Places, allowed: Mask) -> list[int]:
    """List the steps that were placed outside the hull of their windows."""
    keep = hull(allowed)
    return [k for k, t in enumerate(places) if t >= 0 and not keep[t, k]]
