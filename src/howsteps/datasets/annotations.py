"""Annotations: rows of true steps, validated, and the formats in which data sets publish them.

Tables of steps (ours, and that of the paper's own data set), COIN and YouCook2 in the format of
ActivityNet, and CrossTask.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isfinite
from operator import itemgetter
from pathlib import Path
from reprlib import repr  # shortens long values in messages
from typing import Any, NamedTuple, TypeAlias

from howsteps.errors import InputError, Problem
from howsteps.io.checked import LATEST
from howsteps.io.text import read_lines, read_rows
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


_PLAIN = ("video", "step", "start", "end")
_ROUNDED = (
    *("video", "task", "step_name", "start_round", "end_round"),
    *("start_floor", "end_ceil_clipped"),
)


def read_steps_table(
    path: Path, *, name: str | None = None, videos: Collection[str] | None = None
) -> tuple[tuple[Truth, ...], list[Problem]]:
    """Read a table of steps; with a column ``task`` there is one truth for each task in it.

    Parameters
    ----------
    name
        The task of a table without a column ``task``; by default the name of the file.
    videos
        The videos that exist, if known; any other in the table is an error.
    """
    rows = iter(read_rows(path))
    _, header = next(rows, (1, []))
    layout = _layout([cell.strip().lower() for cell in header], path)
    tasks: dict[str, _TaskTable] = {}
    default_task = name or path.stem
    for line, cells in rows:
        task = default_task if layout.task is None else cells[layout.task].strip()
        video, step = cells[layout.video].strip(), cells[layout.step].strip()
        if not (video and step and task):
            raise InputError(path, "has no name for its video, step or task", line)
        start, end = layout.times(layout.seconds(cells), path, line)
        if videos is not None and video not in videos:
            raise InputError(path, f"video {video!r} is not next to this table", line)
        table = tasks.setdefault(task, _TaskTable({}, {}, []))
        table.durations[video] = None
        step_index = table.steps.setdefault(step, len(table.steps))
        table.rows.append(AnnotationRow(video, step_index, start, end, line))
    if not tasks:
        raise InputError(path, "has a header but no rows")
    truths, problems = [], []
    for task, table in tasks.items():
        truth, row_problems = truth_of_rows(
            path, task, list(table.steps), table.durations, table.rows, merge=layout.merge
        )
        truths.append(truth)
        problems += row_problems
    return tuple(truths), problems


@dataclass(frozen=True, slots=True)
class _TaskTable:
    """The rows of one task, and its steps (name → index) and videos."""

    steps: dict[str, int]
    durations: dict[str, float | None]
    rows: list[AnnotationRow]


_Times: TypeAlias = Callable[[Sequence[str], Path, int], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class _Layout:
    """The indices of the columns, and how times are parsed."""

    video: int
    step: int
    task: int | None
    seconds: Callable[[Sequence[str]], Sequence[str]]
    times: _Times
    merge: bool


def _layout(header: Sequence[str], path: Path) -> _Layout:
    def columns(names: Iterable[str]) -> list[int]:
        return [header.index(name) for name in names]

    if set(_ROUNDED) <= set(header):
        video, task, step, *seconds = columns(_ROUNDED)
        return _Layout(video, step, task, itemgetter(*seconds), _rounded, merge=True)
    if missing := [name for name in _PLAIN if name not in header]:
        reason = f"has no column {missing[0]!r}; a table of steps starts with {','.join(_PLAIN)}"
        raise InputError(path, reason, 1)
    video, step, *seconds = columns(_PLAIN)
    named = header.index("task") if "task" in header else None
    return _Layout(video, step, named, itemgetter(*seconds), _plain, merge=False)


def _plain(cells: Sequence[str], path: Path, line: int) -> tuple[float, float]:
    start, end = cells
    return as_number(start, path, "start", line), as_number(end, path, "end", line)


def _rounded(cells: Sequence[str], path: Path, line: int) -> tuple[float, float]:
    """Return the rounded times, or those rounded outwards if they are missing or equal."""
    start, end = (
        as_number(cell or "nan", path, name, line)
        for cell, name in zip(cells[:2], _ROUNDED[3:5], strict=True)
    )
    if end > start:
        return start, end
    start, end = (
        as_number(cell, path, name, line)
        for cell, name in zip(cells[2:], _ROUNDED[5:], strict=True)
    )
    # A step that is clipped at the end of its video lasts one second.
    return (end - 1.0, end) if start == end else (start, end)


@dataclass(frozen=True, slots=True)
class _Segment:
    """One annotated segment of a video; ``where`` is its position in the file, for messages."""

    label: str
    start: float
    end: float
    where: str
    entry: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Clip:
    """One video of the database."""

    video: str
    duration: float
    segments: tuple[_Segment, ...]
    entry: Mapping[str, Any]


def is_coin(value: Any) -> bool:
    """Look for a database of videos with a class."""
    return _has(value, "class", "annotation")


def coin_truths(value: Any, path: Path) -> tuple[tuple[Truth, ...], list[Problem]]:
    """Return the truths in the contents of ``COIN.json``; ``path`` is used in messages."""
    tasks: dict[str, list[_Clip]] = defaultdict(list)
    ids: dict[str, dict[str, int]] = defaultdict(dict)
    for clip in _clips(value, path, segments="annotation", label="label"):
        task = clip.entry.get("class")
        if not (isinstance(task, str) and task):
            raise InputError(path, f"video {clip.video}: has no class")
        tasks[task].append(clip)
        for segment in clip.segments:
            ids[task].setdefault(segment.label, _id(segment, path))
    steps = {
        task: sorted(id_of_label, key=lambda label: id_of_label[label])
        for task, id_of_label in ids.items()
    }
    return _truths(tasks, steps, path)


def is_youcook2(value: Any) -> bool:
    """Look for a database of videos with a recipe."""
    return _has(value, "recipe_type", "annotations")


def youcook2_truths(value: Any, path: Path) -> tuple[tuple[Truth, ...], list[Problem]]:
    """Return the truths in the contents of YouCook2's file; ``path`` is used in messages."""
    tasks: dict[str, list[_Clip]] = defaultdict(list)
    for clip in _clips(value, path, segments="annotations", label="sentence"):
        recipe = clip.entry.get("recipe_type")
        if not isinstance(recipe, str | int):
            raise InputError(path, f"video {clip.video}: has no recipe_type")
        tasks[str(recipe)].append(clip)
    steps = {
        task: list(dict.fromkeys(segment.label for clip in clips for segment in clip.segments))
        for task, clips in tasks.items()
    }
    return _truths(tasks, steps, path)


