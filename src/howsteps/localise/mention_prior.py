"""Evidence of a video's own mentions about the places of its steps.

Features of the narration peak where a step is named, so a mention has a flat and short window
(:class:`WindowPrior`). In the video, a step is *seen* some seconds after it is named
(:class:`LagPrior`). Let q(t) be the density of the place of a step given a mention, with its mode
some seconds after the mention begins, and ρ the probability that the mention refers to the step
being done nearby at all. Relative to a uniform place among the T intervals, the odds of t are

    1 + ρ/(1 − ρ) · T·q(t).

Their logarithm is the evidence. It is 0 far from the mention, so a step that is seen elsewhere can
win if its score outweighs the reliability of mentions.

Lag and reliability are learnt for every collection, from the scores w ∝ exp s of classifiers that
never saw the video: a mention j of step k agrees with them by the factor A_j = T·Σ_t q(t)·w_k(t).
The lag maximises prior × Π_j (½ + ½·A_j), and ρ is the mean posterior reliability of the mentions
given A_j. Where the scores are flat, A_j = 1, and both keep their prior values. The prior of the
lag is that of people who narrate what they do (mentions of two tasks of real captions are most
often inside the step 1–4 s after they begin; the middle of a step is later than that).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from howsteps.localise.lazy import LazySequence
from howsteps.localise.oracle import Floats, Mask

MENTION_SECONDS = 4.0  # sum of the labels of a mention, in seconds of its step
LAGS = np.arange(0.0, 10.25, 0.5)  # seconds: candidates
LAG_MEAN, LAG_DEVIATION = 4.0, 1.5  # seconds: prior of the lag
BEFORE, AFTER = 3.0, 4.0  # seconds: standard deviations of q on either side of its mode
RELIABILITY = 0.9  # mean of the prior of ρ
PRIOR_MENTIONS = 10.0  # weight of that prior, as a number of mentions
MOST_RELIABLE = 0.98  # upper bound of ρ
_ROUNDS = 10  # of the estimate of ρ, which changes little after five


class MentionPrior(Protocol):
    """Evidence of the mentions, T_n×K per video."""

    def log_odds(self) -> Sequence[Floats]:
        """Return the log-odds of every place against a uniform one; 0 without mentions."""
        ...

    def labels(self) -> Sequence[Floats]:
        """Return labels in [0, 1] for the classifier of each step."""
        ...

    def fit(self, scores: Sequence[Floats]) -> Self:
        """Return a copy with parameters fitted to leave-one-out scores, T_n×K per video."""
        ...


@dataclass(frozen=True)
class WindowPrior:
    """Flat windows with a fixed log-weight.

    Attributes
    ----------
    windows
        T_n×K per video: a mask, or the probability p that the mention is of the step being done.
    weight
        Log-odds inside a window with p = 1; in general the odds are 1 + p·(exp weight − 1).
    seconds
        Duration of an interval.
    """

    windows: Sequence[Floats | Mask]
    weight: float
    seconds: float

    def log_odds(self) -> Sequence[Floats]:
        """Return the log-odds, T_n×K per video; 0 outside the windows."""
        return LazySequence(self._log_odds, len(self.windows))

    def labels(self) -> Sequence[Floats]:
        """Return the windows, scaled down where they are longer than a mention's seconds."""
        return LazySequence(self._labels, len(self.windows))

    def _log_odds(self, video: int) -> Floats:
        odds: Floats = np.log1p(np.expm1(self.weight) * self.windows[video])
        return odds

    def _labels(self, video: int) -> Floats:
        window = self.windows[video]
        length: Floats = (window > 0).sum(axis=0) * np.float64(self.seconds)
        scale: Floats = np.minimum(1.0, MENTION_SECONDS / np.maximum(length, self.seconds))
        return window * scale

    def fit(self, scores: Sequence[Floats]) -> Self:
        """Return itself: windows have no parameters to fit."""
        return self


@dataclass(frozen=True)
class LagPrior:
    """Mentions whose steps are seen with a lag.

    Attributes
    ----------
    mentions
        S_n×3 per video: start and end in seconds, and the step.
    lengths, steps
        T_n and K.
    seconds
        Duration of an interval.
    lag
        Mode of q, in seconds after a mention begins.
    reliability
        ρ.
    """

    mentions: Sequence[Floats]
    lengths: Sequence[int]
    steps: int
    seconds: float
    lag: float = LAG_MEAN
    reliability: float = RELIABILITY

    def log_odds(self) -> list[Floats]:
        """Return log(1 + ρ/(1 − ρ)·T·q), T_n×K per video."""
        odds = self.reliability / (1.0 - self.reliability)
        return [
            np.log1p(odds * length * density)
            for length, density in zip(self.lengths, self._densities(), strict=True)
        ]

    def labels(self) -> list[Floats]:
        """Return q scaled to a mention's seconds, at most 1, T_n×K per video."""
        return [
            np.minimum(MENTION_SECONDS / self.seconds * density, 1.0)
            for density in self._densities()
        ]

    def fit(self, scores: Sequence[Floats]) -> Self:
        """Return a copy with lag and reliability fitted to leave-one-out scores."""
        agreement = self._agreement(scores)
        if not agreement.size:
            return self
        log_prior = -0.5 * ((LAGS - LAG_MEAN) / LAG_DEVIATION) ** 2
        best = int((np.log(0.5 + 0.5 * agreement).sum(axis=1) + log_prior).argmax())
        reliability = RELIABILITY
        for _ in range(_ROUNDS):
            reliable = reliability * agreement[best]
            posterior = reliable / (reliable + 1.0 - reliability)
            total = posterior.sum() + PRIOR_MENTIONS * RELIABILITY
            reliability = min(total / (len(posterior) + PRIOR_MENTIONS), MOST_RELIABLE)
        return replace(self, lag=float(LAGS[best]), reliability=float(reliability))

    def _densities(self) -> list[Floats]:
        """Return q of every step, T_n×K: the mean over its mentions, 0 where it has none."""
        densities = []
        for mentions, length in zip(self.mentions, self.lengths, strict=True):
            belongs = mentions[:, 2].astype(np.int64)[:, None] == np.arange(self.steps)
            by_mention = self._density(mentions, length, self.lag)
            densities.append(by_mention @ (belongs / np.maximum(belongs.sum(axis=0), 1)))
        return densities

    def _agreement(self, scores: Sequence[Floats]) -> Floats:
        """Return A_j of every mention for every candidate lag, lags × mentions."""
        columns = []
        for mentions, length, score in zip(self.mentions, self.lengths, scores, strict=True):
            weight = np.exp(score - score.max(axis=0))
            relative = (weight / weight.mean(axis=0))[:, mentions[:, 2].astype(np.int64)]
            columns.append(
                [(self._density(mentions, length, lag) * relative).sum(axis=0) for lag in LAGS]
            )
        return np.concatenate([np.array(part) for part in columns], axis=1)

    def _density(self, mentions: Floats, length: int, lag: float) -> Floats:
        """Return q of each mention, T×S; part of its mass may lie outside the video."""
        offset = (np.arange(length)[:, None] + 0.5) * self.seconds - mentions[:, 0] - lag
        bell = np.exp(-0.5 * (offset / np.where(offset < 0, BEFORE, AFTER)) ** 2)
        density: Floats = bell * self.seconds / ((BEFORE + AFTER) * np.sqrt(np.pi / 2))
        return density
