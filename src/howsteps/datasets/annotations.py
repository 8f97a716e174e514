"""From rows of annotations to ground truth, checked; every reader of annotations uses this."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from math import inf, isfinite
from pathlib import Path
from reprlib import repr  # bad values may be long: messages show the beginning
from typing import Any, NamedTuple

from howsteps.errors import InputError, Problem
from howsteps.task import Annotation, Truth

# Durations and annotations are rounded by different tools; more than this is a mistake.
_OVERRUN = 1.0
_MOST_DIGITS = 9


class AnnotationRow(NamedTuple):
    """One row as written; ``place`` is its position, if the file has no useful line numbers."""

    video: str
    step: int
    start: float
    end: float
    line: int | None = None
    place: str = ""


def truth_of_rows(
    path: Path,
    task: str,
    steps: Sequence[str],
    durations: Mapping[str, float | None],
    rows: Iterable[AnnotationRow],
    *,
    merge: bool,
) -> tuple[Truth, list[Problem]]:
    """Check rows and make them a truth, sorted by time.

    Parameters
    ----------
    path
        The file to name in errors.
    merge
        Whether overlapping rows of the same step are merged (in some releases two people annotated
        the same video), or are an error.

    Raises
    ------
    InputError
        A row has an unknown video or step, a time that is negative or outside the video, or
        overlaps another row of the same step. Then nothing is returned.
    """
    for video, duration in durations.items():
        if duration is not None and not 0 < duration < inf:
            raise InputError(path, f"video {video}: a duration of {duration:g} s is impossible")
    clipped, merged = [], []
    checked = []
    for row in rows:
        end = _end(path, row, steps, durations)
        if end < row.end:
            clipped.append(row)
        checked.append(row if end == row.end else row._replace(end=end))
    checked.sort()
    kept: list[Annotation] = []
    for (video, step), same in groupby(checked, key=lambda row: (row.video, row.step)):
        last: AnnotationRow | None = None
        for row in same:
            if last is None or row.start >= last.end:
                kept.append(Annotation(video, step, row.start, row.end))
                last = row
                continue
            if not merge:
                reason = f"{row.place}overlaps another row of {steps[step]!r} in video {video}"
                raise InputError(path, reason, row.line)
            merged.append(row)
            last = last._replace(end=max(last.end, row.end))
            kept[-1] = Annotation(video, step, last.start, last.end)
    kept.sort(key=lambda a: (a.video, a.start, a.end, a.step))
    repaired = {
        "ends less than a second after its video; clipped": clipped,
        "overlaps another row of its step; the two were merged": merged,
    }
    problems = [_summary(path, what, found) for what, found in repaired.items() if found]
    return Truth(task, tuple(steps), tuple(kept), dict(durations)), problems


def _summary(path: Path, what: str, rows: Sequence[AnnotationRow]) -> Problem:
    """One line for all rows with the same flaw."""
    others = f" (and {len(rows) - 1:,} more rows like it)" if len(rows) > 1 else ""
    return Problem(path, f"{rows[0].place}{what}{others}", rows[0].line, harmless=True)


def _end(
    path: Path, row: AnnotationRow, steps: Sequence[str], durations: Mapping[str, float | None]
) -> float:
    """Check one row, and return its end inside the video."""

    def refuse(reason: str) -> InputError:
        return InputError(path, f"{row.place}{reason}", row.line)

    if row.video not in durations:
        raise refuse(f"video {row.video!r} is unknown")
    if not 0 <= row.step < len(steps):
        raise refuse(f"step {row.step + 1} is unknown: there are {len(steps)} steps")
    if not (isfinite(row.start) and isfinite(row.end)):
        raise refuse("a time is not a finite number")
    if row.start < 0:
        raise refuse(f"starts before the video, at {row.start:g} s")
    if row.end <= row.start:
        raise refuse(f"ends at {row.end:g} s, not after its start at {row.start:g} s")
    duration = durations[row.video]
    if duration is None:
        return row.end
    if row.start >= duration or row.end > duration + _OVERRUN:
        raise refuse(f"{row.start:g}–{row.end:g} s is outside the video, {duration:g} s long")
    return min(row.end, duration)


def as_number(value: Any, path: Path, what: str, line: int | None = None) -> float:
    """Convert a cell or a JSON value to a number.

    Raises
    ------
    InputError
        It is not a number; ``what`` names it in the message.
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(path, f"{what} is {repr(value)}, not a number", line) from None


def whole_number(cell: str, path: Path, what: str, line: int) -> int:
    """Convert a cell to a whole number from 0 on.

    Raises
    ------
    InputError
        It is not one, or has too many digits for a count; ``what`` names it in the message.
    """
    text = cell.strip()
    if not text.isdecimal() or len(text) > _MOST_DIGITS:
        raise InputError(path, f"{what} is {repr(cell)}, not a whole number", line)
    return int(text)
