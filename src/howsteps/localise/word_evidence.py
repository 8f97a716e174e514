"""Evidence of the words: where the mentions of a video place its steps, and their usual positions.

**Windows** (:class:`WindowPrior`). A mention of step k from a to b seconds has the window
[a − Δb, b + Δa]. Features of the narration peak where a step is named, so the window is short, and
the mention counts the same everywhere in it. (For the video:
:mod:`howsteps.localise.video_evidence`.)

**Readings** (:class:`ReadPrior`). In a video that a language model read, what it read replaces the
mentions. The density q of a reading from a to b seconds is a bell around

    a + max((b − a)/2, b − a − d):

many words are mostly talk that ends in the act. A step that was not read has no evidence of words.

**Position** (:func:`position_prior`). A kernel density (Gaussian kernels of width h) over the
relative positions of the mentions of a step; a video's own mentions are left out of its own prior.
``UNIFORM_MENTIONS`` pseudo-mentions spread evenly over the video shrink it towards a uniform
density where mentions are few. The log-density counts against previews and recaps, and is evidence
for steps that nobody names.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from howsteps.errors import HowstepsError
from howsteps.localise.features import Floats, Mask
from howsteps.narration.features import AFTER, BEFORE

MENTION_SECONDS = 4.0  # sum of the labels of a mention, in seconds of its step

READ_RELIABILITY = 0.95  # ρ of a reading
READ_END = 10.0  # d, seconds from the middle of a step to the end of a long reading
LABEL_SPREAD = 1.0, 0.25  # standard deviation of the labels of a reading: seconds, share of b − a

WIDTH = 0.12  # h, as a share of the length of the video
UNIFORM_MENTIONS = 3.0
_BINS = 200  # positions at which the density is computed

Value = TypeVar("Value")


class LazySequence(Sequence[Value]):
    """A sequence whose item n is ``compute(n)``, computed anew on every access."""

    def __init__(self, compute: Callable[[int], Value], length: int) -> None:
        self._compute = compute
        self._length = length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> list[Value]: ...
    def __getitem__(self, index: int | slice) -> Value | list[Value]:
        """Return one value, or a list of values for a slice."""
        if isinstance(index, slice):
            return [self._compute(n) for n in range(*index.indices(self._length))]
        return self._compute(range(self._length)[index])

    def __iter__(self) -> Iterator[Value]:
        return map(self._compute, range(self._length))


@dataclass(frozen=True)
class RelaxedWindow:
    """A window that other evidence overruled, and its number of mentions."""

    video: int
    step: int
    support: float


def mention_windows(
    times: ArrayLike,
    length: int,
    seconds_per_interval: float,
    *,
    before: float = BEFORE,
    after: float = AFTER,
) -> Mask:
    """Return the intervals inside the window of every mention of one video.

    Parameters
    ----------
    times
        S×2: start and end of the mentions, in seconds.
    length
        T_n.
    seconds_per_interval
        Duration s of an interval.
    before, after
        Δb and Δa, in seconds.

    Returns
    -------
    S×T_n: interval i = [i·s, (i+1)·s) is inside if it overlaps the window. A row without any
    interval is a mention outside the video.

    Raises
    ------
    HowstepsError
        A mention ends before it starts.
    """
    start, end = starts_and_ends(times)
    first = np.floor((start - before) / seconds_per_interval)
    last = np.floor((end + after) / seconds_per_interval)
    intervals = np.arange(length)
    inside: Mask = (intervals >= first) & (intervals <= last)
    return inside


def starts_and_ends(times: ArrayLike) -> tuple[Floats, Floats]:
    """Return the starts and the ends of mentions (S×2), S×1 each; raise if one ends too early."""
    spans = np.asarray(times, np.float64).reshape(-1, 2)
    if (wrong := ~(spans[:, 0] <= spans[:, 1])).any():
        index = int(wrong.argmax())
        start, end = spans[index]
        raise HowstepsError(f"mention {index} ends at {end:g} s, before it starts at {start:g} s")
    return spans[:, :1], spans[:, 1:]


def window_probabilities(
    mentions: Floats,
    length: int,
    seconds_per_interval: float,
    steps: int,
    before: float = BEFORE,
    after: float = AFTER,
) -> Floats:
    """Return the highest probability of the mentions of each step around every interval, T×K.

    It is 0 outside all windows.

    Parameters
    ----------
    mentions
        S×4: start and end in seconds, the step, and the probability that it is being done.
    length, seconds_per_interval, before, after
        As for :func:`mention_windows`.
    steps
        K.
    """
    inside = mention_windows(
        mentions[:, :2], length, seconds_per_interval, before=before, after=after
    )
    highest = np.zeros((length, steps))
    for window, (_, _, step, probability) in zip(inside, mentions, strict=True):
        highest[window, int(step)] = np.maximum(highest[window, int(step)], probability)
    return highest


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


@dataclass(frozen=True)
class ReadPrior:
    """Readings in the videos that were read, mentions in the others.

    Attributes
    ----------
    mentions
        Evidence of the mentions.
    readings
        S_n×3 per video: start and end in seconds, and the step; None in a video that was not read.
    lengths
        T_n.
    steps
        K.
    seconds
        Duration of an interval.
    spread
        Standard deviation of q: seconds, and a share of b − a.
    """

    mentions: WindowPrior
    readings: Sequence[Floats | None]
    lengths: Sequence[int]
    steps: int
    seconds: float
    spread: tuple[float, float]

    def log_odds(self) -> Sequence[Floats]:
        """Return log(1 + ρ/(1 − ρ)·T·q) of the readings, T_n×K per video."""
        odds = READ_RELIABILITY / (1.0 - READ_RELIABILITY)

        def read(rows: Floats, length: int) -> Floats:
            bells, deviation = self._bells(rows, length, self.spread)
            density = bells * self.seconds / (deviation * np.sqrt(2 * np.pi))
            value: Floats = np.log1p(odds * length * self._by_step(density, rows))
            return value

        return self._where_read(read, self.mentions.log_odds())

    def labels(self) -> Sequence[Floats]:
        """Return bells of height 1 over the readings, T_n×K per video."""

        def read(rows: Floats, length: int) -> Floats:
            return self._by_step(self._bells(rows, length, LABEL_SPREAD)[0], rows)

        return self._where_read(read, self.mentions.labels())

    def _where_read(
        self, compute: Callable[[Floats, int], Floats], said: Sequence[Floats]
    ) -> Sequence[Floats]:
        def value(video: int) -> Floats:
            rows = self.readings[video]
            return said[video] if rows is None else compute(rows, self.lengths[video])

        return LazySequence(value, len(self.readings))

    def _by_step(self, values: Floats, rows: Floats) -> Floats:
        """Return the mean of T×S values over the readings of each step, T×K."""
        belongs = rows[:, 2].astype(np.int64)[:, None] == np.arange(self.steps)
        mean: Floats = values @ (belongs / np.maximum(belongs.sum(axis=0), 1))
        return mean

    def _bells(
        self, rows: Floats, length: int, spread: tuple[float, float]
    ) -> tuple[Floats, Floats]:
        """Return a bell of height 1 for each reading, T×S, and their standard deviations, S."""
        deviation = np.hypot(spread[0], spread[1] * (rows[:, 1] - rows[:, 0]))
        middle = (np.arange(length)[:, None] + 0.5) * self.seconds
        offset = middle - reading_middles(rows)
        return np.exp(-0.5 * (offset / deviation) ** 2), deviation


def reading_middles(rows: Floats, lag: float = 0.0) -> Floats:
    """Return the most likely second of each reading (S×3), S."""
    start, span = rows[:, 0], rows[:, 1] - rows[:, 0]
    middles: Floats = start + np.maximum.reduce([0.5 * span, span - READ_END, 0.0 * span + lag])
    return middles


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
