"""XML captions: a safe parser, YouTube's srv, and TTML with its relatives DFXP and EBU-TT."""

import re
from typing import NamedTuple
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from howsteps.captions.cues import (
    CLOCK,
    Cue,
    ParsedCues,
    lost,
    plus,
    seconds,
    unreadable,
    youtube_cue,
)
from howsteps.errors import Problem

_DEEPEST = 100
_LINE = "line in the file"  # an attribute of every element; no name in XML has spaces


class Document(NamedTuple):
    """The elements up to the end of a file or to a syntax error, which is its ``problem``."""

    root: Element
    problem: Problem | None = None


def parse_xml(text: str) -> Document:
    """Parse an XML file; names have no prefix, and ``<br/>`` is a line break.

    Refused: no element before a syntax error, a document type, nesting too deep to be captions.
    """
    builder, parser = TreeBuilder(), expat.ParserCreate("utf-8")
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise unreadable("the XML is nested too deeply", parser.CurrentLineNumber)
        named = {_local(key): value for key, value in attributes.items()}
        builder.start(_local(name), {**named, _LINE: str(parser.CurrentLineNumber)})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        if _local(name) == "br":
            builder.data("\n")
        builder.end(_local(name))

    def refuse(*_: object) -> None:
        raise unreadable("XML with a document type is not read", parser.CurrentLineNumber)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = builder.data, refuse
    try:
        parser.Parse(text.encode("utf-8"), True)
    except expat.ExpatError as error:
        reason = f"the XML is broken here ({expat.ErrorString(error.code)})"
        for _ in range(depth):
            builder.end("")  # also adds the text before the error
        if (root := builder.close()) is None:
            raise unreadable(reason, error.lineno) from None
        return Document(root, lost(f"{reason}; what follows is lost", error.lineno))
    return Document(builder.close())


def _local(name: str) -> str:
    return name.rpartition(":")[2]


_LINES = frozenset({"p", "text"})  # elements of srv


def parse_srv(document: Document) -> ParsedCues:
    """Yield one cue for each ``<p>`` (srv3) or ``<text>`` (srv1 in seconds, srv2 in ms)."""
    for element in document.root.iter():
        if element.tag in _LINES:
            yield _srv_cue(element)
    if document.problem is not None:
        yield document.problem


def _srv_cue(element: Element) -> Cue:
    in_ms = "t" in element.attrib
    unit, start_key, duration_key = (1000, "t", "d") if in_ms else (1, "start", "dur")
    parts: list[tuple[str, float | None]] = [(element.text or "", None)]
    for child in element:
        if child.tag not in _LINES:  # which is inside only if the end tag is missing
            parts.append(("".join(child.itertext()), seconds(child.get("t", 0))))
        parts.append((child.tail or "", None))
    start, duration = seconds(element.get(start_key)), seconds(element.get(duration_key))
    return youtube_cue(start, duration, parts, unit, int(element.attrib[_LINE]))


_OFFSET = re.compile(r"(-?[0-9]{1,12}(?:\.[0-9]{1,9})?)(h|ms|m|s|f|t)")
_FRAMES = re.compile(r"([0-9]{1,4}:[0-9]{1,2}:[0-9]{1,2}):([0-9]{1,3})(?:\.[0-9]+)?")


def parse_ttml(document: Document) -> ParsedCues:
    """Yield one cue for each paragraph."""
    frames = seconds(document.root.get("frameRate")) or 30.0
    ticks = seconds(document.root.get("tickRate")) or frames
    units = {"h": 3600, "m": 60, "s": 1, "ms": 0.001, "f": 1 / frames, "t": 1 / ticks}

    def time(element: Element, name: str) -> float | None:
        """A time such as ``12.5s``, ``300f`` or ``00:01:02:12`` in seconds."""
        written = element.get(name, "").strip()
        if offset := _OFFSET.fullmatch(written):
            return seconds(float(offset[1]) * units[offset[2]])
        if clock := _FRAMES.fullmatch(written):
            return plus(seconds(clock[1]), int(clock[2]) / frames)
        return seconds(written) if CLOCK.fullmatch(written) else None

    for element in document.root.iter("p"):
        start, end = time(element, "begin"), time(element, "end")
        if end is None:
            end = plus(start, time(element, "dur"))
        yield Cue(start, end, "".join(element.itertext()), position=int(element.attrib[_LINE]))
    if document.problem is not None:
        yield document.problem
