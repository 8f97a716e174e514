"""SubRip (``.srt``) and WebVTT (``.vtt``): cues that begin with a line ``start --> end``.

The file is split at the timing lines. Everything between two of them is the text of the first or
the label of the second, so missing or extra blank lines and labels do no harm.

WebVTT from YouTube may contain word times. Its cues show the previous line and, below it, the new
line with a time before every word but the first:
``take<00:00:01.200><c> off</c><00:00:01.500><c> the</c>``.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from howsteps.captions.cues import CLOCK, Cue, ParsedCues, Piece, clock_seconds

_ARROW = re.compile(r"(?:-{1,3}|[–—])>")

_WORD_TIME = re.compile(r"<(" + re.sub(r"\?P<\w+>", "?:", CLOCK.pattern) + r")>")
_CLASS = re.compile(r"</?c[^<>]*>")


def is_subrip(text: str) -> bool:
    """Look for a timing line; WebVTT without its header qualifies too."""
    return any(_times(line) is not None for line in text.split("\n"))


def parse_subrip(text: str) -> ParsedCues:
    """Yield the cues; text after a blank line still belongs to the cue above it."""
    for cue, rest in _split(text, any_label=False):
        more = (line for line in rest if line.strip())
        yield replace(cue, text="\n".join([cue.text, *more]))


def is_webvtt(text: str) -> bool:
    """Look for the header, which a title may follow."""
    return re.match(r"\s*WEBVTT(?:\s|$)", text) is not None


def parse_webvtt(text: str) -> ParsedCues:
    """Yield the cues without the header, notes, styles and regions."""
    for cue, _ in _split(text, any_label=True):
        yield _with_word_times(cue)


def _with_word_times(cue: Cue) -> Cue:
    first, *timed = _WORD_TIME.split(_CLASS.sub("", cue.text))
    if not timed:
        return replace(cue, text=first)
    # Lines above the first timed one are repeated on the screen: they have no word times.
    pieces = [Piece(first.rpartition("\n")[2], cue.start)]
    for clock, words in zip(timed[::2], timed[1::2], strict=True):
        match = CLOCK.fullmatch(clock)
        pieces.append(Piece(words, match and clock_seconds(match)))
    return replace(cue, text=first + "".join(timed[1::2]), pieces=tuple(pieces))


def _split(text: str, any_label: bool) -> Iterator[tuple[Cue, list[str]]]:
    """Yield the cue of every timing line, and the lines after the blank one that ends its text.

    A label is the line right above a timing line. It is a number, or any text if ``any_label``.
    """
    lines = text.split("\n")
    times = [(index, found) for index, line in enumerate(lines) if (found := _times(line))]
    stops = [*(index for index, _ in times), len(lines)]
    for (index, (start, end)), stop in zip(times, stops[1:], strict=True):
        region = lines[index + 1 : stop]
        if stop < len(lines):
            region = _without_label(region, any_label)
        # A line of white space is text (YouTube's empty upper line); only an empty one is a break.
        text_end = region.index("", 1) if "" in region[1:] else len(region)
        cue = Cue(start, end, "\n".join(region[:text_end]), position=index + 1)
        yield cue, region[text_end:]


def _without_label(region: list[str], any_label: bool) -> list[str]:
    """Remove the label of the next cue from the end of ``region``, if there is one."""
    end = len(region)
    while end and not region[end - 1].strip():
        end -= 1
    if end < 2:  # the line right under a timing line is text
        return region
    is_above, after_blank = end == len(region), not region[end - 2].strip()
    if region[end - 1].strip().isdecimal():  # there may be no blank line above it, or one below
        is_label = is_above or after_blank
    else:
        is_label = any_label and is_above and after_blank
    return region[: end - 1] if is_label else region


def _times(line: str) -> tuple[float | None, float | None] | None:
    """Return start and end of a timing line, one of which may be invalid; None for other lines."""
    if ">" not in line:
        return None
    parts = _ARROW.split(line, maxsplit=1)
    if len(parts) != 2:
        return None
    left, right = CLOCK.fullmatch(parts[0].strip()), CLOCK.match(parts[1].lstrip())
    if left is None and right is None:
        return None
    return left and clock_seconds(left), right and clock_seconds(right)
