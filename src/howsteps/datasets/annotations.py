"""Ground truth: rows of true steps, validated; tables of them; and tasks with their truth."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from reprlib import repr  # shortens long values in messages
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import InputError, Problem
from howsteps.io.text import read_rows
from howsteps.task import LATEST, Annotation, Relation, Task, Truth

# Seconds that an annotation may end after its video, as tools round differently.
_TOLERANCE = 1.0
_MAX_DIGITS = 9


_T = TypeVar("_T")


@dataclass(frozen=True)
class Found(Generic[_T]):
    """The tasks that were found, or their truths, and what was repaired or left out."""

    tasks: tuple[_T, ...]
    problems: tuple[Problem, ...] = ()

    def __iter__(self) -> Iterator[_T]:
        return iter(self.tasks)

    @classmethod
    def join(cls, parts: Iterable["Found[_T]"]) -> "Found[_T]":
        """Return the tasks and problems of all parts."""
        found = list(parts)
        return cls(
            tuple(task for part in found for task in part.tasks),
            tuple(problem for part in found for problem in part.problems),
        )


GroundTruth: TypeAlias = Found[Truth]


class AnnotationRow(NamedTuple):
    """One row as written, with a step counted from 0 and times in seconds.

    Its position is ``line`` or, if there are no useful line numbers, ``where``: a prefix of
    messages. ``file`` is the file that holds it, if that of its data set does not.
    """

    video: str
    step: int
    start: float
    end: float
    line: int | None = None
    where: str = ""
    file: Path | None = None

    def error(self, path: Path, reason: str) -> InputError:
        """Return an error in this row of the data set at ``path``."""
        return InputError(self.file or path, f"{self.where}{reason}", self.line)


class Segment(NamedTuple):
    """A row of a file with several tasks, which names its step; ``row.step`` is not used.

    The steps of a task are in order of ``rank``, or in that of their first appearance.
    """

    task: str
    label: str
    row: AnnotationRow
    duration: float | None = None
    rank: int = 0


def truth_of_segments(path: Path, segments: Iterable[Segment], *, merge: bool) -> GroundTruth:
    """Return one truth for each task, as :func:`truth_of_rows`."""
    tasks: dict[str, list[Segment]] = {}
    for segment in segments:
        tasks.setdefault(segment.task, []).append(segment)
    parts = []
    for task, found in tasks.items():
        ranks = {segment.label: segment.rank for segment in reversed(found)}
        first = dict.fromkeys(segment.label for segment in found)
        index = {label: k for k, label in enumerate(sorted(first, key=lambda name: ranks[name]))}
        durations = {segment.row.video: segment.duration for segment in found}
        rows = (segment.row._replace(step=index[segment.label]) for segment in found)
        parts.append(truth_of_rows(path, task, list(index), durations, rows, merge=merge))
    return Found.join(parts)


def truth_of_rows(
    path: Path,
    task: str,
    steps: Sequence[str],
    durations: Mapping[str, float | None],
    rows: Iterable[AnnotationRow],
    *,
    merge: bool,
) -> GroundTruth:
    """Validate rows and build a truth, sorted by time; return it with what was repaired.

    Overlapping rows of the same step are an error, or merged if ``merge``: in some releases two
    people annotated the same video. ``path`` is used in messages.
    """
    for video, duration in durations.items():
        if duration is not None and not 0 < duration <= LATEST:
            raise InputError(path, f"video {video}: a duration of {duration:g} s is impossible")
    merged, given = [], list(rows)
    ends = [_checked_end(path, row, steps, durations) for row in given]
    clipped = [row for row, end in zip(given, ends, strict=True) if end < row.end]
    checked = sorted(row._replace(end=end) for row, end in zip(given, ends, strict=True))
    kept: list[Annotation] = []
    for (video, step), same in groupby(checked, key=lambda row: (row.video, row.step)):
        last: AnnotationRow | None = None
        for row in same:
            if last is None or row.start >= last.end:
                kept.append(Annotation(video, step, row.start, row.end))
                last = row
                continue
            if not merge:
                reason = f"overlaps another row of {steps[step]!r} in video {video}"
                raise row.error(path, reason)
            merged.append(row)
            last = last._replace(end=max(last.end, row.end))
            kept[-1] = Annotation(video, step, last.start, last.end)
    kept.sort(key=lambda a: (a.video, a.start, a.end, a.step))
    repaired = {
        "ends less than a second after its video; clipped": clipped,
        "overlaps another row of its step; the two were merged": merged,
    }
    problems = []
    for what, same_repair in repaired.items():
        if same_repair:
            more = f" (and {len(same_repair) - 1:,} more rows like it)" * (len(same_repair) > 1)
            first = same_repair[0].error(path, f"{what}{more}").problem
            problems.append(replace(first, harmless=True))
    return Found((Truth(task, tuple(steps), tuple(kept), dict(durations)),), tuple(problems))


def _checked_end(
    path: Path, row: AnnotationRow, steps: Sequence[str], durations: Mapping[str, float | None]
) -> float:
    """Validate one row, and return its end, clipped to the video."""
    if row.video not in durations:
        raise row.error(path, f"video {row.video!r} is unknown")
    if not 0 <= row.step < len(steps):
        raise row.error(path, f"step {repr(row.step + 1)} is unknown: there are {len(steps)} steps")
    duration = durations[row.video] or LATEST
    if not 0 <= row.start < min(row.end, duration) <= row.end <= duration + _TOLERANCE:
        length = f"inside a video of {duration:g} s" if duration < LATEST else "of a video"
        raise row.error(path, f"{row.start:g}–{row.end:g} s is not a time span {length}")
    return min(row.end, duration)


def as_number(value: Any, path: Path, what: str, line: int | None = None) -> float:
    """Convert a cell or a JSON value to a number; ``what`` names it in a message."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(path, f"{what} is {repr(value)}, not a number", line) from None


