"""Options of the features of videos, as plain values without heavy imports."""

from dataclasses import dataclass
from math import ceil

POOLED = "pooled"  # the kind of descriptors: one vector for a whole frame
LITE0, TIMM = "efficientnet-lite0", "timm:"
SECONDS = 1 / 3  # duration of an interval: 10 frames at 30 per second


@dataclass(frozen=True, slots=True)
class PooledOptions:
    """Options of pooled features, one vector per frame.

    Attributes
    ----------
    network
        ``efficientnet-lite0``, ``timm:NAME``, or the path of a TorchScript file that turns B×3×H×W
        (ImageNet-normalised) into maps B×d×h×w or vectors B×d.
    weights
        A file of weights instead of the default ones.
    side
        Shorter side of the input of the network, in pixels.
    every
        Compute the first of this many intervals; the others take the nearest one.
    sparing
        Decode as little as possible: key frames only if they are frequent or the bit rate is high,
        and no deblocking.
    """

    network: str = LITE0
    weights: str | None = None
    side: int = 224
    every: int = 1
    sparing: bool = False


# Every second interval, and small frames: faster and less accurate.
QUICK = PooledOptions(side=160, every=2, sparing=True)


def interval_count(length: float, seconds: float = SECONDS) -> int:
    """Return T, the number of intervals in ``length`` seconds; the last may be partial."""
    return max(1, ceil(length / seconds - 1e-9))
