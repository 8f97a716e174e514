"""Parse the times of caption files, and estimate those that are missing."""

import re
from collections.abc import Sequence
from itertools import accumulate

from howsteps.io.checked import LATEST
from howsteps.task import Word

# The largest number that can be a time in milliseconds.
_LARGEST = 1000 * LATEST

CLOCK = re.compile(
    r"(?P<sign>-?)(?:(?P<hours>[0-9]{1,4}):)?(?P<minutes>[0-9]{1,4}):(?P<seconds>[0-9]{1,2})"
    r"(?:\s?[.,:;]\s?(?P<fraction>[0-9]{1,9}))?"
)

_SPEECH_RATE = 15.0  # characters per second
_MIN_DURATION = 0.5  # seconds


def seconds(value: object) -> float | None:
    """Parse a number or a clock time such as ``1:02:03,500`` as seconds; None if it is neither."""
    if isinstance(value, str):
        text = value.strip()
        if clock := CLOCK.fullmatch(text):
            return clock_seconds(clock)
        try:
            value = float(text.replace(",", "."))
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # Compare first: a large integer cannot be converted to a float.
    return float(value) if -_LARGEST <= value <= _LARGEST else None


def scaled(number: float | None, units_per_second: float) -> float | None:
    """Convert a time in some unit to seconds; None stays None."""
    return None if number is None else number / units_per_second


def clock_seconds(clock: re.Match[str]) -> float:
    """Convert a match of ``CLOCK`` to seconds."""
    whole = int(clock["hours"] or 0) * 3600 + int(clock["minutes"]) * 60 + int(clock["seconds"])
    # Converted at once: 7.62 in a file is the float 7.62, not 7 + 0.62.
    total = float(f"{whole}.{clock['fraction'] or 0}")
    return -total if clock["sign"] else total


def plus(start: float | None, duration: float | None) -> float | None:
    """Add a duration to a start; None if either is missing."""
    return None if start is None or duration is None else start + duration


def likely_duration(text: str) -> float:
    """Estimate the time it takes to say ``text``, in seconds."""
    return max(_MIN_DURATION, len(text) / _SPEECH_RATE)


def spread_words(texts: Sequence[str], start: float, end: float) -> list[Word]:
    """Distribute the time from ``start`` to ``end`` over words in proportion to their length.

    Word i of length l_i (plus one, for the pause after it) ends at
    start + (end − start) · Σ_{j ≤ i} (l_j + 1) / Σ_j (l_j + 1).
    """
    if len(texts) <= 1:
        return [Word(text, start, end) for text in texts]
    letters_until = list(accumulate(len(text) + 1 for text in texts))
    per_letter = (end - start) / letters_until[-1]
    # The last end is exact: rounding must not move a word past its line.
    ends = [min(start + per_letter * letters, end) for letters in letters_until[:-1]] + [end]
    return [Word(*word) for word in zip(texts, [start, *ends[:-1]], ends, strict=True)]
