"""Confidence intervals of a score: over videos (bootstrap) and over seeds."""

from collections.abc import Callable, Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 500
LEVEL = 0.95


def bootstrap_interval(
    score: Callable[[NDArray[np.int64]], float],
    videos: int,
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the percentile interval of a score over bootstrap samples of the videos.

    Parameters
    ----------
    score
        The score of some videos, given by their indices, which may repeat.
    videos
        N: the number of videos, and of draws with replacement in each sample.
    resamples
        Number of bootstrap samples.
    level
        Confidence level of the interval.
    seed
        Seed of the draws.
    """
    rng = np.random.default_rng(seed)
    samples = rng.integers(videos, size=(resamples, videos))
    low, high = np.quantile(
        [score(indices) for indices in samples], ((1 - level) / 2, (1 + level) / 2)
    )
    return float(low), float(high)


def t_interval(values: Sequence[float], *, level: float = LEVEL) -> tuple[float, float] | None:
    """Return Student's confidence interval of the mean, x̄ ± t·s/√n; None for a single value."""
    if len(values) < 2:
        return None
    from scipy.stats import t  # noqa: PLC0415 - slow to import

    mean, deviation = float(np.mean(values)), float(np.std(values, ddof=1))
    half = float(t.ppf((1 + level) / 2, len(values) - 1)) * deviation / sqrt(len(values))
    return mean - half, mean + half