def whole_number(cell: str, path: Path, what: str, line: int) -> int:
    """Convert a cell to a non-negative integer of few digits; ``what`` names it in a message."""
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
) -> GroundTruth:
    """Read a table of steps; with a column ``task`` there is one truth for each task in it.

    ``name`` is the task of a table without that column (None: the name of the file). If ``videos``
    are given, any other in the table is an error.
    """
    rows = iter(read_rows(path))
    _, header = next(rows, (1, []))
    column = {cell.strip().lower(): n for n, cell in reversed(list(enumerate(header)))}
    rounded = column.keys() >= set(_ROUNDED)
    if missing := [] if rounded else [what for what in _PLAIN if what not in column]:
        reason = f"has no column {missing[0]!r}; a table of steps starts with {','.join(_PLAIN)}"
        raise InputError(path, reason, 1)

    def segments() -> Iterator[Segment]:
        for line, cells in rows:
            cell = {what: cells[n].strip() for what, n in column.items()}
            task = cell.get("task", name or path.stem)
            video, step = cell["video"], cell["step_name" if rounded else "step"]
            if not (video and step and task):
                raise InputError(path, "has no name for its video, step or task", line)
            start, end = (_rounded_times if rounded else _plain_times)(cell, path, line)
            if videos is not None and video not in videos:
                raise InputError(path, f"video {video!r} is not next to this table", line)
            yield Segment(task, step, AnnotationRow(video, 0, start, end, line))

    found = truth_of_segments(path, segments(), merge=rounded)
    if not found.tasks:
        raise InputError(path, "has a header but no rows")
    return found


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


GRID = 1 / 3  # seconds

GivenMatches: TypeAlias = Callable[[Sequence[Relation]], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """A task, its ground truth, and features of its videos if there are any.

    All videos of ``truth`` are in ``task``, which may have more. The videos have captions, or
    mentions if the data set contains those, or neither. ``features`` (T_n×d) have a row for every
    interval of :data:`GRID` seconds. ``matches`` tells which relations match, if the
    data set defines it.
    """

    task: Task
    truth: Truth
    features: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    matches: GivenMatches | None = None

    def of(self, videos: Collection[str]) -> "Labelled":
        """Return the task with only the given videos."""
        chosen = set(videos)
        kept = tuple(v for v in self.task.videos if v.id in chosen)
        return replace(
            self,
            task=replace(self.task, videos=kept),
            truth=self.truth.of(chosen),
            features={v: x for v, x in self.features.items() if v in chosen},
        )


LabelledTasks: TypeAlias = Found[Labelled]


def checked_features(
    x: NDArray[Any], path: Path, others: Mapping[str, NDArray[np.float32]]
) -> NDArray[np.float32]:
    """Return features in single precision, as wide as ``others``: those of the videos before."""
    with np.errstate(over="ignore"):
        single = x.astype(np.float32) if x.dtype.kind == "f" else np.full((1, 1), np.nan)
    # Infinite is also what is too large for single precision.
    if x.ndim != 2 or not x.shape[1] or not np.isfinite(single).all():
        raise InputError(path, "is not a matrix of finite floating point numbers")
    width = next(iter(others.values())).shape[1] if others else x.shape[1]
    if x.shape[1] != width:
        raise InputError(path, f"has {x.shape[1]} columns, the first video {width}")
    return single


def resample(
    rows: NDArray[np.floating], rate: float, seconds: float, intervals: int
) -> NDArray[np.float32]:
    """Return rows at ``rate`` per second, resampled to intervals of ``seconds``.

    Row i covers the time [i, i+1)/rate. An interval is the mean of the rows whose middle is in it,
    or else the row at the middle of the interval. After the end, the last row is repeated.
    """
    interval_of = ((np.arange(len(rows)) + 0.5) / rate / seconds).astype(np.int64)
    counts = np.bincount(interval_of, minlength=intervals)[:intervals]
    starts = np.searchsorted(interval_of, np.arange(intervals))
    middles = ((np.arange(intervals) + 0.5) * seconds * rate).astype(np.int64)
    result: NDArray[np.float32] = rows[np.minimum(middles, len(rows) - 1)].astype(np.float32)
    with_rows = np.flatnonzero(counts)
    if len(with_rows):
        used = rows[: int(np.searchsorted(interval_of, intervals))]
        sums = np.add.reduceat(used.astype(np.float64), starts[with_rows], axis=0)
        result[with_rows] = sums / counts[with_rows, None]
    return result
