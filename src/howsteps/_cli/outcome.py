"""How a command ends: what it writes, what it says went wrong, and its exit code."""

import json
from collections.abc import Sequence
from pathlib import Path

import typer

from howsteps._cli import screen
from howsteps.errors import HowstepsError, Problem

# 0: all was read. 1: nothing could be done. 3: done, but something was mended or set aside.
# (2 is Typer's own, for a command that was typed wrongly.)
NOTHING, SOME_PROBLEMS = 1, 3


def write_json(content: object, path: Path) -> None:
    """Write JSON to a file, or to stdout for ``-``."""
    text = json.dumps(content, ensure_ascii=False, indent=1)
    if str(path) == "-":
        print(text)
        return
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise HowstepsError(f"cannot write {path}: {error.strerror}") from error


def finish(problems: Sequence[Problem], *, found: bool) -> None:
    """Name the problems and end with the exit code that fits."""
    screen.show_problems(problems)
    if not found:
        raise typer.Exit(NOTHING)
    if not all(problem.harmless for problem in problems):
        raise typer.Exit(SOME_PROBLEMS)
