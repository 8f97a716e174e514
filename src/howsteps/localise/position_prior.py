"""Where in a video a step usually is, by where narrators name it.

The positions of the mentions of a step, as shares of their videos, give a density by kernels of
width h; a video's own mentions are left out of what is said about it. With few mentions the density
is drawn towards an even one by ``EVEN`` mentions spread over the video. Its logarithm is evidence
that a preview or a recap lacks, and that a step has which nobody names.
"""

from collections.abc import Sequence

import numpy as np

from howsteps.localise.computed import Computed
from howsteps.localise.oracle import Floats

WIDTH = 0.12  # h, of the length of the video
EVEN = 3.0  # mentions
_PARTS = 200  # of a video, at which the density is computed


def position_prior(
    spoken: Sequence[Floats], lengths: Sequence[int], steps: int, seconds: float
) -> Sequence[Floats]:
    """Log-density of the position of every step, T_n×K a video; 0 where it is even.

    Parameters
    ----------
    spoken
        S_n×4 a video: start and end in seconds, the step, and how surely it is the step (0 to 1).
    lengths
        T_n.
    seconds
        How long an interval lasts.
    """
    total, weight = np.zeros((_PARTS, steps)), np.zeros(steps)
    for said, length in zip(spoken, lengths, strict=True):
        density, mentions = _density(said, length * seconds, steps)
        total += density
        weight += mentions

    def of_video(video: int) -> Floats:
        length = lengths[video]
        density, mentions = _density(spoken[video], length * seconds, steps)
        rest = np.maximum(total - density, 0.0)
        even = np.maximum(weight - mentions, 0.0) + EVEN
        part = ((np.arange(length) + 0.5) / length * _PARTS).astype(np.int64)
        found: Floats = np.log((rest + EVEN) / even)[part]
        return found

    return Computed(of_video, len(lengths))


def _density(said: Floats, length: float, steps: int) -> tuple[Floats, Floats]:
    """What the mentions of one video add to the density of each step, and their weight."""
    at = (np.arange(_PARTS) + 0.5) / _PARTS
    place = np.clip(said[:, :2].mean(axis=1) / length, 0.0, 1.0)
    of_step = said[:, 2:3] == np.arange(steps)
    # A narrator who names a step often says no more of its position than one who names it once.
    weight = said[:, 3:] * of_step / np.maximum(of_step.sum(axis=0), 1)
    kernel = np.exp(-0.5 * ((at[:, None] - place) / WIDTH) ** 2) / (WIDTH * np.sqrt(2 * np.pi))
    return kernel @ weight, weight.sum(axis=0)
