"""Plain JSON lists of timed lines, as data sets and small tools write them.

A line is ``[start, end, text]`` or an object with ``start``, ``end`` or ``duration``, and ``text``;
or one object holds a list for each of the three.
"""

from collections.abc import Sequence
from typing import Any

from howsteps.captions.cue import Cue, Flaw, Parsed, plus, seconds

STARTS = ("start", "start_time", "startTime", "begin", "from", "offset", "onset")
ENDS = ("end", "end_time", "endTime", "to", "stop", "offset_end")
DURATIONS = ("duration", "dur")
TEXTS = ("text", "caption", "transcript", "sentence", "utterance", "word", "line", "content")


def recognises(value: Any) -> bool:
    """Look for a list of which at least one entry is a timed line."""
    return isinstance(value, list) and any(_cue(entry, 0) is not None for entry in value)


def parse(value: Any) -> Parsed:
    """Yield one cue for each entry."""
    for number, entry in enumerate(value, 1):
        yield _cue(entry, number) or Flaw("is not a timed line; left out", entry=number)


def recognises_columns(value: Any) -> bool:
    """Look for an object whose starts, ends and texts are lists of the same length."""
    if not isinstance(value, dict):
        return False
    columns = [value.get(key) for key in ("start", "end", "text")]
    lengths = {len(column) if isinstance(column, list) else None for column in columns}
    return len(lengths) == 1 and None not in lengths


def parse_columns(value: Any) -> Parsed:
    """Yield one cue for each place in the lists."""
    return parse(list(zip(value["start"], value["end"], value["text"], strict=True)))


def field(entry: dict[str, Any], names: Sequence[str]) -> Any:
    """Return the first of ``names`` that ``entry`` has."""
    return next((entry[name] for name in names if name in entry), None)


def _cue(entry: Any, number: int) -> Cue | None:
    if isinstance(entry, list | tuple) and len(entry) >= 3 and isinstance(entry[2], str):
        start, end, text = entry[:3]
        return Cue(seconds(start), seconds(end), text, entry=number)
    if not isinstance(entry, dict):
        return None
    text = field(entry, TEXTS)
    if not isinstance(text, str) or not any(name in entry for name in STARTS):
        return None
    start = seconds(field(entry, STARTS))
    end = seconds(field(entry, ENDS))
    if end is None:
        end = plus(start, seconds(field(entry, DURATIONS)))
    return Cue(start, end, text, entry=number)
