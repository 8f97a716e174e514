"""SubRip (``.srt``): numbered cues with ``00:00:01,000 --> 00:00:02,000``."""

import re

from howsteps.captions import arrows
from howsteps.captions.cue import Cue, Flaw, Parsed
from howsteps.captions.encoding import lines

# What is left of a timing line that cannot be read.
_BROKEN_TIMES = re.compile(r"-->|^\W*[0-9]+[:.,][0-9]")


def recognises(text: str) -> bool:
    """Look for a timing line; WebVTT without its heading is read just as well."""
    return any(map(arrows.is_timing, lines(text)))


def parse(text: str) -> Parsed:
    """Yield the cues; text after a blank line still belongs to the cue above it."""
    opening, cues = arrows.cues(lines(text), any_label=False)
    for block in opening:
        yield _broken_cue(block) or Flaw("text before the first times was left out", block.line)
    for cue in cues:
        spoken = list(cue.text)
        broken = []
        for block in cue.strays:
            if lost := _broken_cue(block):
                broken.append(lost)
            else:
                spoken += block.lines
        yield Cue(cue.start, cue.end, "\n".join(spoken), line=cue.line)
        yield from broken


def _broken_cue(block: arrows.Block) -> Cue | None:
    """Make a cue of a number and times that cannot be read: its words are still good."""
    number, *rest = block.lines
    if not number.strip().isdecimal() or not rest or not _BROKEN_TIMES.search(rest[0]):
        return None
    return Cue(None, None, "\n".join(rest[1:]), line=block.line + 1)
