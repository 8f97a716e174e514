"""XML captions: a safe parser, YouTube's srv, and TTML with its relatives DFXP and EBU-TT."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.parsers import expat

from howsteps.captions.cues import (
    CLOCK,
    Cue,
    ParsedCues,
    Piece,
    lost,
    plus,
    seconds,
    unreadable,
    youtube_cue,
)
from howsteps.errors import Problem

_DEEPEST = 100
# Attributes that caption formats use; all others are dropped.
_ATTRIBUTES = frozenset(
    ("t", "d", "start", "dur", "begin", "end", "frameRate", "frameRateMultiplier", "tickRate")
)


@dataclass(slots=True)
class Element:
    """An element with local names; ``children`` are elements and text in order."""

    name: str
    attributes: dict[str, str]
    line: int
    children: list["Element | str"] = field(default_factory=list)

    def descendants(self) -> Iterator["Element"]:
        """Yield the element itself and all its descendants, in document order."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.descendants()

    def text(self, without: frozenset[str]) -> str:
        """Return all text inside the element, but not that of elements of the given names."""
        return "".join(
            c if isinstance(c, str) else c.text(without) if c.name not in without else ""
            for c in self.children
        )


class Document(NamedTuple):
    """The elements up to the end of a file or to a syntax error, which is its ``problem``."""

    root: Element
    problem: Problem | None = None


def parse_xml(text: str) -> Document:
    """Parse an XML file.

    Refused: no element before a syntax error, a document type, nesting too deep to be captions.
    """
    builder = _Builder()
    try:
        builder.parser.Parse(text.encode("utf-8"), True)
    except expat.ExpatError as error:
        reason = f"the XML is broken here ({expat.ErrorString(error.code)})"
        if not builder.elements:
            raise unreadable(reason, error.lineno) from None
        builder.flush_text()
        problem = lost(f"{reason}; what follows is lost", error.lineno)
        return Document(builder.elements[0], problem)
    return Document(builder.elements[0])


class _Builder:
    """Builds the tree of :func:`parse_xml`."""

    def __init__(self) -> None:
        self.elements: list[Element] = []  # the root
        self._open: list[Element] = []
        self._text: list[str] = []
        self.parser = parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = self._refuse

    def flush_text(self) -> None:
        """Add the text since the last tag to the innermost element."""
        # Text comes in parts; with expat's own buffer it would be lost at a syntax error.
        if self._open and self._text:
            self._open[-1].children.append("".join(self._text))
        self._text.clear()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.flush_text()
        line = self.parser.CurrentLineNumber
        if len(self._open) >= _DEEPEST:
            raise unreadable("the XML is nested too deeply", line)
        named = {_local(key): value for key, value in attributes.items()}
        used = {key: value for key, value in named.items() if key in _ATTRIBUTES}
        element = Element(_local(name), used, line)
        (self._open[-1].children if self._open else self.elements).append(element)
        self._open.append(element)

    def _end(self, _: str) -> None:
        self.flush_text()
        self._open.pop()

    def _refuse(self, *_: object) -> None:
        raise unreadable("XML with a document type is not read", self.parser.CurrentLineNumber)


def _local(name: str) -> str:
    return name.rpartition(":")[2]


_LINES = frozenset({"p", "text"})  # elements of srv


def parse_srv(document: Document) -> ParsedCues:
    """Yield one cue for each ``<p>`` (srv3) or ``<text>`` (srv1 in seconds, srv2 in ms).

    A line is inside another one if the end tag of that is missing.
    """
    for element in document.root.descendants():
        if element.name in _LINES:
            yield _srv_cue(element)
    if document.problem is not None:
        yield document.problem


def _srv_cue(element: Element) -> Cue:
    given = element.attributes
    unit, start_key, duration_key = (1000, "t", "d") if "t" in given else (1, "start", "dur")
    parts = [
        (child, None)
        if isinstance(child, str)
        else (child.text(without=_LINES), seconds(child.attributes.get("t", 0)))
        for child in element.children
        if isinstance(child, str) or child.name not in _LINES
    ]
    start, duration = seconds(given.get(start_key)), seconds(given.get(duration_key))
    return youtube_cue(start, duration, parts, unit, element.line)


_OFFSET = re.compile(r"(-?[0-9]{1,12}(?:\.[0-9]{1,9})?)(h|ms|m|s|f|t)")
_FRAMES = re.compile(r"([0-9]{1,4}:[0-9]{1,2}:[0-9]{1,2}):([0-9]{1,3})(?:\.[0-9]+)?")
_SPACES = re.compile(r"[ \t\n]+")


def parse_ttml(document: Document) -> ParsedCues:
    """Yield one cue for each paragraph, at its time within its division and body."""
    yield from _paragraphs(document.root, _Clock.of(document.root), 0.0)
    if document.problem is not None:
        yield document.problem


def _paragraphs(element: Element, clock: "_Clock", offset: float) -> Iterator[Cue]:
    offset += clock.seconds(element.attributes.get("begin")) or 0.0
    for child in element.children:
        if isinstance(child, str):
            continue
        if child.name == "p":
            yield _paragraph(child, clock, offset)
        else:
            yield from _paragraphs(child, clock, offset)


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
        Piece(_collapsed(c), *(() if isinstance(c, str) else _span(c, clock, inner)))
        for c in element.children
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


def _collapsed(content: Element | str) -> str:
    """Return the text with white space collapsed; only ``<br/>`` breaks a line."""
    if isinstance(content, str):
        return _SPACES.sub(" ", content)
    return "\n" if content.name == "br" else "".join(map(_collapsed, content.children))
