"""Captions in JSON: YouTube's json3, Whisper and its relatives, and plain rows.

Whisper's words contain their own spaces (``" take"``, ``"-off"``); WhisperX's have none, and
numbers among them have no times. A plain row is ``[start, end, text]`` or an object with ``start``,
``end`` or ``duration``, and ``text``.
"""

import json
from typing import Any

from howsteps.captions.cues import (
    Cue,
    ParsedCues,
    Piece,
    lost,
    plus,
    seconds,
    unreadable,
    youtube_cue,
)

_MS = 1000


def load_json(text: str) -> Any:
    """Parse JSON; raise an ``InputError`` with the line where it is broken."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise unreadable(f"the JSON is broken here ({error.msg})", error.lineno) from None
    except (RecursionError, ValueError):  # Python refuses numbers of more than 4,300 digits
        raise unreadable("the JSON is nested too deeply, or has an endless number") from None


def parse_json(text: str) -> tuple[str, ParsedCues]:
    """Return the format of a JSON file and its cues."""
    value = load_json(text)
    if isinstance(value, dict) and isinstance(value.get("events"), list):
        return "YouTube json3", _json3(value["events"])
    if isinstance(value, dict) and isinstance(value.get("segments"), list):
        return "Whisper JSON", _whisper(value["segments"])
    if isinstance(value, list) and any(_has_words(entry) for entry in value):
        return "Whisper JSON", _whisper(value)
    if isinstance(value, list) and any(row_cue(entry, 0) for entry in value):
        return "timed JSON list", parse_json_rows(value)
    raise unreadable("is JSON, but not captions")


def _json3(events: list[Any]) -> ParsedCues:
    """Yield one cue for each event that has segments; other events only position windows."""
    for entry, event in enumerate(events, 1):
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


def _has_words(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("words"), list)


def _whisper(segments: list[Any]) -> ParsedCues:
    """Yield one cue for each segment."""
    for entry, segment in enumerate(segments, 1):
        if not isinstance(segment, dict):
            yield lost("is not a segment; left out", entry)
            continue
        start, end = seconds(segment.get("start")), seconds(segment.get("end"))
        pieces = _pieces(segment["words"]) if _has_words(segment) else ()
        text = "".join(piece.text for piece in pieces) or str(segment.get("text") or "")
        yield Cue(start, end, text, pieces, entry)


def _pieces(words: list[Any]) -> tuple[Piece, ...]:
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


def parse_json_rows(rows: list[Any]) -> ParsedCues:
    """Yield one cue for each row."""
    for number, row in enumerate(rows, 1):
        yield row_cue(row, number) or lost("is not a timed row; left out", number)


def row_cue(row: Any, number: int) -> Cue | None:
    """The cue of a row; None if it has no text or start."""
    if isinstance(row, list) and len(row) >= 3:
        row = dict(zip(("start", "end", "text"), row, strict=False))
    if not (isinstance(row, dict) and isinstance(row.get("text"), str) and "start" in row):
        return None
    start, end = seconds(row["start"]), seconds(row.get("end"))
    if end is None:
        end = plus(start, seconds(row.get("duration")))
    return Cue(start, end, row["text"], position=number)
