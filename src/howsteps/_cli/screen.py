"""Terminal output: results on stdout, progress and problems on stderr, and the exit code."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from textwrap import wrap
from time import monotonic
from typing import Any

import typer
from rich import markup
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table
from rich.text import Text

from howsteps.errors import Problem, shown
from howsteps.io.files import write_atomically
from howsteps.io.text import format_time
from howsteps.pipeline.context import (
    Callback,
    Event,
    ItemAt,
    ItemDone,
    Sends,
    StageBegan,
    StageEnded,
    ignore_event,
)

# Exit codes, those of grep and one more. 0: every file was read; a video of another job is not a
# failure. 1: it ran, and found nothing. 2: it cannot run: an argument is wrong, or something is
# missing (Typer ends so too). 3: done, but a file could not be used, or something was lost.
NOTHING, CANNOT_RUN, SET_ASIDE = 1, 2, 3

if os.environ.get("COLUMNS") == "0":  # set by some shells; Rich would print nothing
    del os.environ["COLUMNS"]
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

_LINE_EVERY_SECONDS = 10.0  # progress if stderr is not a terminal
_WIDE = 100  # columns of a terminal with room for example sentences
_HEADING = 9  # characters of a line of a heading
_MAX_PROBLEMS, _MAX_SIMILAR = 30, 3  # similar problems, or remarks, of which all are listed


def escape(text: str) -> str:
    """Text of a file, or of somebody else, without a meaning for Rich or for the terminal."""
    return markup.escape(shown(text))


def finish(problems: Sequence[Problem], *, found: bool) -> None:
    """Show the problems, and exit with the appropriate code.

    Remarks come first, then problems in their order, so that the fatal one is the last line.
    """
    show_problems(problems)
    if not found:
        raise typer.Exit(NOTHING)
    if not all(problem.harmless for problem in problems):
        raise typer.Exit(SET_ASIDE)


def show_problems(problems: Sequence[Problem]) -> None:
    """List remarks, then problems, one line each; many similar ones become a line with a count."""
    groups: dict[tuple[bool, str], list[Problem]] = {}
    for problem in problems:
        groups.setdefault((not problem.harmless, _template(problem.reason)), []).append(problem)
    for (is_harmful, _), similar in sorted(groups.items(), key=lambda group: group[0][0]):
        limit = _MAX_PROBLEMS if is_harmful else _MAX_SIMILAR
        listed = similar if len(similar) <= limit else similar[: limit - 2]
        more = len(similar) - len(listed)
        for problem in listed:
            last = f" (and {more} more like this)" if more and problem is listed[-1] else ""
            style = "yellow" if is_harmful else "dim"
            line = escape(in_options(str(problem)))
            err.print(f"[{style}]{line}{last}[/]", soft_wrap=True)


def _template(reason: str) -> str:
    """A reason with its numbers and quoted text replaced, to compare it with others."""
    return re.sub(r"'[^']*'|\d+(\.\d+)?", "…", reason)


def write_json(content: object, path: Path) -> None:
    """Write JSON to a file, or to stdout for ``-``."""
    text = json.dumps(content, ensure_ascii=False, indent=1)
    if str(path) == "-":
        print(text)
    else:
        write_atomically(path, f"{text}\n".encode())


def in_options(text: str) -> str:
    """Name options as on the command line: ``keep_all=True`` in backticks as ``--keep-all``."""
    return re.sub(r'`(\w+)(?:=("(?:[^"\\]|\\.)*"|[^`]*))?`', _as_option, text)


def _as_option(keyword: re.Match[str]) -> str:
    name, value = keyword.groups()
    option = f"--{name.replace('_', '-')}"
    if value in (None, "True"):
        return option
    if value[:1] == '"' and not re.fullmatch(r'"[\w.-]+( [\w.-]+)+"', value):
        with suppress(ValueError):  # it is no text in JSON
            value = quote(str(json.loads(value)))  # a name of a file, copied into a shell
    return f"{option} {value}"


def table(*headings: str, right: Iterable[str] = (), **settings: Any) -> Table:
    """An empty table: columns of names, then columns of numbers, which stay whole.

    Long names are broken, or cut (:func:`cut`).
    """
    grid = Table(box=None, pad_edge=False, header_style="dim", **settings)
    for heading in headings:
        grid.add_column(heading, overflow="fold")
    for heading in map(in_lines, right):
        is_short = all(len(line) <= _HEADING for line in heading.splitlines())
        grid.add_column(heading, justify="right", no_wrap=is_short)
    return grid


def in_lines(heading: str) -> str:
    """The heading of a column of numbers, in lines that are not much longer than those."""
    return "\n".join(wrap(heading, _HEADING, break_long_words=False))


def cut(markup: str) -> Text:
    """Text that is cut where a table has too little room for it."""
    text = Text.from_markup(markup, overflow="ellipsis")
    text.no_wrap = True
    return text


def plural(count: int, noun: str) -> str:
    """``1 video``, ``13 videos``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def is_wide() -> bool:
    """Whether the terminal has room for example sentences in a table."""
    return out.width >= _WIDE


