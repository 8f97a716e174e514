"""How far the films of a job have been watched: a bar for each on a terminal, lines in a log."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from howsteps._cli import screen
from howsteps.io.timestamps import format_time

if TYPE_CHECKING:  # loads nothing before a command needs it
    from howsteps.pipeline.descriptors import Progress as Told

_LINE_EVERY_SECONDS = 10.0

if TYPE_CHECKING:
    from howsteps.pipeline.descriptors import VideoProgress


@contextmanager
def films(count: int, *, quiet: bool) -> Iterator["Told"]:
    """Show how far ``count`` films are; the value is told of each."""
    if quiet:
        yield lambda seen: None
    elif screen.err.is_terminal:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[clock]} {task.fields[pace]}"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=screen.err, transient=True) as bars:
            yield _Bars(bars, count).told
    else:
        yield _Lines(count).told


class _Bars:
    """One bar for all films, and one for each that is being watched."""

    def __init__(self, bars: Progress, count: int) -> None:
        self._bars = bars
        self._of: dict[str, TaskID] = {}
        self._began: dict[str, float] = {}
        self._all = bars.add_task("films", total=count, clock="", pace="")

    def told(self, seen: "VideoProgress") -> None:
        if seen.state != "watching":
            if seen.video in self._of:
                self._bars.remove_task(self._of.pop(seen.video))
            self._bars.advance(self._all)
            return
        if seen.video not in self._of:
            name = escape(seen.video)
            self._of[seen.video] = self._bars.add_task(name, total=seen.total, clock="", pace="")
            self._began[seen.video] = monotonic()
        spent = monotonic() - self._began[seen.video]
        self._bars.update(
            self._of[seen.video],
            completed=seen.seconds,
            format_time=format_time(seen.seconds),
            pace=pace(seen.seconds, spent),
        )


class _Lines:
    """A line now and then."""

    def __init__(self, count: int) -> None:
        self._count, self._done = count, 0
        self._began = self._said = monotonic()
        self._seconds: dict[str, float] = {}

    def told(self, seen: "VideoProgress") -> None:
        self._done += seen.state != "watching"
        if seen.state in {"watching", "watched"}:
            self._seconds[seen.video] = seen.seconds
        if monotonic() - self._said >= _LINE_EVERY_SECONDS:
            self._said = monotonic()
            watched = sum(self._seconds.values())
            print(
                f"watching: {self._done} of {self._count} films, {format_time(watched)} of film "
                f"{pace(watched, monotonic() - self._began)}",
                file=sys.stderr,
                flush=True,
            )


def pace(seconds: float, spent: float) -> str:
    """How fast a film is watched, against the time it lasts."""
    return f"at {seconds / spent:.1f}× its speed" if seconds and spent > 0 else ""
