"""CrossTask as released: lists of tasks and videos, and one table of steps for each video.

::

    tasks_primary.txt      blocks of five lines: id, title, address, number of steps, the steps
    tasks_related.txt      (not needed) the same for tasks without annotations
    videos.csv             rows: task, video, address
    annotations/           <task>_<video>.csv with rows: number of the step from 1, start, end
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from howsteps.datasets.annotations import Row, number, settle, whole_number
from howsteps.errors import InputError, Problem
from howsteps.io.text import read_lines, read_rows
from howsteps.task import Truth

TASKS, VIDEOS, ANNOTATIONS = "tasks_primary.txt", "videos.csv", "annotations"
_BLOCK = 5


@dataclass(frozen=True, slots=True)
class Block:
    """One task of the list."""

    id: str
    title: str
    steps: tuple[str, ...]


def recognises(folder: Path) -> bool:
    """Look for the list of tasks."""
    return (folder / TASKS).is_file()


def read_crosstask(folder: Path) -> tuple[tuple[Truth, ...], list[Problem]]:
    """Make one truth for each task of the list that has annotated videos.

    A video of the list without a table was not annotated; a table of a video that is not on the
    list is an error.
    """
    listed: dict[str, list[str]] = {}
    for _, (task, video, _) in read_rows(folder / VIDEOS, width=3):
        listed.setdefault(task.strip(), []).append(video.strip())
    tables = {path.stem: path for path in sorted((folder / ANNOTATIONS).glob("*.csv"))}
    truths, problems = [], []
    for block in blocks(folder / TASKS):
        rows: list[Row] = []
        durations: dict[str, float | None] = {}
        for video in listed.get(block.id, []):
            if (path := tables.pop(f"{block.id}_{video}", None)) is not None:
                # Settled alone first: an error then names the very file it is in.
                truth, flaws = _table(path, block, video)
                problems += flaws
                durations[video] = None
                rows += (Row(a.video, a.step, a.start, a.end) for a in truth.annotations)
        if rows:
            truths.append(settle(folder, block.title, block.steps, durations, rows, merge=False)[0])
    if tables:
        stray = next(iter(tables.values()))
        raise InputError(stray, f"its task and video are not in {TASKS} and {VIDEOS}")
    if not truths:
        raise InputError(folder / ANNOTATIONS, "has no table of a listed video")
    return tuple(truths), problems


def blocks(path: Path) -> Iterator[Block]:
    """The tasks of a list, checked."""
    lines = list(read_lines(path))
    for first in range(0, len(lines), _BLOCK):
        block = lines[first : first + _BLOCK]
        line, task = block[0]
        if len(block) < _BLOCK:
            raise InputError(path, f"the block of task {task} has not {_BLOCK} lines", line)
        (_, title), (at, count), (_, names) = block[1], block[3], block[4]
        steps = tuple(name.strip() for name in names.split(","))
        if number(count, path, "the number of steps", at) != len(steps):
            raise InputError(path, f"task {task} says {count} steps and lists {len(steps)}", at)
        yield Block(task, title, steps)


def _table(path: Path, block: Block, video: str) -> tuple[Truth, list[Problem]]:
    rows = []
    for line, (step, *times) in read_rows(path, width=3):
        start, end = (number(time, path, "a time", line) for time in times)
        rows.append(Row(video, whole_number(step, path, "a step", line) - 1, start, end, line))
    return settle(path, block.title, block.steps, {video: None}, rows, merge=True)
