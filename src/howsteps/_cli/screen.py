"""How howsteps talks on a terminal: results on stdout, progress and problems on stderr."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from howsteps.errors import Problem

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

# A terminal gets a bar; a log gets a line now and then.
_LINE_EVERY_SECONDS = 10.0
_WIDE = 100  # columns that a quotation needs to be worth its place


@contextmanager
def progress(what: str, total: int, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """Show how far a stage is; the value is called once for every item done."""
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


def show_problems(problems: Sequence[Problem], most: int = 30) -> None:
    """Name what was mended or set aside, one line each, in place of a traceback.

    What is only worth saying comes last, so that it never keeps a loss off the screen.
    """
    for problem in sorted(problems, key=lambda problem: problem.harmless)[:most]:
        style = "dim" if problem.harmless else "yellow"
        err.print(f"[{style}]{escape(str(problem))}[/]", soft_wrap=True)
    if len(problems) > most:
        err.print(f"[yellow]… and {len(problems) - most} more lines like these[/]")


def plural(count: int, noun: str) -> str:
    """``1 video``, ``13 videos``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def is_wide() -> bool:
    """Whether there is room for a quotation at the end of a table's line."""
    return out.width >= _WIDE
