"""Ground truth of CrossTask: lists of tasks and videos, and a table of steps for each video.

::

    tasks_primary.txt      blocks of five lines: id, title, address, number of steps, the steps
    tasks_related.txt      the same for tasks without annotations; not needed
    videos.csv             rows: task, video, address
    annotations/           <task>_<video>.csv with rows: number of the step from 1, start, end
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from howsteps.datasets.annotations import AnnotationRow, as_number, truth_of_rows, whole_number
from howsteps.errors import InputError, Problem
from howsteps.io.text import read_lines, read_rows
from howsteps.task import Truth

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
