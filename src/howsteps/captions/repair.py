"""Repair the times of cues: from cues as written to captions with reliable times.

Afterwards times are finite and not negative, no caption ends before it starts, captions are in
order of their start, and word times lie inside their caption. No word is dropped, unless a cue is
too long to be a caption.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from howsteps.captions.cue import LONGEST_TEXT, Cue, Flaw, Piece
from howsteps.captions.timing import LATEST, likely_duration, spread_words
from howsteps.task import Caption, Word

TOO_LONG = "is too long to be a caption; left out"
NO_TIME = "the times cannot be read; the words follow the line before"
NEGATIVE = "starts before zero; moved to zero"
REVERSED = "ends before it starts; the end was estimated"
BACKWARDS = "starts before the line above it; the lines were sorted by time"

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# Lone surrogates, which JSON escapes can make and no encoding can write.
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def repair(cues: Iterable[Cue]) -> tuple[tuple[Caption, ...], list[Flaw]]:
    """Make captions of ``cues``, and list what was repaired, in file order."""
    flaws: list[Flaw] = []
    placed: list[_Placed] = []
    spoken = []
    for cue in cues:
        if len(cue.text) > LONGEST_TEXT:
            flaws.append(Flaw(TOO_LONG, cue.line, cue.entry))
        elif cue.text.strip():
            spoken.append(cue)
    above = 0.0
    for cue, below in zip(spoken, _next_starts(spoken), strict=True):
        if cue.start is None or cue.start > LATEST:
            # After the previous line, but not after the next one.
            rest = (placed[-1].end if placed else None) or above
            start = rest if below is None else max(above, min(rest, below))
            found, reasons = _Placed(cue, start, None), [NO_TIME]
        else:
            found, reasons = _placed(cue, cue.start)
            if found.start < above:
                reasons.append(BACKWARDS)
            above = found.start
        flaws += [Flaw(reason, cue.line, cue.entry, lost=False) for reason in reasons]
        placed.append(found)
    placed.sort(key=lambda cue: cue.start)
    following = [cue.start for cue in placed[1:]] + [None]
    return tuple(map(_caption, placed, following)), flaws


@dataclass(frozen=True, slots=True)
class _Placed:
    """A cue with a usable start, and an end that is either usable or None."""

    cue: Cue
    start: float
    end: float | None


def _next_starts(cues: Sequence[Cue]) -> list[float | None]:
    """For each cue the next start that is known."""
    starts: list[float | None] = []
    upcoming = None
    for cue in reversed(cues):
        starts.append(upcoming)
        upcoming = upcoming if cue.start is None else cue.start
    return starts[::-1]


def _placed(cue: Cue, start: float) -> tuple[_Placed, list[str]]:
    end = cue.end
    reasons = []
    if start < 0:
        reasons.append(NEGATIVE)
        start, end = 0.0, None if end is None else max(end, 0.0)
    if end is not None and (end < start or end > LATEST):
        reasons.append(REVERSED)
        end = None
    return _Placed(cue, start, end), reasons


def _caption(placed: _Placed, following: float | None) -> Caption:
    start, end, cue = placed.start, placed.end, placed.cue
    if end is None:
        end = start + likely_duration(cue.text)
        if following is not None and following > start:
            end = min(end, following)
    words = _words(cue.pieces, start, end) if cue.pieces else ()
    return Caption(start, end, printable(cue.text), words)


def printable(text: str) -> str:
    """Text without control characters and without what cannot be encoded."""
    if text.isascii() and text.isprintable():
        return text
    return _SURROGATE.sub("\ufffd", _CONTROL.sub(" ", text))


def _words(pieces: Sequence[Piece], start: float, end: float) -> tuple[Word, ...]:
    """Words of a cue from its timed pieces; a word without a time gets a share of the time."""
    written = _whole_words(pieces)
    anchors = [i for i, word in enumerate(written) if i == 0 or word.start is not None]
    words: list[Word] = []
    now = start
    for first, stop in zip(anchors, [*anchors[1:], len(written)], strict=True):
        now = _between(now, written[first].start, end)
        until = _between(now, written[stop].start, end) if stop < len(written) else end
        if (own_end := written[first].end) is not None:
            own_end = _between(now, own_end, until)
            words.append(Word(printable(written[first].text), now, own_end))
            first, now = first + 1, own_end  # noqa: PLW2901 - the first of the run is done
        texts = [printable(word.text) for word in written[first:stop]]
        words += spread_words(texts, now, until)
    return tuple(words)


def _whole_words(pieces: Iterable[Piece]) -> list[Piece]:
    """Split pieces at white space, and join the parts of a word that spans several pieces."""
    words: list[Piece] = []
    open_word = False
    for piece in pieces:
        parts = piece.text.split()
        for place, text in enumerate(parts):
            start = piece.start if place == 0 else None
            end = piece.end if len(parts) == 1 else None
            if place == 0 and open_word and not piece.text[0].isspace():
                words[-1] = replace(words[-1], text=words[-1].text + text, end=end)
            else:
                words.append(Piece(text, start, end))
        if piece.text:
            open_word = not piece.text[-1].isspace()
    return words


def _between(low: float, value: float | None, high: float) -> float:
    return low if value is None else min(max(low, value), high)
