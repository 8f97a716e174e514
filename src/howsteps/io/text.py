"""Strict readers of text and CSV, for ground truth; JSON in parts; times as text.

Captions are repaired if possible (:mod:`howsteps.captions.cues`); ground truth is not: every
defect is an error that names the line.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from howsteps.errors import InputError
from howsteps.io.files import read_bounded

# Bytes; ten times the largest known release.
_LARGEST = 2**28


def read_text(path: Path, largest: int = _LARGEST) -> str:
    """Read a text file of at most ``largest`` bytes, in UTF-8.

    Raises ``InputError`` if the file cannot be opened, is empty or too large, or is in another
    encoding. The message names the line.
    """
    data = read_bounded(path, largest, "annotations")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = "has bytes that are not UTF-8; save the file as UTF-8"
        raise InputError(path, reason, line) from None
    if "\0" in text:
        raise InputError(path, "is a binary file", text.count("\n", 0, text.index("\0")) + 1)
    if not text.strip():
        raise InputError(path, "is empty")
    return text


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number, stripped line) for the lines of a text file that are not blank."""
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if stripped := line.strip():
            yield number, stripped


def read_rows(path: Path, width: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells) for the rows of a CSV file that are not blank.

    Raises ``InputError`` if a row does not have ``width`` columns or, if that is None, as many as
    the first row.
    """
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cells):
                width = width or len(cells)
                if len(cells) != width:
                    raise InputError(path, f"has {len(cells)} columns, not {width}", line)
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(path, f"is not valid CSV: {error}", line) from None


def json_parts(value: object, lines_to: int, depth: int = 0) -> Iterator[str]:
    """Yield the text of a JSON value in parts, with line breaks down to depth ``lines_to``.

    An iterator is written as a list, entry by entry, so that its entries are never in memory
    together.
    """
    if depth == lines_to or not isinstance(value, Mapping | list | tuple | Iterator):
        yield json.dumps(value, ensure_ascii=False, allow_nan=False)
        return
    is_object = isinstance(value, Mapping)
    entries = value.items() if isinstance(value, Mapping) else ((None, each) for each in value)
    first = True
    for name, each in entries:
        yield f"{('{' if is_object else '[') if first else ','}\n{' ' * (depth + 1)}"
        first = False
        if is_object:
            yield f"{json.dumps(name, ensure_ascii=False)}: "
        yield from json_parts(each, lines_to, depth + 1)
    brackets = "{}" if is_object else "[]"
    yield brackets if first else f"\n{' ' * depth}{brackets[1]}"


def format_time(seconds: float) -> str:
    """Format seconds for people: ``4:05``, or ``1:02:03`` from an hour on."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def format_timestamp(seconds: float, point: str = ".") -> str:
    """Format seconds as ``00:01:02.500`` (WebVTT), or with a comma as ``point`` (SubRip)."""
    minutes, rest = divmod(milliseconds(seconds), 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}{point}{rest % 1000:03}"


def milliseconds(seconds: float) -> int:
    """Convert seconds to milliseconds, rounded."""
    return round(1000 * seconds)
