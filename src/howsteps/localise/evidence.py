"""Evidence: a step is a segment of the video that begins some seconds after it is named.

**Segments.** A step of d seconds from s on has the log-likelihood ratio against the rest of the
video

    E(s, d) = log p(d) + c·(Δ·m(s, d) − Δ²/2) / v_d + constant

where m(s, d) is the mean score of the window, v_d the variance of the means of such windows in
these videos (scores are correlated in time), Δ the mean score inside a step, p a log-normal density
of durations, and c < 1 since the same few videos give the scores and Δ. Scores are standardised in
each video, because a classifier that was learnt without a video's own mention is a weaker one.

**Mentions.** A step begins within some seconds of its mention plus the *lag*. With q the density of
its beginning (the mean of those of its mentions, each with the weight w that it is of this step and
work, and not talk; at most Σw) and ρ the reliability of a mention, the odds of s against a uniform
beginning are 1 + ρ/(1 − ρ)·T·q(s).

**Readings.** In a video that a language model read, what it read replaces the mentions. The middle
of a step that was read from a to b seconds is around

    a + max((b − a)/2, b − a − READ_END):

many words are mostly talk that ends in the act. A step that was not read has no evidence of words.

**What is learnt from frames.** Features change where steps begin. With b the standardised change,
the lag maximises, over the mentions and β,

    prior(lag, β) · Π_j [1 − ρ + ρ·Σ_s q_j(s)·exp(β·b(s)) / mean exp(β·b)]

No classifier takes part, for one that was learnt at some lag confirms it; but where there are
several maxima (steps end with a change too) the classifiers that are learnt at each choose, by the
likelihood below. Then, after every round, Δ and the median duration maximise the marginal
likelihood of the scores of the steps that are named,

    Π_nk Σ_s [ρ·q(s) + (1 − ρ)/T] · Σ_d exp E(s, d)

with weak priors: with a few short mentions and useless features they stay where they are. Features
of the narration are made of the mentions themselves and say nothing about all this.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from howsteps.localise.features import Floats, Videos
from howsteps.localise.order import Marginals, segment_marginals

DURATIONS = (1, 2, 4, 8, 16)  # seconds
DURATION, DURATION_SPREAD = 6.0, 1.0  # usual median; deviation of the logarithm
MEDIANS = np.array([2.0, 3.0, 4.5, 6.0, 9.0, 13.0])  # seconds: candidates
SEPARATION, SEPARATION_DEVIATION = 1.0, 0.5  # Δ: prior
SEPARATIONS = np.arange(0.0, 3.01, 0.25)
CAUTION = 0.7  # c

LAG, LAG_DEVIATION = 2.5, 3.0  # seconds: prior
LAGS = np.arange(0.0, 8.1, 0.5)
CHANGE_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)  # β
CHANGE_COST = 2.0  # less log-prior of β, per unit
CHANGE_WINDOW = 3.0  # seconds on either side of a change
SPREAD = 2.0  # seconds: standard deviation of the beginning around mention + lag
RELIABILITY, READ_RELIABILITY = 0.9, 0.95  # ρ
READ_SPREAD = 4.0, 0.25  # standard deviation for a reading: seconds, share of its length
READ_END = 10.0  # seconds from the middle of a step to the end of a long reading
HALF = 2.5  # seconds from the beginning of a step to its middle, which is what readings tell


@dataclass(frozen=True)
class SegmentPrior:
    """Mentions of steps that are segments of the video, and what is known about both.

    Attributes
    ----------
    mentions
        S_n×4 per video: start and end in seconds, the step, and w.
    lengths, steps
        T_n and K.
    seconds
        Duration of an interval.
    readings
        S_n×3 per video: start and end in seconds, and the step, as a language model read it in
        place of the mentions; None in other videos.
    lag
        Seconds from the start of a mention to the start of its step.
    separation
        Δ.
    duration
        Median of p, in seconds.
    variances
        v_d; those of the videos in question until they are fitted.
    """

    mentions: Sequence[Floats]
    lengths: Sequence[int]
    steps: int
    seconds: float
    readings: Sequence[Floats | None] = ()
    lag: float = LAG
    separation: float = SEPARATION
    duration: float = DURATION
    variances: Floats = field(default_factory=lambda: np.ones(len(DURATIONS)))

    def labels(self) -> list[Floats]:
        """Return the probability that each step is being done, by the mentions, T_n×K per video."""
        return [self._doing(n) for n in range(len(self.lengths))]

    def log_odds(self, video: int) -> Floats:
        """Return the log-odds that each step is being done against any other time, T×K."""
        mean_length = float(np.exp(self._log_durations()) @ self._sizes())
        odds = self._odds(video) * self.lengths[video] / mean_length
        value: Floats = np.log1p(odds * self._doing(video))
        return value

    def lags(self, changes: Sequence[Floats]) -> list[tuple[float, Self]]:
        """Return copies with the lags at which mentions meet changes of the features.

        One for each local maximum of the log-likelihood, which comes first: a mention may meet the
        end of its step as well as the beginning. ``changes`` (T_n per video) are b.
        """
        profiles = np.array([self._lag_profile(changes, weight) for weight in CHANGE_WEIGHTS])
        best = profiles[profiles.max(axis=1).argmax()]
        around = np.pad(best, 1, constant_values=-np.inf)
        modes = np.flatnonzero((best > around[:-2]) & (best >= around[2:]))
        return [(float(best[i]), replace(self, lag=float(LAGS[i]))) for i in modes]

    def _lag_profile(self, changes: Sequence[Floats], weight: float) -> Floats:
        """Return the log-likelihood of the changes at the mentions for each of ``LAGS``."""
        total = -0.5 * ((LAGS - LAG) / LAG_DEVIATION) ** 2 - CHANGE_COST * weight
        for rows, change in zip(self.mentions, changes, strict=True):
            odds = np.exp(weight * change)
            gain = odds / odds.mean() - 1.0
            for i, lag in enumerate(LAGS):
                q = self._bells(rows[:, 0] + lag, np.full(len(rows), SPREAD), len(odds))
                total[i] += np.log1p(RELIABILITY * (gain @ q)).sum()
        return total

    def fit(self, scores: Sequence[Floats]) -> tuple[float, Self]:
        """Fit Δ, the duration and v_d to standardised scores.

        Returns the log-likelihood and a fitted copy.
        """
        windows = [self._windows(x) for x in scores]
        fitted = self.measure(scores)
        for name, values, distance in (
            ("separation", SEPARATIONS, (SEPARATIONS - SEPARATION) / SEPARATION_DEVIATION),
            ("duration", MEDIANS, np.log(MEDIANS / DURATION)),
        ):
            changed: list[dict[str, Any]] = [{name: float(value)} for value in values]
            candidates = [replace(fitted, **change) for change in changed]
            likelihoods = np.array([one._log_likelihood(windows) for one in candidates])
            likelihoods -= 0.5 * distance**2
            fitted = candidates[int(likelihoods.argmax())]
        return float(likelihoods.max()), fitted

    def measure(self, scores: Sequence[Floats]) -> Self:
        """Return a copy with v_d of these scores, over all videos and steps."""
        windows = [self._windows(x) for x in scores]
        count, total, squares = (
            np.sum([np.nansum(f(x), axis=(1, 2)) for x in windows], axis=0)
            for f in (np.isfinite, np.asarray, np.square)
        )
        mean = total / np.maximum(count, 1)
        variances = squares / np.maximum(count, 1) - mean**2
        return replace(self, variances=np.where(variances > 1e-9, variances, 1.0))

    def located(self, video: int, scores: Floats) -> Marginals:
        """Return the probability that each step is being done (T×K), and of its presence.

        By all evidence and the order of the steps.
        """
        said = np.log1p(self._odds(video) * self.lengths[video] * self._starts(video))
        evidence = self._log_ratios(self._windows(scores)) + said
        segments, presence = segment_marginals(evidence, self._sizes())
        return Marginals(self._spread(segments), presence)

    def _doing(self, video: int) -> Floats:
        probability = np.exp(self._log_durations())[:, None, None]
        return self._spread(probability * self._starts(video))

    def _odds(self, video: int) -> float:
        reliability = RELIABILITY if self.read(video) is None else READ_RELIABILITY
        return reliability / (1.0 - reliability)

    def read(self, video: int) -> Floats | None:
        """Return the readings of a video, S×3; None if it was not read."""
        return self.readings[video] if self.readings else None

    def _starts(self, video: int) -> Floats:
        """Return q of each step, T×K: 0 where it has no mention."""
        rows = self.read(video)
        if rows is None:
            rows = self.mentions[video]
            weight, start = rows[:, 3], rows[:, 0] + self.lag
            deviation = np.full(len(rows), SPREAD)
        else:
            weight, start = np.ones(len(rows)), reading_middles(rows, self.lag + HALF) - HALF
            deviation = np.hypot(READ_SPREAD[0], READ_SPREAD[1] * (rows[:, 1] - rows[:, 0]))
        belongs = weight[:, None] * (rows[:, 2].astype(np.int64)[:, None] == np.arange(self.steps))
        bells = self._bells(start, deviation, self.lengths[video])
        mean: Floats = bells @ (belongs / np.maximum(belongs.sum(axis=0), 1.0))
        return mean

    def _bells(self, means: Floats, deviations: Floats, length: int) -> Floats:
        """Return normal densities at the starts of the intervals, T×S; some mass may be outside."""
        offset = (np.arange(length)[:, None] * self.seconds - means) / deviations
        scale = self.seconds / (deviations * np.sqrt(2 * np.pi))
        # More than one where an interval is longer than the bell is wide.
        density: Floats = np.minimum(np.exp(-0.5 * offset**2) * scale, 1.0)
        return density

    def _sizes(self) -> NDArray[np.int64]:
        """Return the durations in intervals."""
        return np.maximum(np.rint(np.array(DURATIONS) / self.seconds), 1).astype(np.int64)

    def _log_durations(self) -> Floats:
        """Return log p of each duration."""
        log = np.log(DURATIONS)
        density = np.exp(-0.5 * ((log - np.log(self.duration)) / DURATION_SPREAD) ** 2)
        weight = density * np.gradient(log)
        value: Floats = np.log(weight / weight.sum())
        return value

    def _windows(self, scores: Floats) -> Floats:
        """Return m, D×T×K; NaN where the window does not end in the video."""
        total = np.vstack([np.zeros((1, self.steps)), np.cumsum(scores, axis=0)])
        means = np.full((len(DURATIONS), *scores.shape), np.nan)
        for mean, size in zip(means, self._sizes(), strict=True):
            count = max(len(scores) - size + 1, 0)
            mean[:count] = (total[size:] - total[:count]) / size
        return means

    def _log_ratios(self, windows: Floats) -> Floats:
        """Return E, D×T×K; −∞ where the window does not end in the video."""
        gain = (self.separation * windows - self.separation**2 / 2) / self.variances[:, None, None]
        value: Floats = self._log_durations()[:, None, None] + CAUTION * gain
        value[np.isnan(windows)] = -np.inf
        return value

    def _log_likelihood(self, windows: Sequence[Floats]) -> float:
        """Return the marginal log-likelihood of the scores of the steps that are named."""
        total = 0.0
        for n, means in enumerate(windows):
            q = self._starts(n)
            named = q.any(axis=0)
            if named.any():
                start = RELIABILITY * q[:, named] + (1.0 - RELIABILITY) / len(q)
                ratios = np.logaddexp.reduce(self._log_ratios(means[:, :, named]), axis=0)
                total += float(np.logaddexp.reduce(np.log(start) + ratios, axis=0).sum())
        return total

    def _spread(self, starts: Floats) -> Floats:
        """Return the probability of being in a segment, T×K, from those of the segments, D×T×K."""
        doing = np.zeros(starts.shape[1:])
        rows = np.arange(len(doing))
        for probability, size in zip(starts, self._sizes(), strict=True):
            total = np.vstack([np.zeros((1, self.steps)), np.cumsum(probability, axis=0)])
            doing += total[1:] - total[np.maximum(rows + 1 - size, 0)]
        return np.minimum(doing, 1.0)


def reading_middles(rows: Floats, lag: float = 0.0) -> Floats:
    """Return the most likely second of each reading (S×3), S; ``lag`` is the least after a."""
    start, span = rows[:, 0], rows[:, 1] - rows[:, 0]
    middles: Floats = start + np.maximum.reduce([0.5 * span, span - READ_END, 0.0 * span + lag])
    return middles


def feature_changes(videos: Videos, seconds: float) -> list[Floats]:
    """Return how much the features change at the start of every interval, T_n per video.

    The distance between the means of the three seconds before and after, in units of its deviation
    under independent rows; of mean 0 and deviation 1 over all videos.
    """
    radius = max(round(CHANGE_WINDOW / seconds), 1)
    changes = []
    for x in videos:
        total = np.vstack([np.zeros((1, x.shape[1])), np.cumsum(x, axis=0, dtype=np.float64)])
        t = np.arange(len(x))
        first, last = np.maximum(t - radius, 0), np.minimum(t + radius, len(x))
        before, after = (t - first)[:, None], (last - t)[:, None]
        mean_before = (total[t] - total[first]) / np.maximum(before, 1)
        distance = np.linalg.norm((total[last] - total[t]) / after - mean_before, axis=1)
        changes.append(distance * np.sqrt(before * after / (before + after))[:, 0])
    everywhere = np.concatenate(changes)
    scale = max(float(everywhere.std()), 1e-12)
    return [(change - everywhere.mean()) / scale for change in changes]


def standardised(scores: Floats) -> Floats:
    """Return scores (T×K) of mean 0 and deviation 1."""
    deviation = scores.std(axis=0)
    value: Floats = (scores - scores.mean(axis=0)) / np.where(deviation > 1e-12, deviation, 1.0)
    return value
