"""WebVTT (``.vtt``), with the word times that YouTube writes into it.

YouTube's cues show the line before and, under it, the new line with a time before each word but
the first: ``take<00:00:01.200><c> off</c><00:00:01.500><c> the</c>``.
"""

import re

from howsteps.captions import arrows
from howsteps.captions.cue import CLOCK, Cue, Flaw, Parsed, Piece, clock_seconds
from howsteps.captions.encoding import lines

_WORD_TIME = re.compile(r"<(" + re.sub(r"\?P<\w+>", "?:", CLOCK.pattern) + r")>")
_CLASS = re.compile(r"</?c[^<>]*>")
_NOT_SPEECH = ("NOTE", "STYLE", "REGION")


def recognises(text: str) -> bool:
    """Look for the heading, which may be followed by a title."""
    return re.match(r"\s*WEBVTT(?:\s|$)", text) is not None


def parse(text: str) -> Parsed:
    """Yield the cues without the heading, notes, styles and regions."""
    opening, cues = arrows.cues(lines(text), any_label=True)
    # The first block is the heading with its "Kind: captions" and "Language: en".
    yield from _strays(opening[1:])
    for cue in cues:
        yield _cue(cue)
        yield from _strays(cue.strays)


def _strays(blocks: list[arrows.Block]) -> Parsed:
    for block in blocks:
        if not block.lines[0].startswith(_NOT_SPEECH):
            yield Flaw("text without times was left out", block.line)


def _cue(cue: arrows.Anchored) -> Cue:
    written = _CLASS.sub("", "\n".join(cue.text))
    first, *timed = _WORD_TIME.split(written)
    if not timed:
        return Cue(cue.start, cue.end, written, line=cue.line)
    # Lines above the first timed one are shown again, not said again: they have no word times.
    pieces = [Piece(first.rpartition("\n")[2], cue.start)]
    for clock, words in zip(timed[::2], timed[1::2], strict=True):
        match = CLOCK.fullmatch(clock)
        pieces.append(Piece(words, match and clock_seconds(match)))
    return Cue(cue.start, cue.end, first + "".join(timed[1::2]), tuple(pieces), cue.line)
