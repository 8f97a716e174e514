"""Tables of start, end or duration, and text: CSV, and Whisper's TSV in milliseconds."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from howsteps.captions.cues import Cue, ParsedCues, lost, plus, scaled, seconds, unreadable

STARTS = ("start", "start_time", "startTime", "begin", "from", "offset", "onset")
ENDS = ("end", "end_time", "endTime", "to", "stop", "offset_end")
DURATIONS = ("duration", "dur")
TEXTS = ("text", "caption", "transcript", "sentence", "utterance", "word", "line", "content")

# Characters per second. Nobody speaks more slowly: a lower rate means milliseconds.
_MIN_SPEECH_RATE = 0.1
# More lines in a cell mean an unclosed quotation mark.
_MAX_CELL_LINES = 20


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

    def cue(self, line: int, cells: Sequence[str]) -> Cue | None:
        """Return the cue of a row, with times as written; None if it has too few cells."""
        if len(cells) <= max(self.start, self.text, self.length or 0):
            return None
        start = seconds(cells[self.start])
        end = None if self.length is None else seconds(cells[self.length])
        # In the last column, unquoted commas are part of the text.
        is_last = self.text == self.width - 1
        text = self.delimiter.join(cells[self.text : None if is_last else self.text + 1])
        return Cue(start, plus(start, end) if self.is_duration else end, text, position=line)


def is_table(text: str) -> bool:
    """Look for a header with columns for start and text, or a first row of two times and a text."""
    return _layout(text) is not None


def parse_table(text: str) -> ParsedCues:
    """Yield one cue for each row."""
    layout = _layout(text)
    if layout is None:
        return
    rows = list(_rows(text, layout.delimiter))[layout.has_header :]
    cues = [layout.cue(line, cells) for line, cells in rows]
    # Milliseconds are integers.
    starts = (cells[layout.start].strip() for _, cells in rows if len(cells) > layout.start)
    units = _units_per_second(cues) if all(map(str.isdecimal, starts)) else 1.0
    for cue, (line, _) in zip(cues, rows, strict=True):
        if cue is None:
            yield lost("the row has too few columns; left out", line)
        else:
            yield replace(cue, start=scaled(cue.start, units), end=scaled(cue.end, units))


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
    start, end, duration, text = (
        next((index for index, name in enumerate(names) if name in map(str.lower, wanted)), None)
        for wanted in (STARTS, ENDS, DURATIONS, TEXTS)
    )
    if start is None or text is None:
        return None
    is_duration = end is None and duration is not None
    length = duration if is_duration else end
    return _Layout(delimiter, len(cells), True, start, text, length, is_duration)


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
