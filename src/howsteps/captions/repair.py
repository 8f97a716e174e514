"""Convert cues as written to captions with valid times.

Afterwards times are finite and not negative, no caption ends before it starts, captions are sorted
by start, and word times lie inside their caption. No word is dropped, unless a cue is too long to
be a caption.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from howsteps.captions.cue import LONGEST_TEXT, Cue, Issue, Piece
from howsteps.captions.timing import likely_duration, spread_words
from howsteps.io.checked import LATEST
from howsteps.task import Caption, Word

TOO_LONG = "is too long to be a caption; left out"
NO_TIME = "the times cannot be read; the words follow the line before"
NEGATIVE = "starts before zero; moved to zero"
REVERSED = "ends before it starts; the end was estimated"
BACKWARDS = "starts before the line above it; the lines were sorted by time"

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# Lone surrogates, which JSON escapes can contain and no encoding can represent.
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def repair(cues: Iterable[Cue]) -> tuple[tuple[Caption, ...], list[Issue]]:
    """Return the captions of ``cues``, and what was repaired, in file order."""
    issues: list[Issue] = []
    timed: list[_TimedCue] = []
    nonempty = []
    for cue in cues:
        if len(cue.text) > LONGEST_TEXT:
            issues.append(Issue(TOO_LONG, cue.line, cue.entry))
        elif cue.text.strip():
            nonempty.append(cue)
    previous_start = 0.0
    for cue, next_start in zip(nonempty, _next_starts(nonempty), strict=True):
        if cue.start is None or cue.start > LATEST:
            # After the previous line, but not after the next one.
            start = (timed[-1].end if timed else None) or previous_start
            if next_start is not None:
                start = max(previous_start, min(start, next_start))
            repaired, reasons = _TimedCue(cue, start, None), [NO_TIME]
        else:
            repaired, reasons = _with_valid_times(cue, cue.start)
            if repaired.start < previous_start:
                reasons.append(BACKWARDS)
            previous_start = repaired.start
        issues += [Issue(reason, cue.line, cue.entry, lost=False) for reason in reasons]
        timed.append(repaired)
    timed.sort(key=lambda cue: cue.start)
    next_starts = [cue.start for cue in timed[1:]] + [None]
    return tuple(map(_caption, timed, next_starts)), issues


@dataclass(frozen=True, slots=True)
class _TimedCue:
    """A cue with a valid start, and an end that is either valid or None."""

    cue: Cue
    start: float
    end: float | None


def _next_starts(cues: Sequence[Cue]) -> list[float | None]:
    """Return, for each cue, the next known start."""
    starts: list[float | None] = []
    upcoming = None
    for cue in reversed(cues):
        starts.append(upcoming)
        upcoming = upcoming if cue.start is None else cue.start
    return starts[::-1]


def _with_valid_times(cue: Cue, start: float) -> tuple[_TimedCue, list[str]]:
    """Repair the times of a cue; return it and what was wrong."""
    end = cue.end
    reasons = []
    if start < 0:
        reasons.append(NEGATIVE)
        start, end = 0.0, None if end is None else max(end, 0.0)
    if end is not None and (end < start or end > LATEST):
        reasons.append(REVERSED)
        end = None
    return _TimedCue(cue, start, end), reasons


def _caption(timed: _TimedCue, next_start: float | None) -> Caption:
    start, end, cue = timed.start, timed.end, timed.cue
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
    words: list[Piece] = []
    tail: list[str] = []  # further parts of the last word; joined at once, in linear time
    is_open = False  # the last piece did not end with white space
    for piece in pieces:
        parts = piece.text.split()
        for index, text in enumerate(parts):
            start = piece.start if index == 0 else None
            end = piece.end if len(parts) == 1 else None
            if index == 0 and is_open and not piece.text[0].isspace():
                tail.append(text)
                words[-1] = Piece(words[-1].text, words[-1].start, end)
            else:
                _complete_word(words, tail)
                words.append(Piece(text, start, end))
        if piece.text:
            is_open = not piece.text[-1].isspace()
    _complete_word(words, tail)
    return words


def _complete_word(words: list[Piece], tail: list[str]) -> None:
    if tail:
        words[-1] = replace(words[-1], text=words[-1].text + "".join(tail))
        tail.clear()


def _clip(value: float | None, low: float, high: float) -> float:
    return low if value is None else min(max(low, value), high)
