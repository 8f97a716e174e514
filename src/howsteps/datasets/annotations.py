"""Validate rows of annotations and build ground truth; used by every reader of annotations."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from math import isfinite
from pathlib import Path
from reprlib import repr  # shortens long values in messages
from typing import Any, NamedTuple

from howsteps.errors import InputError, Problem
from howsteps.io.checked import LATEST
from howsteps.task import Annotation, Truth

# Seconds that an annotation may end after its video, as tools round differently.
_TOLERANCE = 1.0
_MAX_DIGITS = 9


class AnnotationRow(NamedTuple):
    """One row as written, with a step counted from 0 and times in seconds.

    Its position in the file is ``line`` or, if there are no useful line numbers, ``where``: a
    prefix of messages.
    """

    video: str
    step: int
    start: float
    end: float
    line: int | None = None
    where: str = ""


def truth_of_rows(
    path: Path,
    task: str,
    steps: Sequence[str],
    durations: Mapping[str, float | None],
    rows: Iterable[AnnotationRow],
    *,
    merge: bool,
) -> tuple[Truth, list[Problem]]:
    """Validate rows and build a truth, sorted by time.

    Parameters
    ----------
    path
        The file, for messages.
    task, steps, durations
        Fields of the truth.
    rows
        The annotations.
    merge
        Whether overlapping rows of the same step are merged (in some releases two people annotated
        the same video), or are an error.

    Returns
    -------
    The truth, and what was repaired.

    Raises
    ------
    InputError
        A duration is impossible; or a row has an unknown video or step, a time that is negative
        or outside the video, or overlaps another row of the same step.
    """
    for video, duration in durations.items():
        if duration is not None and not 0 < duration <= LATEST:
            raise InputError(path, f"video {video}: a duration of {duration:g} s is impossible")
    clipped, merged = [], []
    checked = []
    for row in rows:
        end = _checked_end(path, row, steps, durations)
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
                reason = f"{row.where}overlaps another row of {steps[step]!r} in video {video}"
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
    """Return one problem for all rows with the same repair."""
    others = f" (and {len(rows) - 1:,} more rows like it)" if len(rows) > 1 else ""
    return Problem(path, f"{rows[0].where}{what}{others}", rows[0].line, harmless=True)


def _checked_end(
    path: Path, row: AnnotationRow, steps: Sequence[str], durations: Mapping[str, float | None]
) -> float:
    """Validate one row, and return its end, clipped to the video."""

    def refuse(reason: str) -> InputError:
        return InputError(path, f"{row.where}{reason}", row.line)

    if row.video not in durations:
        raise refuse(f"video {row.video!r} is unknown")
    if not 0 <= row.step < len(steps):
        raise refuse(f"step {repr(row.step + 1)} is unknown: there are {len(steps)} steps")
    if not (isfinite(row.start) and isfinite(row.end)):
        raise refuse("a time is not a finite number")
    if row.start < 0:
        raise refuse(f"starts before the video, at {row.start:g} s")
    if row.end <= row.start:
        raise refuse(f"ends at {row.end:g} s, not after its start at {row.start:g} s")
    if row.end > LATEST:
        raise refuse(f"ends at {row.end:g} s: no video is that long")
    duration = durations[row.video]
    if duration is None:
        return row.end
    if row.start >= duration or row.end > duration + _TOLERANCE:
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
    """Convert a cell to a non-negative integer.

    Raises
    ------
    InputError
        It is not one, or has too many digits; ``what`` names it in the message.
    """
    text = cell.strip()
    if not text.isdecimal() or len(text) > _MAX_DIGITS:
        raise InputError(path, f"{what} is {repr(cell)}, not a whole number", line)
    return int(text)
