"""YouTube's own formats: json3, and the XML called srv3 with its predecessors srv1 and srv2."""

from typing import Any

from howsteps.captions.cues import Cue, ParsedCues, Piece, lost, plus, scaled, seconds
from howsteps.captions.xml import Document, Element

_MS = 1000
_LINES = frozenset({"p", "text"})  # elements of srv


def is_json3(value: Any) -> bool:
    """Look for an object with ``events``, some of which have ``segs``."""
    return isinstance(value, dict) and isinstance(value.get("events"), list)


def parse_json3(value: Any) -> ParsedCues:
    """Yield one cue for each event that has segments; other events only position windows."""
    for entry, event in enumerate(value["events"], 1):
        if not isinstance(event, dict):
            yield lost("is not an event; left out", entry)
            continue
        segments = event.get("segs")
        if not isinstance(segments, list):
            continue
        parts = [
            (str(segment.get("utf8") or ""), seconds(segment.get("tOffsetMs", 0)))
            for segment in segments
            if isinstance(segment, dict)
        ]
        start, duration = seconds(event.get("tStartMs")), seconds(event.get("dDurationMs"))
        yield _cue(start, duration, parts, _MS, entry)


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
    unit, start_key, duration_key = (_MS, "t", "d") if "t" in given else (1, "start", "dur")
    parts = [
        (child, None)
        if isinstance(child, str)
        else (child.text(without=_LINES), seconds(child.attributes.get("t", 0)))
        for child in element.children
        if isinstance(child, str) or child.name not in _LINES
    ]
    start, duration = seconds(given.get(start_key)), seconds(given.get(duration_key))
    return _cue(start, duration, parts, unit, element.line)


def _cue(
    start: float | None,
    duration: float | None,
    parts: list[tuple[str, float | None]],
    unit: int,
    position: int,
) -> Cue:
    """Return a cue; times are in units of 1/``unit`` seconds, offsets relative to ``start``."""
    begin, end = scaled(start, unit), scaled(plus(start, duration), unit)
    text = "".join(part for part, _ in parts)
    pieces = tuple(Piece(part, scaled(plus(start, offset), unit)) for part, offset in parts)
    # A single part has the time of the line.
    timed = sum(bool(part.strip()) for part, _ in parts) > 1
    return Cue(begin, end, text, pieces if timed else (), position)
