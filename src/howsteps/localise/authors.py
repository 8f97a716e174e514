"""Windows as in the authors' program, to reproduce its numbers.

A step is confined to the hull of its allowed intervals; earlier steps may not come after it, and
later ones not before it. Every other entry of the cost is *overwritten* by a large number. Windows
that contradict the order are therefore violated without notice; :func:`violated` finds them.
"""

import numpy as np

from howsteps.localise.oracle import Floats, Mask, Places

FORBIDDEN = 10_000.0


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
