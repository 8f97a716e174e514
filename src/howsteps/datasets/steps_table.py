"""Tables of true steps: ``video,step,start,end``, and the table of the paper's own data set.

The latter has times in whole seconds, both rounded to nearest and rounded outwards; it is
recognised by its header.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from howsteps.datasets.annotations import AnnotationRow, as_number, truth_of_rows
from howsteps.errors import InputError, Problem
from howsteps.io.text import read_rows
from howsteps.task import Truth

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
