"""Tables of start, end and text: CSV, Whisper's TSV (milliseconds), and lists in JSON.

In JSON a row is ``[start, end, text]`` or an object with ``start``, ``end`` or ``duration``, and
``text``; or one object has a list for each of the three columns.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from howsteps.captions.cues import (
    Cue,
    ParsedCues,
    lost,
    plus,
    repaired,
    scaled,
    seconds,
    unreadable,
)
from howsteps.errors import Problem

_STARTS = ("start", "start_time", "startTime", "begin", "from", "offset", "onset")
_ENDS = ("end", "end_time", "endTime", "to", "stop", "offset_end")
_DURATIONS = ("duration", "dur")
_TEXTS = ("text", "caption", "transcript", "sentence", "utterance", "word", "line", "content")

# Characters per second. Nobody speaks more slowly: a lower rate means milliseconds.
_MIN_SPEECH_RATE = 0.1
# More lines in a cell mean an unclosed quotation mark.
_MAX_CELL_LINES = 20

# Longer column names are not searched for a unit, which would take too long.
_MAX_NAME_LENGTH = 40
_UNIT = re.compile(r"[\s_]*(?:_|\s|\()(?P<unit>ms|msec|milliseconds|s|sec|seconds)\)?$")


def is_table(text: str) -> bool:
    """Look for a header with columns for start and text, or a first row of two times and a text."""
    return _layout(text) is not None


def parse_table(text: str) -> ParsedCues:
    """Yield one cue for each row."""
    layout = _layout(text)
    if layout is None:
        return
    rows = _timed_rows(text, layout)
    if rows is None:
        yield repaired("a quotation mark is never closed; quotation marks were read as text")
        rows = _timed_rows(text, layout, quoted=False) or []
    unit = layout.unit or _unit([row for row in rows if isinstance(row, _Row)], layout)
    for row in rows:
        if isinstance(row, _Row):
            start, end = layout.times(row, unit)
            yield Cue(start, end, row.text, position=row.line)
        else:
            yield row


@dataclass(frozen=True, slots=True)
class _Row:
    """The cells that are used, of any number; ``length`` is None if the table has none."""

    line: int
    start: str
    length: str | None
    text: str


@dataclass(frozen=True, slots=True)
class _Layout:
    """The indices of the columns; ``length`` is that of the end or of the duration."""

    delimiter: str
    width: int
    has_header: bool
    start: int
    text: int
    length: int | None = None
    is_duration: bool = False
    unit: float | None = None

    def row(self, line: int, cells: list[str]) -> _Row | None:
        """Return the cells that are used; None if there are too few."""
        if len(cells) <= max(self.start, self.text, self.length or 0):
            return None
        length = None if self.length is None else cells[self.length]
        # In the last column, unquoted commas are part of the text.
        is_last = self.text == self.width - 1
        text = self.delimiter.join(cells[self.text : None if is_last else self.text + 1])
        return _Row(line, cells[self.start], length, text)

    def times(self, row: _Row, unit: float) -> tuple[float | None, float | None]:
        start, end = scaled(seconds(row.start), unit), scaled(seconds(row.length), unit)
        return start, plus(start, end) if self.is_duration else end


def _layout(text: str) -> _Layout | None:
    first = next((line for line in text.split("\n") if line.strip()), "")
    for delimiter in "\t,;":
        cells = next((cells for _, cells in _rows(first, delimiter)), [])
        if layout := _named(cells, delimiter):
            return layout
        if len(cells) >= 3 and seconds(cells[0]) is not None and seconds(cells[1]) is not None:
            return _Layout(delimiter, 3, False, start=0, text=2, length=1)
    return None


def _named(cells: Sequence[str], delimiter: str) -> _Layout | None:
    names = [cell.strip().lower() for cell in cells]
    bare = [_UNIT.sub("", name) if len(name) <= _MAX_NAME_LENGTH else name for name in names]
    start, end, duration, text = (
        next((index for index, name in enumerate(bare) if name in map(str.lower, wanted)), None)
        for wanted in (_STARTS, _ENDS, _DURATIONS, _TEXTS)
    )
    if start is None or text is None:
        return None
    is_duration = end is None and duration is not None
    named = _UNIT.search(names[start])
    unit = None if named is None else 1000.0 if named["unit"].startswith("m") else 1.0
    length = duration if is_duration else end
    return _Layout(delimiter, len(cells), True, start, text, length, is_duration, unit)


def _timed_rows(text: str, layout: _Layout, quoted: bool = True) -> list[_Row | Problem] | None:
    """Return the rows after the header; None if a quotation mark is never closed."""
    rows: list[_Row | Problem] = []
    for line, cells in _rows(text, layout.delimiter, quoted):
        if quoted and any(cell.count("\n") > _MAX_CELL_LINES for cell in cells):
            return None
        row = layout.row(line, cells)
        rows.append(row or lost("the row has too few columns; left out", line))
    return rows[1:] if layout.has_header else rows


def _rows(text: str, delimiter: str, quoted: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Yield line and cells of the rows that are not empty.

    TSV is read without quoting, as Whisper writes it.
    """
    lines = (f"{line}\n" for line in text.split("\n"))
    reader = csv.reader(
        lines,
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted and delimiter != "\t" else csv.QUOTE_NONE,
    )
    first = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield first, cells
            first = reader.line_num + 1
    except csv.Error as error:
        raise unreadable(f"the table cannot be read ({error})", first) from None


def _unit(rows: Sequence[_Row], layout: _Layout) -> float:
    """Return the units per second of the times in a table: 1 or 1000.

    Integers are milliseconds if the speech would be impossibly slow in seconds.
    """
    if layout.length is None:
        return 1.0
    times = (time or "" for row in rows for time in (row.start, row.length))
    if not all(time.strip().isdecimal() for time in times):
        return 1.0
    rates = []
    for row in rows:
        start, end = layout.times(row, 1.0)
        if start is not None and end is not None and end > start:
            rates.append(len(row.text) / (end - start))
    return 1000.0 if rates and median(rates) < _MIN_SPEECH_RATE else 1.0


def is_json_rows(value: Any) -> bool:
    """Look for a list with at least one timed row."""
    return isinstance(value, list) and any(_json_cue(entry, 0) is not None for entry in value)


def parse_json_rows(value: Any) -> ParsedCues:
    """Yield one cue for each entry."""
    for number, entry in enumerate(value, 1):
        yield _json_cue(entry, number) or lost("is not a timed row; left out", number)


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


def _json_cue(entry: Any, number: int) -> Cue | None:
    if isinstance(entry, list | tuple) and len(entry) >= 3 and isinstance(entry[2], str):
        start, end, text = entry[:3]
        return Cue(seconds(start), seconds(end), text, position=number)
    if not isinstance(entry, dict):
        return None
    text = _field(entry, _TEXTS)
    if not isinstance(text, str) or not any(name in entry for name in _STARTS):
        return None
    start = seconds(_field(entry, _STARTS))
    end = seconds(_field(entry, _ENDS))
    if end is None:
        end = plus(start, seconds(_field(entry, _DURATIONS)))
    return Cue(start, end, text, position=number)
