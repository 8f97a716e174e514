"""Terminal output: results on stdout, progress and problems on stderr, and the exit code."""

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

# Exit codes. 0: every file was read; a video of another job is not a failure. 1: nothing was found.
# 3: done, but a file could not be used, or something was lost. (2 is Typer's, for a wrong command
# line.)
NOTHING, SET_ASIDE = 1, 3

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

_LINE_EVERY_SECONDS = 10.0  # progress if stderr is not a terminal
_WIDE = 100  # columns of a terminal with room for example sentences
_MAX_PROBLEMS = 30  # problems that are listed
_MAX_SIMILAR = 3  # similar remarks that are listed; more are summarised


@contextmanager
def progress(what: str, total: int, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """Show progress; call the yielded function after every item."""
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
    """Show a spinner on a terminal during work of unknown length."""
    if quiet or not err.is_terminal:
        yield
    else:
        with err.status(f"{escape(what)} [dim](the first run compiles its loops)[/]"):
            yield


def _lines(what: str, total: int) -> Callable[[], None]:
    done, printed, started = 0, monotonic(), False

    def advance() -> None:
        nonlocal done, printed, started
        done += 1
        if monotonic() - printed >= _LINE_EVERY_SECONDS or (started and done == total):
            printed, started = monotonic(), True
            print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)

    return advance


def finish(problems: Sequence[Problem], *, found: bool) -> None:
    """Show the problems, and exit with the appropriate code.

    Remarks come first, then problems in their order, so that the fatal one is the last line.
    """
    show_problems(problems)
    if not found:
        raise typer.Exit(NOTHING)
    if not all(problem.harmless for problem in problems):
        raise typer.Exit(SET_ASIDE)


def show_problems(problems: Sequence[Problem], limit: int = _MAX_PROBLEMS) -> None:
    """List problems, one line each; many similar remarks become one line with a count."""
    groups: dict[str, list[Problem]] = {}
    for problem in problems:
        if problem.harmless:
            groups.setdefault(_template(problem.reason), []).append(problem)
    for similar in groups.values():
        shown = similar if len(similar) <= _MAX_SIMILAR else similar[:1]
        count = f" ({_more(similar)} like this)" if len(similar) > len(shown) else ""
        for problem in shown:
            err.print(f"[dim]{escape(str(problem))}{count}[/]", soft_wrap=True)
    harmful = [problem for problem in problems if not problem.harmless]
    hidden = len(harmful) - limit
    for problem in harmful[: limit - 1] if hidden > 0 else harmful[:-1]:
        err.print(f"[yellow]{escape(str(problem))}[/]", soft_wrap=True)
    if hidden > 0:
        err.print(f"[yellow]… and {hidden} more[/]")
    for problem in harmful[-1:]:
        err.print(f"[yellow]{escape(str(problem))}[/]", soft_wrap=True)


def _more(similar: Sequence[Problem]) -> str:
    """``and 3 more``, or, if all are in one file, their lines: ``lines 3, 5 and 7 are``."""
    lines = [str(problem.line) for problem in similar[1:] if problem.line]
    if len(lines) == len(similar) - 1 and len({problem.path for problem in similar}) == 1:
        return f"lines {', '.join(lines[:-1])} and {lines[-1]} are"
    return f"and {len(similar) - 1} more"


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


def plural(count: int, noun: str) -> str:
    """``1 video``, ``13 videos``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def is_wide() -> bool:
    """Whether the terminal has room for example sentences in a table."""
    return out.width >= _WIDE
