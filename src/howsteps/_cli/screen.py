"""Output of the commands: results on stdout, progress and problems on stderr, and the exit code."""

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from howsteps.errors import Problem
from howsteps.io.files import write_atomically

# 0: every file was read; a video of another job is a finding, and no failure. 1: nothing could be
# done. 3: done, but a file could not be used, or something was lost.
# (2 is Typer's own, for a command that was typed wrongly.)
NOTHING, SET_ASIDE = 1, 3

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

# A terminal gets a bar; a log gets a line now and then.
_LINE_EVERY_SECONDS = 10.0
_WIDE = 100  # columns that a quotation needs to be worth its place
_LINES = 30  # problems that are listed
_ALIKE = 3  # remarks of one kind that are listed; more are counted


@contextmanager
def progress(what: str, total: int, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """Show progress; the value is called once for every item done."""
    if quiet:
        yield lambda: None
    elif err.is_terminal:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=err, transient=True) as bar:
            job = bar.add_task(what, total=total)
            yield lambda: bar.advance(job)
    else:
        yield _lines(what, total)


@contextmanager
def waiting(what: str, *, quiet: bool) -> Iterator[None]:
    """Show on a terminal that something of unknown length is under way."""
    if quiet or not err.is_terminal:
        yield
    else:
        with err.status(f"{escape(what)} [dim](the first run compiles its loops)[/]"):
            yield


def _lines(what: str, total: int) -> Callable[[], None]:
    done, said, started = 0, monotonic(), False

    def advance() -> None:
        nonlocal done, said, started
        done += 1
        if monotonic() - said >= _LINE_EVERY_SECONDS or (started and done == total):
            said, started = monotonic(), True
            print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)

    return advance


def finish(problems: Sequence[Problem], *, found: bool) -> None:
    """Show the problems and end with the exit code that fits.

    Remarks come first, then losses in their order: what ended the command is its last line.
    """
    show_problems(problems)
    if not found:
        raise typer.Exit(NOTHING)
    if not all(problem.harmless for problem in problems):
        raise typer.Exit(SET_ASIDE)


def show_problems(problems: Sequence[Problem], most: int = _LINES) -> None:
    """List problems, one line each; many remarks of one kind are one line with their count."""
    kinds: dict[str, list[Problem]] = {}
    for problem in problems:
        if problem.harmless:
            kinds.setdefault(_kind(problem.reason), []).append(problem)
    for alike in kinds.values():
        shown = alike if len(alike) <= _ALIKE else alike[:1]
        count = f" ({_more(alike)} like this)" if len(alike) > len(shown) else ""
        for problem in shown:
            err.print(f"[dim]{escape(str(problem))}{count}[/]", soft_wrap=True)
    lost = [problem for problem in problems if not problem.harmless]
    hidden = len(lost) - most
    for problem in lost[: most - 1] if hidden > 0 else lost[:-1]:
        err.print(f"[yellow]{escape(str(problem))}[/]", soft_wrap=True)
    if hidden > 0:
        err.print(f"[yellow]… and {hidden} more[/]")
    for problem in lost[-1:]:
        err.print(f"[yellow]{escape(str(problem))}[/]", soft_wrap=True)


def _more(alike: Sequence[Problem]) -> str:
    """``and 3 more``, or the lines where they are all in one file: ``lines 3, 5 and 7 are``."""
    lines = [str(problem.line) for problem in alike[1:] if problem.line]
    if len(lines) == len(alike) - 1 and len({problem.path for problem in alike}) == 1:
        return f"lines {', '.join(lines[:-1])} and {lines[-1]} are"
    return f"and {len(alike) - 1} more"


def _kind(reason: str) -> str:
    """A reason without its numbers and quotations."""
    return re.sub(r"'[^']*'|\d+(\.\d+)?", "…", reason)


def write_json(content: object, path: Path) -> None:
    """Write JSON to a file, or to stdout for ``-``."""
    text = json.dumps(content, ensure_ascii=False, indent=1)
    if str(path) == "-":
        print(text)
    else:
        write_atomically(path, f"{text}\n".encode())


def plural(count: int, noun: str) -> str:
    """``1 video``, ``13 videos``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def is_wide() -> bool:
    """Whether there is room for a quotation at the end of a table's line."""
    return out.width >= _WIDE
