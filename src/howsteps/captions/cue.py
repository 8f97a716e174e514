"""What every parser yields: cues as the file writes them, and what it could not read."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

# No video lasts eleven days: a larger number is a fault in the file, not a time.
LONGEST = 1e6
# The largest number that can be a time, if in milliseconds.
_LARGEST = 1000 * LONGEST
# Letters of four hours of speech: a longer text is no caption.
LONGEST_TEXT = 2**18

CLOCK = re.compile(
    r"(?P<sign>-?)(?:(?P<hours>[0-9]{1,4}):)?(?P<minutes>[0-9]{1,4}):(?P<seconds>[0-9]{1,2})"
    r"(?:\s?[.,:;]\s?(?P<fraction>[0-9]{1,9}))?"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a cue with a time of its own; white space inside ``text`` parts words."""

    text: str
    start: float | None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class Cue:
    """One cue as written: times may be missing (None), reversed or out of order.

    ``pieces`` are the last part of ``text``, where the file times words. ``line`` or, in JSON,
    ``entry`` is where the cue stands in the file.
    """

    start: float | None
    end: float | None
    text: str
    pieces: tuple[Piece, ...] = ()
    line: int | None = None
    entry: int | None = None


@dataclass(frozen=True, slots=True)
class Flaw:
    """A part of the file that was mended or left out; the reader adds the file's name."""

    reason: str
    line: int | None = None
    entry: int | None = None


Parsed: TypeAlias = Iterator[Cue | Flaw]


class UnreadableError(Exception):
    """The file as a whole cannot be used; the reader adds the file's name."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def seconds(value: object) -> float | None:
    """Seconds from a number or from a clock such as ``1:02:03,500``; None if it is neither."""
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
    # An integer of any size can be compared, but not always made a float.
    return float(value) if -_LARGEST <= value <= _LARGEST else None


def scaled(number: float | None, rate: float) -> float | None:
    """Seconds from a number of which ``rate`` make a second."""
    return None if number is None else number / rate


def clock_seconds(clock: re.Match[str]) -> float:
    """Seconds of a match of ``CLOCK``."""
    whole = int(clock["hours"] or 0) * 3600 + int(clock["minutes"]) * 60 + int(clock["seconds"])
    # One conversion of the whole number: 7.62 read from a file is the float 7.62, not 7 + 0.62.
    total = float(f"{whole}.{clock['fraction'] or 0}")
    return -total if clock["sign"] else total


def plus(start: float | None, duration: float | None) -> float | None:
    """Add a duration to a start; None if either is missing."""
    return None if start is None or duration is None else start + duration
