"""Ground truth: rows of true steps, validated; tasks with their truth; what a data set is."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from reprlib import repr  # shortens long values in messages
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import InputError, Problem
from howsteps.store import read_record
from howsteps.task import LATEST, Annotation, Relation, Task, Truth

# Seconds that an annotation may end after its video, as tools round differently.
_TOLERANCE = 1.0
FRAMES_PER_SECOND = 15.0


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


class Row(NamedTuple):
    """One annotated segment as written, with times in seconds.

    Its position is a ``line`` of ``path`` or, if there are no useful line numbers, ``where``: a
    prefix of messages.
    """

    path: Path
    video: str
    step: str
    start: float
    end: float
    line: int | None = None
    where: str = ""

    def error(self, reason: str) -> InputError:
        """Return an error in this row."""
        return InputError(self.path, f"{self.where}{reason}", self.line)


def truth_of(
    path: Path,
    task: str,
    steps: Iterable[str],
    durations: Mapping[str, float | None],
    rows: Iterable[Row],
) -> GroundTruth:
    """Validate the rows of a task and build its truth; return it with what was repaired.

    Overlapping rows of the same step are merged: in some releases two people annotated the same
    video. ``durations`` has every annotated video; ``path`` is used in messages.
    """
    for video, duration in durations.items():
        if duration is not None and not 0 < duration <= LATEST:
            raise InputError(path, f"video {video}: a duration of {duration:g} s is impossible")
    index_of = {step: index for index, step in enumerate(steps)}
    clipped, merged = [], []
    checked = []
    for row in rows:
        end = _checked_end(row, durations[row.video])
        if end < row.end:
            clipped.append(row)
        checked.append(row._replace(end=end))
    checked.sort(key=lambda row: (row.video, index_of[row.step], row.start, row.end))
    kept: list[Annotation] = []
    for (video, step), same in groupby(checked, key=lambda row: (row.video, row.step)):
        last: Annotation | None = None
        for row in same:
            if last is not None and row.start < last.end:
                merged.append(row)
                kept.pop()
                last = replace(last, end=max(last.end, row.end))
            else:
                last = Annotation(video, index_of[step], row.start, row.end)
            kept.append(last)
    kept.sort(key=lambda a: (a.video, a.start, a.end, a.step))
    problems = [
        *_repaired("ends less than a second after its video; clipped", clipped),
        *_repaired("overlaps another row of its step; the two were merged", merged),
    ]
    return Found((Truth(task, tuple(index_of), tuple(kept), dict(durations)),), tuple(problems))


def _checked_end(row: Row, duration: float | None) -> float:
    """Validate the times of a row, and return its end, clipped to the video."""
    longest = duration or LATEST
    if not 0 <= row.start < min(row.end, longest) <= row.end <= longest + _TOLERANCE:
        length = f"inside a video of {duration:g} s" if duration else "of a video"
        raise row.error(f"{row.start:g}–{row.end:g} s is not a time span {length}")
    return min(row.end, longest)


def _repaired(what: str, rows: Sequence[Row]) -> list[Problem]:
    """Return one remark for all rows that were repaired in the same way."""
    if not rows:
        return []
    more = f" (and {len(rows) - 1:,} more rows like it)" if len(rows) > 1 else ""
    return [replace(rows[0].error(f"{what}{more}").problem, harmless=True)]


def as_number(cell: str, path: Path, what: str, line: int) -> float:
    """Convert a cell of a table to a number; ``what`` names it in a message."""
    try:
        return float(cell)
    except ValueError:
        raise InputError(path, f"{what} is {repr(cell)}, not a number", line) from None


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

    @property
    def has_narrations_or_features(self) -> bool:
        """Whether there is anything to find steps in."""
        return bool(self.features) or any(v.captions or v.mentions for v in self.task.videos)

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
    edges = np.ceil(np.arange(intervals + 1) * seconds * rate - 0.5).astype(np.int64)
    starts, ends = np.minimum(edges[:-1], len(rows)), np.minimum(edges[1:], len(rows))
    middles = ((np.arange(intervals) + 0.5) * seconds * rate).astype(np.int64)
    nearest = np.minimum(middles, len(rows) - 1)
    is_empty = starts == ends
    starts, ends = np.where(is_empty, nearest, starts), np.where(is_empty, nearest + 1, ends)
    sums = np.vstack([np.zeros(rows.shape[1]), np.cumsum(rows, axis=0, dtype=np.float64)])
    means: NDArray[np.float32] = (sums[ends] - sums[starts]) / (ends - starts)[:, None]
    return means.astype(np.float32)


class Source:
    """A path that may hold a data set; ``rate`` is that of frame-wise labels, per second."""

    def __init__(self, path: Path, rate: float = FRAMES_PER_SECOND) -> None:
        self.path = path
        self.rate = rate

    @cached_property
    def json(self) -> Any:
        """The content of a JSON file, parsed once for all data sets; None for another path."""
        if self.path.suffix.lower() != ".json" or self.path.is_dir():
            return None
        return read_record(self.path, object)


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set, or a layout that several have.

    ``labelled`` reads tasks, truth and features, for a data set that has features of its own.
    ``narrated``: captions lie at the same path (:func:`~howsteps.datasets.read_tasks`).
    """

    name: str
    recognise: Callable[[Source], bool]
    truths: Callable[[Source], GroundTruth]
    labelled: Callable[[Source], Found[Labelled]] | None = None
    narrated: bool = False
