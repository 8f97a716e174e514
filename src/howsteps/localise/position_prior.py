"""Usual position of each step in a video, estimated from the mentions of the other videos.

A kernel density (Gaussian kernels of width h) over the relative positions of the mentions of a
step; a video's own mentions are left out of its own prior. ``UNIFORM_MENTIONS`` pseudo-mentions
spread evenly over the video shrink it towards a uniform density where mentions are few. The
log-density counts against previews and recaps, and is evidence for steps that nobody names.
"""

from collections.abc import Sequence

import numpy as np

from howsteps.localise.lazy import LazySequence
from howsteps.localise.oracle import Floats

WIDTH = 0.12  # h, as a share of the length of the video
UNIFORM_MENTIONS = 3.0
_BINS = 200  # positions at which the density is computed


def position_prior(
    mentions: Sequence[Floats], lengths: Sequence[int], steps: int, seconds: float
) -> Sequence[Floats]:
    """Return the log-density of the position of every step, T_n×K per video; 0 where uniform.

    Parameters
    ----------
    mentions
        S_n×4 per video: start and end in seconds, the step, and the probability that it is done.
    lengths
        T_n.
    steps
        K.
    seconds
        Duration of an interval.
    """
    total_density, total_weight = np.zeros((_BINS, steps)), np.zeros(steps)
    for rows, length in zip(mentions, lengths, strict=True):
        density, weight = _density(rows, length * seconds, steps)
        total_density += density
        total_weight += weight

    def log_density(video: int) -> Floats:
        length = lengths[video]
        density, weight = _density(mentions[video], length * seconds, steps)
        others = np.maximum(total_density - density, 0.0)
        normaliser = np.maximum(total_weight - weight, 0.0) + UNIFORM_MENTIONS
        bins = ((np.arange(length) + 0.5) / length * _BINS).astype(np.int64)
        values: Floats = np.log((others + UNIFORM_MENTIONS) / normaliser)[bins]
        return values

    return LazySequence(log_density, len(lengths))


def _density(mentions: Floats, duration: float, steps: int) -> tuple[Floats, Floats]:
    """Return one video's contribution to the density of each step (bins × K), and its weight (K).

    ``duration`` is in seconds.
    """
    centres = (np.arange(_BINS) + 0.5) / _BINS
    position = np.clip(mentions[:, :2].mean(axis=1) / duration, 0.0, 1.0)
    belongs = mentions[:, 2:3] == np.arange(steps)
    # The mentions of one step in one video weigh at most one in total.
    weight = mentions[:, 3:] * belongs / np.maximum(belongs.sum(axis=0), 1)
    distance = (centres[:, None] - position) / WIDTH
    kernel = np.exp(-0.5 * distance**2) / (WIDTH * np.sqrt(2 * np.pi))
    return kernel @ weight, weight.sum(axis=0)
