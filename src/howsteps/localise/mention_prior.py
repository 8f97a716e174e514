"""What a video's own mentions say about the places of its steps, before anything is looked at.

Words are where they are said: their window is flat and short (:class:`WindowPrior`). What is *seen*
comes some seconds after it is named, more or less (:class:`LagPrior`). Let q(t) be the density of
the place of a step given a mention of it, peaked some seconds after the mention begins, and ρ the
probability that the mention is of the step being done nearby at all. Against a place drawn evenly
from the T intervals, a place at t is the better by the odds

    1 + ρ/(1 − ρ) · T·q(t),

of which the logarithm is the evidence: far from the mention it is 0, so that what is seen
elsewhere can win, but only if it outweighs how reliable mentions are.

Lag and reliability are learnt for every collection, from the scores w ∝ exp s of classifiers that
never saw the video: a mention j of step k agrees with them by the factor A_j = T·Σ_t q(t)·w_k(t).
The lag is the mode with the highest prior × Π_j (½ + ½·A_j), and ρ the mean of what A_j makes of
each mention. Where nothing is seen, A_j = 1, and both stay what they were before. The prior of the
lag is that of people who narrate what they do (mentions of two tasks of real captions are most
often inside the step 1–4 s after they begin; the middle of a step is later than that).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from howsteps.localise.computed import Computed
from howsteps.localise.oracle import Floats, Mask

MENTION = 4.0  # seconds: a mention is worth so much of the step, wherever in its window
MODES = np.arange(0.0, 10.25, 0.5)  # seconds: lags that are tried
USUAL, SPREAD = 4.0, 1.5  # seconds: mean and standard deviation of the lag's prior
BEFORE, AFTER = 3.0, 4.0  # seconds: standard deviations of the place on either side of the mode
RELIABILITY, WITNESSES = 0.9, 10.0  # mean of the prior of ρ, and how many mentions it weighs
MOST_RELIABLE = 0.98  # nobody is always right
_ROUNDS = 10  # of the estimate of ρ, which moves little after five


class MentionPrior(Protocol):
    """Evidence of the mentions, T_n×K a video."""

    def log_odds(self) -> Sequence[Floats]:
        """How much better a place is than anywhere else; 0 where nothing is said."""
        ...

    def labels(self) -> Sequence[Floats]:
        """Examples of each step for its classifier, in [0, 1]."""
        ...

    def fitted(self, scores: Sequence[Floats]) -> Self:
        """The same mentions, read in the light of scores that were learnt without them."""
        ...


@dataclass(frozen=True)
class WindowPrior:
    """Flat windows, each worth a log-weight.

    ``windows`` (T_n×K) say how surely what is said there is the step being done: 0 to 1. Inside a
    window of surety p the odds are 1 + p·(exp weight − 1).
    """

    windows: Sequence[Floats | Mask]
    weight: float
    seconds: float

    def log_odds(self) -> Sequence[Floats]:
        """The weight inside a window."""
        return Computed(self._log_odds, len(self.windows))

    def labels(self) -> Sequence[Floats]:
        """A window is worth some seconds of the step, wherever in it they are."""
        return Computed(self._labels, len(self.windows))

    def _log_odds(self, video: int) -> Floats:
        odds: Floats = np.log1p(np.expm1(self.weight) * self.windows[video])
        return odds

    def _labels(self, video: int) -> Floats:
        window = self.windows[video]
        length: Floats = (window > 0).sum(axis=0) * np.float64(self.seconds)
        worth: Floats = np.minimum(1.0, MENTION / np.maximum(length, self.seconds))
        return window * worth

    def fitted(self, scores: Sequence[Floats]) -> Self:
        """Windows stay as they are."""
        return self


@dataclass(frozen=True)
class LagPrior:
    """Mentions whose steps are seen with a lag.

    Attributes
    ----------
    spoken
        S_n×3 a video: start and end in seconds, and the step.
    lengths, steps
        T_n and K.
    seconds
        How long an interval lasts.
    mode
        The most likely lag, in seconds after a mention begins.
    reliability
        ρ.
    """

    spoken: Sequence[Floats]
    lengths: Sequence[int]
    steps: int
    seconds: float
    mode: float = USUAL
    reliability: float = RELIABILITY

    def log_odds(self) -> list[Floats]:
        """The logarithm of 1 + ρ/(1 − ρ)·T·q."""
        odds = self.reliability / (1.0 - self.reliability)
        return [
            np.log1p(odds * length * place)
            for length, place in zip(self.lengths, self._places(), strict=True)
        ]

    def labels(self) -> list[Floats]:
        """A mention is worth some seconds of the step, where it most likely is."""
        return [np.minimum(MENTION / self.seconds * place, 1.0) for place in self._places()]

    def fitted(self, scores: Sequence[Floats]) -> Self:
        """Learn lag and reliability from what is seen."""
        agreement = self._agreement(scores)
        if not agreement.size:
            return self
        fit = np.log(0.5 + 0.5 * agreement).sum(axis=1) - 0.5 * ((MODES - USUAL) / SPREAD) ** 2
        best = int(fit.argmax())
        reliability = RELIABILITY
        for _ in range(_ROUNDS):
            true = reliability * agreement[best]
            share = true / (true + 1.0 - reliability)
            total = share.sum() + WITNESSES * RELIABILITY
            reliability = min(total / (len(share) + WITNESSES), MOST_RELIABLE)
        return replace(self, mode=float(MODES[best]), reliability=float(reliability))

    def _places(self) -> list[Floats]:
        """The density q of every step: the mean over its mentions, zero where there are none."""
        found = []
        for said, length in zip(self.spoken, self.lengths, strict=True):
            of_step = said[:, 2].astype(np.int64)[:, None] == np.arange(self.steps)
            density = self._density(said, length, self.mode)
            found.append(density @ (of_step / np.maximum(of_step.sum(axis=0), 1)))
        return found

    def _agreement(self, scores: Sequence[Floats]) -> Floats:
        """A_j of every mention, for every lag: modes × mentions."""
        columns = []
        for said, length, score in zip(self.spoken, self.lengths, scores, strict=True):
            weight = np.exp(score - score.max(axis=0))
            seen = (weight / weight.mean(axis=0))[:, said[:, 2].astype(np.int64)]
            columns.append([(self._density(said, length, m) * seen).sum(axis=0) for m in MODES])
        return np.concatenate([np.array(part) for part in columns], axis=1)

    def _density(self, said: Floats, length: int, mode: float) -> Floats:
        """Probability of every interval by each mention, T×S; it may lie outside the video."""
        lag = (np.arange(length)[:, None] + 0.5) * self.seconds - said[:, 0] - mode
        bell = np.exp(-0.5 * (lag / np.where(lag < 0, BEFORE, AFTER)) ** 2)
        share: Floats = bell * self.seconds / ((BEFORE + AFTER) * np.sqrt(np.pi / 2))
        return share