_DESCRIPTIONS = {
    "read": "reading files",
    "transcribe": "transcribing",
    "narration": "reading narrations",
    "script": "discovering the script",
    "editor": "asking the language model",
    "reading": "reading videos",
    "features": "computing video features",
    "segments": "looking for steps that nobody names",
    "localise": "localising steps",
    "page": "making pictures for the page",
    "tasks": "tasks on the cluster",
}


@contextmanager
def counting(what: str, total: int, *, quiet: bool) -> Iterator[Callable[..., None]]:
    """Show progress outside of a run; call the yielded function after every item."""
    with progress(quiet=quiet) as show:
        show(StageBegan("", what, total))
        yield lambda item="": show(ItemDone("", what, str(item), False))


@contextmanager
def progress(*, quiet: bool) -> Iterator[Callback]:
    """A callback that shows events on stderr."""
    if quiet:
        yield ignore_event
    elif err.is_terminal:
        whole = Column(no_wrap=True)
        what, where = (Column(ratio=n, no_wrap=True, overflow="ellipsis") for n in (2, 1))
        columns = (
            SpinnerColumn(table_column=whole),
            TextColumn("{task.description}", table_column=what),
            BarColumn(bar_width=12, table_column=whole),
            MofNCompleteColumn(table_column=whole),
            TimeRemainingColumn(compact=True, table_column=whole),
            TextColumn("[dim]{task.fields[item]}[/]", table_column=where),
        )
        with Progress(*columns, console=err, transient=True, expand=True) as bars:
            yield _Display(bars)
    else:
        yield _Lines()


class _Display:
    """A progress bar for the current stage, and a line for each finished one."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._bar: TaskID | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, StageBegan):
            self._remove()  # the bar of a stage that failed
            stage = _DESCRIPTIONS.get(event.stage, event.stage)
            what = f"{stage}: {escape(event.task)}" if stage else escape(event.task)
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
        elif isinstance(event, Sends):
            self._progress.console.print(escape(_sends(event)), soft_wrap=True)

    def _remove(self) -> None:
        if self._bar is not None:
            self._progress.remove_task(self._bar)
            self._bar = None


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
                what = _what(event.task, event.stage)
                self._print(f"{what}: {self._done} of {self._total}, {event.item}")
        elif isinstance(event, StageEnded | Sends):
            self._print(_ended(event) if isinstance(event, StageEnded) else _sends(event))

    def _print(self, line: str) -> None:
        self._printed = monotonic()
        print(shown(line), file=sys.stderr, flush=True)


def _what(task: str, stage: str) -> str:
    """``tea: reading narrations``; work outside of a run is no stage of a task."""
    return f"{task}: {stage}" if stage else task


def _sends(event: Sends) -> str:
    """``tea: transcripts to http://…: 13 requests, 18,000 tokens at most``."""
    size = f"{plural(event.requests, 'request')}, {event.tokens:,} tokens at most"
    return f"{event.task}: {event.what} to {event.address}: {size}"


def _ended(event: StageEnded) -> str:
    """``washing: narration, 13 videos (4 cached) in 2.1 s``."""
    noun = {"read": "file", "tasks": "task"}.get(event.stage, "video")
    items = f", {plural(event.total, noun)}" if event.total != 1 else ""
    if event.cached == event.total:
        return f"{event.task}: {event.stage}{items}, all cached"
    cached = f" ({event.cached} cached)" if event.cached else ""
    return f"{event.task}: {event.stage}{items}{cached} in {event.seconds:.1f} s"
