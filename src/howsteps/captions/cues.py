"""Cues: decode a caption file, parse its times, and make captions with valid times of its cues."""

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, TypeAlias

from howsteps.errors import InputError, Problem
from howsteps.task import LATEST, Caption, Word

# Bytes. A day of captions with word times is about 10 MB; a larger file is something else.
LARGEST_FILE = 32 * 2**20
# Characters of four hours of speech; a longer text is not a caption.
LONGEST_TEXT = 2**18
# More than one a second for a day.
MOST_CUES = 100_000

# A parser does not know the name of its file; the reader adds it.
_FILE = Path()


class Piece(NamedTuple):
    """Words with the times that the file gives them, if any; white space separates words."""

    text: str
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class Cue:
    """One cue as written: times may be missing (None), reversed or out of order.

    ``pieces`` are the last part of ``text``, if the file has word times. ``position`` is the line
    of the cue or, in JSON, its entry, counted from 1.
    """

    start: float | None
    end: float | None
    text: str
    pieces: tuple[Piece, ...] = ()
    position: int | None = None


ParsedCues: TypeAlias = Iterator[Cue | Problem]


def lost(reason: str, position: int | None = None) -> Problem:
    """Return a problem with a part of the file that was left out."""
    return Problem(_FILE, reason, position)


def repaired(reason: str, position: int | None = None) -> Problem:
    """Return a remark on a part of the file that was repaired."""
    return Problem(_FILE, reason, position, harmless=True)


def unreadable(reason: str, line: int | None = None) -> InputError:
    """Return the error that the file as a whole cannot be used."""
    return InputError(_FILE, reason, line)


def decode(data: bytes) -> tuple[str, list[Problem]]:
    r"""Decode the bytes of a text file; line ends become ``\n``.

    Raises ``InputError`` if the file is empty or binary.
    """
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text, problems = _decode_replacing(data, "utf-16") if is_utf16 else _decode(data)
    if "\0" in text:
        raise unreadable("is a binary file, not captions")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise unreadable("the file is empty")
    return text, problems


def _decode(data: bytes) -> tuple[str, list[Problem]]:
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError:
        decoded = data.decode("utf-8", "replace")
    invalid = decoded.count("\ufffd")
    valid = len(decoded) - len(decoded.encode("ascii", "ignore")) - invalid
    # UTF-8 with a few errors has more other characters than errors.
    return _decode_replacing(data, "utf-8" if valid > invalid else "cp1252")


def _decode_replacing(data: bytes, encoding: str) -> tuple[str, list[Problem]]:
    """Decode with U+FFFD for invalid bytes, and report the line of the first of them."""
    try:
        return data.decode(encoding), []
    except UnicodeDecodeError as error:
        line = data[: error.start].decode(encoding, "replace").count("\n") + 1
        reason = f"bytes that are not {encoding.upper()} were replaced"
        return data.decode(encoding, "replace"), [repaired(reason, line)]


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


def youtube_cue(
    start: float | None,
    duration: float | None,
    parts: Sequence[tuple[str, float | None]],
    units_per_second: int,
    position: int,
) -> Cue:
    """A line of YouTube's: texts with their offsets from its start, all in the same unit."""
    begin = scaled(start, units_per_second)
    end = scaled(plus(start, duration), units_per_second)
    pieces = tuple(Piece(t, scaled(plus(start, at), units_per_second)) for t, at in parts)
    # A single part has the time of the line.
    timed = sum(bool(text.strip()) for text, _ in parts) > 1
    return Cue(begin, end, "".join(text for text, _ in parts), pieces if timed else (), position)


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


TOO_LONG = "is too long to be a caption; left out"
IMPOSSIBLE = "has impossible times, or none; estimated from the lines around it"
BACKWARDS = "starts before the line above it; the lines were sorted by time"

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# Lone surrogates, which JSON escapes can contain and no encoding can represent.
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def repair(cues: Iterable[Cue]) -> tuple[tuple[Caption, ...], list[Problem]]:
    """Return the captions of ``cues``, and what was repaired, in file order.

    A line whose start cannot be read shares the times of the line before it; an end is estimated.
    """
    problems: list[Problem] = []
    timed: list[tuple[float, float | None, Cue]] = []
    start, end = 0.0, None
    for cue in cues:
        if len(cue.text) > LONGEST_TEXT:
            problems.append(lost(TOO_LONG, cue.position))
            continue
        if not cue.text.strip():
            continue
        before = start
        if cue.start is not None and cue.start <= LATEST:
            start, end = max(cue.start, 0.0), cue.end
            if end is not None and not start <= end <= LATEST:
                end = None
        if cue.start is None or (start, end) != (cue.start, cue.end):
            problems.append(repaired(IMPOSSIBLE, cue.position))
        if start < before:
            problems.append(repaired(BACKWARDS, cue.position))
        timed.append((start, end, cue))
    timed.sort(key=lambda entry: entry[0])
    next_starts = [start for start, *_ in timed[1:]] + [None]
    captions = (_caption(*entry, after) for entry, after in zip(timed, next_starts, strict=False))
    return tuple(captions), problems


def _caption(start: float, end: float | None, cue: Cue, next_start: float | None) -> Caption:
    if end is None:
        end = start + likely_duration(cue.text)
        if next_start is not None and next_start > start:
            end = min(end, next_start)
    words = _words(cue.pieces, start, end) if cue.pieces else ()
    return Caption(start, end, printable(cue.text), words)


def printable(text: str) -> str:
    """Replace control characters and lone surrogates."""
    if text.isascii() and text.isprintable():
        return text
    return _SURROGATE.sub("\ufffd", _CONTROL.sub(" ", text))


def _words(pieces: Sequence[Piece], start: float, end: float) -> tuple[Word, ...]:
    """Return the words of a cue; times of untimed words are interpolated."""
    written = _join_split_words(pieces)
    anchors = [i for i, word in enumerate(written) if i == 0 or word.start is not None]
    words: list[Word] = []
    now = start
    for first, stop in zip(anchors, [*anchors[1:], len(written)], strict=True):
        now = _clip(written[first].start, now, end)
        until = _clip(written[stop].start, now, end) if stop < len(written) else end
        if (given_end := written[first].end) is not None:
            given_end = _clip(given_end, now, until)
            words.append(Word(printable(written[first].text), now, given_end))
            first, now = first + 1, given_end  # noqa: PLW2901 - the anchor is done
        texts = [printable(word.text) for word in written[first:stop]]
        words += spread_words(texts, now, until)
    return tuple(words)


def _join_split_words(pieces: Iterable[Piece]) -> list[Piece]:
    """Split pieces at white space, and join the parts of a word that spans several pieces."""
    words: list[tuple[list[str], float | None, float | None]] = []
    is_open = False  # the last piece did not end with white space
    for piece in pieces:
        parts = piece.text.split()
        for index, text in enumerate(parts):
            end = piece.end if len(parts) == 1 else None
            if index == 0 and is_open and not piece.text[0].isspace():
                words[-1][0].append(text)
                words[-1] = (*words[-1][:2], end)
            else:
                words.append(([text], piece.start if index == 0 else None, end))
        if piece.text:
            is_open = not piece.text[-1].isspace()
    return [Piece("".join(parts), start, end) for parts, start, end in words]


def _clip(value: float | None, low: float, high: float) -> float:
    return low if value is None else min(max(low, value), high)
