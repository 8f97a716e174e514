"""Tables of true steps: ``video,step,start,end``, alone or beside the captions of a folder."""

from collections.abc import Mapping
from pathlib import Path

from howsteps.datasets.annotations import (
    DataSet,
    Found,
    GroundTruth,
    Row,
    Source,
    as_number,
    truth_of,
)
from howsteps.datasets.collection import STEPS_TABLE
from howsteps.datasets.names import split_language
from howsteps.errors import InputError
from howsteps.io.files import open_regular
from howsteps.io.text import read_rows

_LONGEST_HEADER = 2**16  # bytes
_PLAIN = ("video", "step", "start", "end")
# The table of the paper's data set: whole seconds, rounded, and rounded outwards.
_ROUNDED = (
    *("video", "task", "step_name", "start_round", "end_round"),
    *("start_floor", "end_ceil_clipped"),
)


def _is_table(source: Source) -> bool:
    if source.path.suffix != ".csv":
        return False
    try:
        with open_regular(source.path) as file:
            first = file.readline(_LONGEST_HEADER).decode("utf-8-sig")
    except (InputError, OSError, UnicodeDecodeError):
        return False
    header = {cell.strip().lower() for cell in first.split(",")}
    return {"video"} < header and bool({"step", "step_name"} & header)


def _is_steps_folder(source: Source) -> bool:
    return (source.path / STEPS_TABLE).is_file()


def _read_steps_folder(source: Source) -> GroundTruth:
    """Read the table of a folder, which may only name the videos beside it."""
    stems = {path.stem for path in source.path.iterdir() if path.name != STEPS_TABLE}
    videos = stems | {split_language(stem)[0] for stem in stems}
    found = _read_table(Source(source.path / STEPS_TABLE))
    for truth in found:
        if strange := sorted(truth.durations.keys() - videos):
            reason = f"video {strange[0]!r} is not next to this table"
            raise InputError(source.path / STEPS_TABLE, reason)
    return found


def _read_table(source: Source) -> GroundTruth:
    """Read a table of true steps with at least the columns video, step, start, end.

    With a column task, each task has a truth; others are named after the file or, for
    ``steps.csv``, the folder. The table of the paper's data set is read too.
    """
    path = source.path
    default = path.resolve().parent.name if path.name == STEPS_TABLE else path.stem
    rows = iter(read_rows(path))
    _, header = next(rows, (1, []))
    column = {cell.strip().lower(): n for n, cell in reversed(list(enumerate(header)))}
    rounded = column.keys() >= set(_ROUNDED)
    if missing := [] if rounded else [what for what in _PLAIN if what not in column]:
        reason = f"has no column {missing[0]!r}; a table of steps starts with {','.join(_PLAIN)}"
        raise InputError(path, reason, 1)
    tasks: dict[str, list[Row]] = {}
    for line, cells in rows:
        cell = {what: cells[n].strip() for what, n in column.items()}
        task = cell.get("task", default)
        video, step = cell["video"], cell["step_name" if rounded else "step"]
        if not (video and step and task):
            raise InputError(path, "has no name for its video, step or task", line)
        start, end = (_rounded_times if rounded else _plain_times)(cell, path, line)
        tasks.setdefault(task, []).append(Row(path, video, step, start, end, line))
    if not tasks:
        raise InputError(path, "has a header but no rows")
    return Found.join(
        truth_of(
            path,
            task,
            steps=dict.fromkeys(row.step for row in found),
            durations=dict.fromkeys(row.video for row in found),
            rows=found,
        )
        for task, found in tasks.items()
    )


def _plain_times(cell: Mapping[str, str], path: Path, line: int) -> list[float]:
    return [as_number(cell[what], path, what, line) for what in ("start", "end")]


def _rounded_times(cell: Mapping[str, str], path: Path, line: int) -> tuple[float, float]:
    """Return the rounded times, or those rounded outwards if they are missing or equal."""
    start, end = (as_number(cell[what] or "nan", path, what, line) for what in _ROUNDED[3:5])
    if end > start:
        return start, end
    start, end = (as_number(cell[what], path, what, line) for what in _ROUNDED[5:])
    # A step that is clipped at the end of its video lasts one second.
    return (end - 1.0, end) if start == end else (start, end)


TABLE = DataSet("a table video,step,start,end", _is_table, _read_table)
STEPS_FOLDER = DataSet(
    "a folder with captions and steps.csv", _is_steps_folder, _read_steps_folder, narrated=True
)
