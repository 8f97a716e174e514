"""TTML and its relatives DFXP and EBU-TT: ``<p begin="…" end="…">`` with spans and line breaks."""

import re
from dataclasses import dataclass

from howsteps.captions.cue import Cue, Issue, ParsedCues, Piece
from howsteps.captions.timing import CLOCK, plus, seconds
from howsteps.captions.xml import Element, parse_xml, root_of

_OFFSET = re.compile(r"(-?[0-9]{1,12}(?:\.[0-9]{1,9})?)(h|ms|m|s|f|t)")
_FRAMES = re.compile(r"([0-9]{1,4}:[0-9]{1,2}:[0-9]{1,2}):([0-9]{1,3})(?:\.[0-9]+)?")
_PARAGRAPH = frozenset({"p"})
_SPACES = re.compile(r"[ \t\n]+")


def is_ttml(root: Element) -> bool:
    """Check that the root element is ``<tt>``."""
    return root.name == "tt"


def parse_ttml(text: str) -> ParsedCues:
    """Yield one cue for each paragraph, at its time within its division and body."""
    clock = _Clock.of(root_of(text))
    offsets = [0.0]  # of the elements around the current one
    for element in parse_xml(text, _PARAGRAPH):
        if isinstance(element, Issue):
            yield element
            continue
        del offsets[element.depth + 1 :]
        if element.name in _PARAGRAPH:
            yield _paragraph(element, clock, offsets[-1])
        else:
            begin = clock.seconds(element.attributes.get("begin"))
            offsets.append(offsets[-1] + (begin or 0.0))


@dataclass(frozen=True, slots=True)
class _Clock:
    """The units that the root element declares for frames and ticks."""

    frame_rate: float
    tick_rate: float

    @classmethod
    def of(cls, root: Element) -> "_Clock":
        frames = seconds(root.attributes.get("frameRate")) or 30.0
        # "1000 1001" or "999 1000": numerator and denominator.
        parts = [seconds(part) for part in root.attributes.get("frameRateMultiplier", "").split()]
        if len(parts) == 2 and parts[0] and parts[1]:
            frames *= parts[0] / parts[1]
        ticks = seconds(root.attributes.get("tickRate"))
        return cls(frames, ticks or frames)

    def seconds(self, written: str | None) -> float | None:
        """Convert a time expression such as ``12.5s``, ``300f`` or ``00:01:02:12`` to seconds."""
        if written is None:
            return None
        written = written.strip()
        if offset := _OFFSET.fullmatch(written):
            units = {"h": 3600, "m": 60, "s": 1, "ms": 0.001}
            rates = {"f": 1 / self.frame_rate, "t": 1 / self.tick_rate}
            return seconds(float(offset[1]) * (units | rates)[offset[2]])
        if frames := _FRAMES.fullmatch(written):
            return plus(seconds(frames[1]), int(frames[2]) / self.frame_rate)
        return seconds(written) if CLOCK.fullmatch(written) else None


def _paragraph(element: Element, clock: _Clock, offset: float) -> Cue:
    start, end = _span(element, clock, offset)
    spans = [
        child
        for child in element.children
        if isinstance(child, Element) and "begin" in child.attributes
    ]
    if start is None and spans:
        # Only its spans have times.
        start, end = _span(spans[0], clock, offset)[0], _span(spans[-1], clock, offset)[1]
        inner = offset
    else:
        inner = _origin(spans, clock, start, end, offset)
    parts = [
        Piece(_collapsed(child), None)
        if isinstance(child, str)
        else Piece(_collapsed_text(child), *_span(child, clock, inner))
        for child in element.children
    ]
    text = "".join(part.text for part in parts)
    return Cue(start, end, text, tuple(parts) if spans else (), element.line)


def _origin(
    spans: list[Element],
    clock: _Clock,
    start: float | None,
    end: float | None,
    offset: float,
) -> float:
    """Return what the times of spans are relative to: their paragraph or, in many files, zero."""
    if not spans or start is None:
        return offset
    latest = clock.seconds(spans[-1].attributes["begin"]) or 0.0
    return offset if end is not None and start + latest > end + 1e-6 else start


def _span(element: Element, clock: _Clock, offset: float) -> tuple[float | None, float | None]:
    begin = plus(offset, clock.seconds(element.attributes.get("begin")))
    end = plus(offset, clock.seconds(element.attributes.get("end")))
    if end is None:
        end = plus(begin, clock.seconds(element.attributes.get("dur")))
    return begin, end


def _collapsed(text: str) -> str:
    """Collapse white space; only ``<br/>`` breaks a line."""
    return _SPACES.sub(" ", text)


def _collapsed_text(element: Element) -> str:
    if element.name == "br":
        return "\n"
    return "".join(
        _collapsed(c) if isinstance(c, str) else _collapsed_text(c) for c in element.children
    )
