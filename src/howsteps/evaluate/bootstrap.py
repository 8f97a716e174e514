"""Confidence intervals of a score: over videos (bootstrap) and over seeds."""

from collections.abc import Callable, Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 500
LEVEL = 0.95


def over_videos(
    score: Callable[[NDArray[np.int64]], float],
    videos: int,
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> tuple[float, float]:
    """Percentile interval of a score over a bootstrap of videos.

    Parameters
    ----------
    score
        The score of some videos, given by their numbers; one may come several times.
    videos
        N: how many there are, and how many are drawn each time, with replacement.
    """
    generator = np.random.default_rng(seed)
    resampled = generator.integers(videos, size=(resamples, videos))
    low, high = np.quantile(
        [score(chosen) for chosen in resampled], ((1 - level) / 2, (1 + level) / 2)
    )
    return float(low), float(high)


def over_seeds(values: Sequence[float], *, level: float = LEVEL) -> tuple[float, float] | None:
    """Student's interval of the mean, x̄ ± t·s/√n; None for a single value."""
    if len(values) < 2:
        return None
    from scipy.stats import t  # noqa: PLC0415 - slow to import

    middle, spread = float(np.mean(values)), float(np.std(values, ddof=1))
    half = float(t.ppf((1 + level) / 2, len(values) - 1)) * spread / sqrt(len(values))
    return middle - half, middle + half
