"""The progress of a run: a live display, plain lines, JSON lines, or nothing."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Task as Bar
from rich.text import Text

from howsteps._cli import screen
from howsteps.engine.events import (
    Callback,
    Event,
    ItemAt,
    ItemDone,
    StageBegan,
    StageEnded,
    ignore_event,
    record,
)
from howsteps.io.timestamps import format_time

_LINE_EVERY_SECONDS = 10.0
_DESCRIPTIONS = {
    "read": "reading files",
    "transcribe": "transcribing",
    "narration": "reading narrations",
    "script": "discovering the script",
    "script of another way": "discovering the script of another way",
    "labels": "reading the steps that you wrote",
    "editor": "asking the language model",
    "features": "computing video features",
    "localise": "localising steps",
    "tasks": "tasks on the cluster",
}


@contextmanager
def live_callback(*, quiet: bool, json_lines: bool) -> Iterator[Callback]:
    """A callback that shows events; JSON lines go to stdout, everything else to stderr."""
    if json_lines:
        yield _print_json
    elif quiet:
        yield ignore_event
    elif screen.err.is_terminal:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            _Speed(),
            TimeRemainingColumn(compact=True),
            TextColumn("[dim]{task.fields[item]}"),
        )
        with Progress(*columns, console=screen.err, transient=True) as progress:
            yield _Display(progress)
    else:
        yield _Lines()


def _print_json(event: Event) -> None:
    print(json.dumps(record(event), ensure_ascii=False), flush=True)


class _Display:
    """A progress bar for the current stage, and a line for each finished one."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._bar: TaskID | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, StageBegan):
            self._remove()  # the bar of a stage that failed
            what = f"{escape(event.task)}: {_DESCRIPTIONS[event.stage]}"
            self._bar = self._progress.add_task(what, total=event.total, item="")
        elif isinstance(event, ItemAt) and self._bar is not None:
            total = "" if event.total is None else f" of {format_time(event.total)}"
            where = f"{escape(event.item)} {format_time(event.seconds)}{total}"
            self._progress.update(self._bar, item=where)
        elif isinstance(event, ItemDone) and self._bar is not None:
            self._progress.update(self._bar, advance=1, item=escape(event.item))
        elif isinstance(event, StageEnded):
            self._remove()
            self._progress.console.print(f"[dim]{escape(_ended(event))}[/]")

    def _remove(self) -> None:
        if self._bar is not None:
            self._progress.remove_task(self._bar)
            self._bar = None


class _Speed(ProgressColumn):
    """Items per minute."""

    def render(self, task: Bar) -> Text:
        if not task.speed or task.total == 1:
            return Text("")
        return Text(f"{60 * task.speed:,.0f}/min", style="dim")


class _Lines:
    """A line for each finished stage, and one every few seconds in between."""

    def __init__(self) -> None:
        self._printed = monotonic()
        self._total = self._done = 0

    def __call__(self, event: Event) -> None:
        if isinstance(event, StageBegan):
            self._total, self._done = event.total, 0
        elif isinstance(event, ItemDone | ItemAt):
            self._done += isinstance(event, ItemDone)
            if monotonic() - self._printed >= _LINE_EVERY_SECONDS:
                at = (
                    f", {event.item} at {format_time(event.seconds)}"
                    if isinstance(event, ItemAt)
                    else ""
                )
                self._print(f"{event.task}: {event.stage} {self._done} of {self._total}{at}")
        elif isinstance(event, StageEnded):
            self._print(_ended(event))

    def _print(self, line: str) -> None:
        self._printed = monotonic()
        print(line, file=sys.stderr, flush=True)


def _ended(event: StageEnded) -> str:
    """``washing: narration, 13 videos (4 cached) in 2.1 s``."""
    noun = {"read": "file", "tasks": "task", "labels": "label"}.get(event.stage, "video")
    items = f", {screen.plural(event.total, noun)}" if event.total != 1 else ""
    if event.cached == event.total:
        return f"{event.task}: {event.stage}{items}, all cached"
    cached = f" ({event.cached} cached)" if event.cached else ""
    return f"{event.task}: {event.stage}{items}{cached} in {event.seconds:.1f} s"
