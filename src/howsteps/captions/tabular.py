"""Tables with columns for start, end or duration, and text: CSV, and Whisper's TSV."""

import csv
from dataclasses import replace

from howsteps.captions.cues import ParsedCues, lost, scaled, unreadable
from howsteps.captions.json_formats import row_cue

_WHISPER = "start\tend\ttext"  # the header of its TSV, which has milliseconds and no quotes


def is_table(text: str) -> bool:
    """Look for a header with columns for start and text."""
    header = _header(text)
    return header == _WHISPER or {"start", "text"} <= set(_names(header.split(",")))


def parse_table(text: str) -> ParsedCues:
    """Yield one cue for each row, which is read as the same row of JSON."""
    lines = (f"{line}\n" for line in text.split("\n"))
    units_per_second = 1
    rows = csv.reader(lines, strict=True)
    if _header(text) == _WHISPER:
        units_per_second = 1000
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    try:
        filled = (cells for cells in rows if any(cell.strip() for cell in cells))
        names = _names(next(filled))
        last = len(names) - 1
        for cells in filled:
            # In the last column, unquoted commas are part of the text.
            entry = dict(zip(names, [*cells[:last], ",".join(cells[last:])], strict=False))
            cue = row_cue(entry, rows.line_num)
            if cue is None:
                yield lost("the row has too few columns; left out", rows.line_num)
                continue
            start, end = (scaled(time, units_per_second) for time in (cue.start, cue.end))
            yield replace(cue, start=start, end=end)
    except csv.Error as error:
        raise unreadable(f"the table cannot be read ({error})", rows.line_num) from None


def _header(text: str) -> str:
    return text.lstrip("\n").partition("\n")[0]


def _names(cells: list[str]) -> list[str]:
    return [cell.strip().lower() for cell in cells]
