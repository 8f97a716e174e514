"""Captions in JSON: YouTube's json3, Whisper and its relatives, and plain rows.

Whisper's words contain their own spaces (``" take"``, ``"-off"``); WhisperX's have none, and
numbers among them have no times. A plain row is ``[start, end, text]`` or an object with ``start``,
``end`` or ``duration``, and ``text``; or one object has a list for each of the three columns.
"""

from collections.abc import Sequence
from typing import Any

from howsteps.captions.cues import Cue, ParsedCues, Piece, lost, plus, seconds, youtube_cue

_MS = 1000
STARTS = ("start", "start_time", "startTime", "begin", "from", "offset", "onset")
ENDS = ("end", "end_time", "endTime", "to", "stop", "offset_end")
DURATIONS = ("duration", "dur")
TEXTS = ("text", "caption", "transcript", "sentence", "utterance", "word", "line", "content")


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
        yield youtube_cue(start, duration, parts, _MS, entry)


def is_whisper(value: Any) -> bool:
    """Look for an object with ``segments``, or a bare list of segments that have words."""
    if isinstance(value, dict):
        return isinstance(value.get("segments"), list)
    return isinstance(value, list) and any(
        isinstance(entry, dict) and isinstance(entry.get("words"), list) for entry in value
    )


def parse_whisper(value: Any) -> ParsedCues:
    """Yield one cue for each segment."""
    segments = value["segments"] if isinstance(value, dict) else value
    for entry, segment in enumerate(segments, 1):
        if not isinstance(segment, dict):
            yield lost("is not a segment; left out", entry)
            continue
        start, end = seconds(segment.get("start")), seconds(segment.get("end"))
        pieces = _pieces(segment.get("words"))
        text = "".join(piece.text for piece in pieces) or str(segment.get("text") or "")
        yield Cue(start, end, text, pieces, entry)


def _pieces(words: Any) -> tuple[Piece, ...]:
    if not isinstance(words, list):
        return ()
    written = [
        (str(word.get("word") or word.get("text") or ""), word)
        for word in words
        if isinstance(word, dict)
    ]
    have_spaces = any(text[:1].isspace() for text, _ in written)
    return tuple(
        Piece(
            text if have_spaces else f" {text}",
            seconds(word.get("start")),
            seconds(word.get("end")),
        )
        for text, word in written
    )


def is_json_rows(value: Any) -> bool:
    """Look for a list with at least one timed row."""
    return isinstance(value, list) and any(row_cue(entry, 0) is not None for entry in value)


def parse_json_rows(value: Any) -> ParsedCues:
    """Yield one cue for each entry."""
    for number, entry in enumerate(value, 1):
        yield row_cue(entry, number) or lost("is not a timed row; left out", number)


def is_json_columns(value: Any) -> bool:
    """Look for an object whose starts, ends and texts are lists of the same length."""
    if not isinstance(value, dict):
        return False
    columns = [value.get(key) for key in ("start", "end", "text")]
    lengths = {len(column) if isinstance(column, list) else None for column in columns}
    return len(lengths) == 1 and None not in lengths


def parse_json_columns(value: Any) -> ParsedCues:
    """Yield one cue for each position in the lists."""
    return parse_json_rows(zip(value["start"], value["end"], value["text"], strict=True))


def _field(entry: dict[str, Any], names: Sequence[str]) -> Any:
    """Return the value of the first of ``names`` that ``entry`` has."""
    return next((entry[name] for name in names if name in entry), None)


def row_cue(entry: Any, number: int) -> Cue | None:
    """The cue of a row; None if it has no text or start."""
    if isinstance(entry, list | tuple) and len(entry) >= 3 and isinstance(entry[2], str):
        start, end, text = entry[:3]
        return Cue(seconds(start), seconds(end), text, position=number)
    if not isinstance(entry, dict):
        return None
    text = _field(entry, TEXTS)
    if not isinstance(text, str) or not any(name in entry for name in STARTS):
        return None
    start = seconds(_field(entry, STARTS))
    end = seconds(_field(entry, ENDS))
    if end is None:
        end = plus(start, seconds(_field(entry, DURATIONS)))
    return Cue(start, end, text, position=number)
