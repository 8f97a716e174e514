"""Tables of start, end or duration, and text: CSV, and Whisper's TSV in milliseconds.

A row is read as the same row of JSON, without a header as ``[start, end, text]``.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from howsteps.captions.cues import Cue, ParsedCues, lost, scaled, seconds, unreadable
from howsteps.captions.json_formats import DURATIONS, ENDS, STARTS, TEXTS, row_cue

_NAMES = {name.lower(): name for name in (*STARTS, *ENDS, *DURATIONS, *TEXTS)}
# Characters per second. Nobody speaks more slowly: a lower rate means milliseconds.
_MIN_SPEECH_RATE = 0.1
# More lines in a cell mean an unclosed quotation mark.
_MAX_CELL_LINES = 20


def is_table(text: str) -> bool:
    """Look for a header with columns for start and text, or a first row of two times and a text."""
    return _layout(text) is not None


def parse_table(text: str) -> ParsedCues:
    """Yield one cue for each row."""
    delimiter, names, has_header = _layout(text) or ("", [], False)
    rows = list(_rows(text, delimiter))[has_header:]
    last = len(names) - 1
    entries = [  # in the last column, unquoted commas are part of the text
        dict(zip(names, [*cells[:last], delimiter.join(cells[last:])], strict=False))
        for _, cells in rows
    ]
    cues = [row_cue(entry, line) for entry, (line, _) in zip(entries, rows, strict=True)]
    # Milliseconds are integers.
    [start] = [name for name in names if name in STARTS][:1]
    is_integer = all(entry.get(start, "").strip().isdecimal() for entry in entries)
    units = _units_per_second(cues) if is_integer else 1.0
    for cue, (line, _) in zip(cues, rows, strict=True):
        if cue is None:
            yield lost("the row has too few columns; left out", line)
        else:
            yield replace(cue, start=scaled(cue.start, units), end=scaled(cue.end, units))


def _layout(text: str) -> tuple[str, list[str], bool] | None:
    """The delimiter, the names of the columns, and whether the first row has them."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    for delimiter in "\t,;":
        cells = next((cells for _, cells in _rows(first, delimiter)), [])
        names = [_NAMES.get(cell.strip().lower(), cell) for cell in cells]
        if not {*STARTS}.isdisjoint(names) and not {*TEXTS}.isdisjoint(names):
            return delimiter, names, True
        if len(cells) >= 3 and seconds(cells[0]) is not None and seconds(cells[1]) is not None:
            return delimiter, ["start", "end", "text"], False
    return None


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line and cells of the rows that are not empty.

    TSV is read without quoting, as Whisper writes it.
    """
    lines = (f"{line}\n" for line in text.split("\n"))
    reader = csv.reader(
        lines,
        delimiter=delimiter,
        quoting=csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL,
    )
    first = 1
    try:
        for cells in reader:
            if any(cell.count("\n") > _MAX_CELL_LINES for cell in cells):
                raise unreadable("a quotation mark is never closed", first)
            if any(cell.strip() for cell in cells):
                yield first, cells
            first = reader.line_num + 1
    except csv.Error as error:
        raise unreadable(f"the table cannot be read ({error})", first) from None


def _units_per_second(cues: Sequence[Cue | None]) -> float:
    """Return 1000 if speech would be impossibly slow with the times in seconds, and else 1."""
    rates = [
        len(cue.text) / (cue.end - cue.start)
        for cue in cues
        if cue and cue.start is not None and cue.end is not None and cue.end > cue.start
    ]
    return 1000.0 if rates and median(rates) < _MIN_SPEECH_RATE else 1.0
