"""JSON of Whisper and related programs: OpenAI's, WhisperX, faster-whisper, whisper.cpp.

Whisper's words contain their own spaces (``" take"``, ``"-off"``); WhisperX's have none, and
numbers among them have no times.
"""

from typing import Any

from howsteps.captions.cues import Cue, ParsedCues, Piece, lost, scaled, seconds


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


def is_whisper_cpp(value: Any) -> bool:
    """Look for an object with a list ``transcription``."""
    return isinstance(value, dict) and isinstance(value.get("transcription"), list)


def parse_whisper_cpp(value: Any) -> ParsedCues:
    """Yield one cue for each segment of whisper.cpp, whose offsets are in milliseconds."""
    for entry, segment in enumerate(value["transcription"], 1):
        offsets = segment.get("offsets") if isinstance(segment, dict) else None
        if not isinstance(offsets, dict):
            yield lost("is not a segment; left out", entry)
            continue
        start, end = (scaled(seconds(offsets.get(key)), 1000) for key in ("from", "to"))
        yield Cue(start, end, str(segment.get("text") or ""), position=entry)


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