def _has(value: Any, *keys: str) -> bool:
    """Whether ``value`` is a database in which some video has all of ``keys``."""
    videos = value.get("database") if isinstance(value, dict) else None
    return isinstance(videos, dict) and any(
        isinstance(entry, dict) and all(key in entry for key in keys) for entry in videos.values()
    )


def _clips(value: Any, path: Path, *, segments: str, label: str) -> Iterator[_Clip]:
    """Yield the videos of a database; ``segments`` and ``label`` are the keys of this data set."""
    for video, entry in value["database"].items():
        if not (isinstance(entry, dict) and isinstance(entry.get(segments), list)):
            raise InputError(path, f"video {video}: has no list {segments!r}")
        duration = as_number(entry.get("duration"), path, f"video {video}: duration")
        parsed = tuple(
            _segment(row, f"video {video}, {segments} {number}: ", label, path)
            for number, row in enumerate(entry[segments], 1)
        )
        yield _Clip(video, duration, parsed, entry)


def _segment(row: Any, where: str, label: str, path: Path) -> _Segment:
    name = row.get(label) if isinstance(row, dict) else None
    times = row.get("segment") if isinstance(row, dict) else None
    if not (isinstance(name, str) and name.strip()):
        raise InputError(path, f"{where}has no {label}")
    if not (isinstance(times, list) and len(times) == 2):
        raise InputError(path, f"{where}segment is not [start, end]")
    start, end = (as_number(time, path, f"{where}a time") for time in times)
    return _Segment(name.strip(), start, end, where, row)


