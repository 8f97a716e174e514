"""XML captions: YouTube's srv, and TTML with its relatives DFXP and EBU-TT."""

import re
from collections.abc import Iterator
from typing import cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

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

_LINES = frozenset({"p", "text"})
_OFFSET = re.compile(r"(-?[0-9]{1,12}(?:\.[0-9]{1,9})?)(h|ms|m|s)")
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}  # seconds


def parse_xml(text: str) -> tuple[str, ParsedCues]:
    """Return the format of an XML file and its cues, one for each line element."""
    if "<!DOCTYPE" in text:  # which could define entities that expand without end
        raise unreadable("XML with a document type is not read")
    events = _events(text)
    try:
        _, root = next(events)
    except ParseError as error:
        raise unreadable(_broken(error)) from None
    match _name(root):
        case "timedtext" | "transcript":
            return "YouTube srv", _cues(events, is_ttml=False)
        case "tt":
            return "TTML", _cues(events, is_ttml=True)
    raise unreadable(f"is XML (<{_name(root)}>), but not captions")


def _events(text: str) -> Iterator[tuple[str, Element]]:
    """Yield the start and the end of every element up to the first syntax error."""
    parser: XMLPullParser[Element] = XMLPullParser(("start", "end"))
    parser.feed(text)
    yield from cast("Iterator[tuple[str, Element]]", parser.read_events())
    parser.close()


def _broken(error: ParseError) -> str:
    reason, line = str(error).partition(":")[0], error.position[0]
    return f"the XML is broken in line {line} ({reason})"


def _name(element: Element) -> str:
    """The name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def _cues(events: Iterator[tuple[str, Element]], *, is_ttml: bool) -> ParsedCues:
    entry = 0
    try:
        for event, element in events:
            name = _name(element)
            if event == "end" and name == "br":
                element.text = "\n"
            elif event == "end" and name in _LINES:
                entry += 1
                yield _ttml_cue(element, entry) if is_ttml else _srv_cue(element, entry)
                element.clear()  # a line inside another is read once
    except ParseError as error:
        yield lost(f"{_broken(error)}; what follows is lost")


def _srv_cue(line: Element, entry: int) -> Cue:
    """The cue of a ``<p>`` (srv3) or ``<text>`` (srv1 in seconds, srv2 in milliseconds)."""
    in_ms = "t" in line.attrib
    unit, start_key, duration_key = (1000, "t", "d") if in_ms else (1, "start", "dur")
    parts: list[tuple[str, float | None]] = [(line.text or "", None)]
    for child in line:
        parts.append(("".join(child.itertext()), seconds(child.get("t", 0))))
        parts.append((child.tail or "", None))
    start, duration = seconds(line.get(start_key)), seconds(line.get(duration_key))
    return youtube_cue(start, duration, parts, unit, entry)


def _ttml_cue(paragraph: Element, entry: int) -> Cue:
    start, end = _ttml_time(paragraph, "begin"), _ttml_time(paragraph, "end")
    if end is None:
        end = plus(start, _ttml_time(paragraph, "dur"))
    return Cue(start, end, "".join(paragraph.itertext()), position=entry)


def _ttml_time(element: Element, name: str) -> float | None:
    """A time such as ``12.5s`` or ``00:01:02.480`` in seconds."""
    written = element.get(name, "").strip()
    if offset := _OFFSET.fullmatch(written):
        return seconds(float(offset[1]) * _UNITS[offset[2]])
    return seconds(written) if CLOCK.fullmatch(written) else None