def _id(segment: _Segment, path: Path) -> int:
    try:
        return int(segment.entry["id"])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError(path, f"{segment.where}has no numeric id") from None


def _truths(
    tasks: Mapping[str, Sequence[_Clip]], steps: Mapping[str, Sequence[str]], path: Path
) -> tuple[tuple[Truth, ...], list[Problem]]:
    """Return one truth for each task, with its steps in the order of ``steps``."""
    truths: list[Truth] = []
    problems: list[Problem] = []
    for task, clips in tasks.items():
        names = steps.get(task, ())
        index_of = {name: index for index, name in enumerate(names)}
        rows = (
            AnnotationRow(clip.video, index_of[s.label], s.start, s.end, where=s.where)
            for clip in clips
            for s in clip.segments
        )
        durations = {clip.video: clip.duration for clip in clips}
        truth, row_problems = truth_of_rows(path, task, names, durations, rows, merge=True)
        truths.append(truth)
        problems += row_problems
    return tuple(truths), problems


_TASKS, _VIDEOS, _ANNOTATIONS = "tasks_primary.txt", "videos.csv", "annotations"
_BLOCK_LINES = 5


@dataclass(frozen=True, slots=True)
class _Block:
    """One task of the list of tasks."""

    id: str
    title: str
    steps: tuple[str, ...]


def is_crosstask(folder: Path) -> bool:
    """Whether ``folder`` contains CrossTask's list of tasks."""
    return (folder / _TASKS).is_file()


def read_crosstask(folder: Path) -> tuple[tuple[Truth, ...], list[Problem]]:
    """Read one truth for each listed task that has annotated videos.

    A listed video without a table was not annotated; a table of an unlisted video is an error.
    """
    listed: dict[str, list[str]] = {}
    for _, (task, video, _) in read_rows(folder / _VIDEOS, width=3):
        listed.setdefault(task.strip(), []).append(video.strip())
    tables = {path.stem: path for path in sorted((folder / _ANNOTATIONS).glob("*.csv"))}
    truths, problems = [], []
    for block in _blocks(folder / _TASKS):
        rows: list[AnnotationRow] = []
        durations: dict[str, float | None] = {}
        for video in listed.get(block.id, []):
            if (path := tables.pop(f"{block.id}_{video}", None)) is not None:
                # Checked on its own first, so that an error names this file.
                truth, row_problems = _table(path, block, video)
                problems += row_problems
                durations[video] = None
                rows += (AnnotationRow(a.video, a.step, a.start, a.end) for a in truth.annotations)
        if rows:
            truths.append(
                truth_of_rows(folder, block.title, block.steps, durations, rows, merge=False)[0]
            )
    if tables:
        stray = next(iter(tables.values()))
        raise InputError(stray, f"its task and video are not in {_TASKS} and {_VIDEOS}")
    if not truths:
        raise InputError(folder / _ANNOTATIONS, "has no table of a listed video")
    return tuple(truths), problems


def _blocks(path: Path) -> Iterator[_Block]:
    """Yield the tasks of a list, validated."""
    lines = list(read_lines(path))
    for first in range(0, len(lines), _BLOCK_LINES):
        block = lines[first : first + _BLOCK_LINES]
        line, task = block[0]
        if len(block) < _BLOCK_LINES:
            raise InputError(
                path, f"the block of task {task} has fewer than {_BLOCK_LINES} lines", line
            )
        (_, title), (count_line, count), (_, names) = block[1], block[3], block[4]
        steps = tuple(name.strip() for name in names.split(","))
        if as_number(count, path, "the number of steps", count_line) != len(steps):
            reason = f"task {task} says {count} steps and lists {len(steps)}"
            raise InputError(path, reason, count_line)
        yield _Block(task, title, steps)


def _table(path: Path, block: _Block, video: str) -> tuple[Truth, list[Problem]]:
    rows = []
    for line, (step, *times) in read_rows(path, width=3):
        start, end = (as_number(time, path, "a time", line) for time in times)
        rows.append(
            AnnotationRow(video, whole_number(step, path, "a step", line) - 1, start, end, line)
        )
    return truth_of_rows(path, block.title, block.steps, {video: None}, rows, merge=True)
