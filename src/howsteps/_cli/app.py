"""The ``howsteps`` command line; each command has its own module."""

import errno
import inspect
import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Annotated, NoReturn

import typer
from rich.markup import escape

import howsteps
from howsteps._cli import screen
from howsteps._cli.apply import apply
from howsteps._cli.demo import demo
from howsteps._cli.doctor import doctor, fetch
from howsteps._cli.evaluate import evaluate
from howsteps._cli.export import export, report
from howsteps._cli.features import features
from howsteps._cli.localise import localise
from howsteps._cli.narration import narration
from howsteps._cli.paper import paper
from howsteps._cli.run import run
from howsteps._cli.script import script
from howsteps._cli.serve import serve
from howsteps._cli.stats import stats
from howsteps.errors import HowstepsError, shown

_LONGEST = 1000  # characters of a message
_OUTPUT_ERRORS = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
INTERRUPTED = 130  # the exit code of a program that Ctrl-C ended

app = typer.Typer(
    name="howsteps",
    help="Find the steps of a job in many videos of it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _help(command: Callable[..., None]) -> str:
    """The docstring of a command, one line per paragraph, so that it wraps to the terminal."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


for _command in (
    *(run, narration, script, features, localise, export, report, serve, apply),
    *(doctor, demo, stats, evaluate, paper, fetch),
):
    app.command(help=_help(_command))(_command)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"howsteps {howsteps.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; expected errors are one line, not a traceback."""
    _prepare()
    try:
        try:
            app()
        finally:
            if sys.stdout is not None:  # it is None if the shell closed it: howsteps … >&-
                sys.stdout.flush()
    except HowstepsError as error:
        _exit(str(error))
    except OSError as error:
        if error.filename is not None:
            # An impossible file name, for instance one of thousands of characters.
            _exit(f"{os.fsdecode(error.filename)}: {error.strerror}")
        if error.errno not in _OUTPUT_ERRORS:
            raise
        _exit_without_output(error)
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
        _exit("stopped by Ctrl-C", INTERRUPTED)  # Typer itself prints nothing


def _prepare() -> None:
    """Adapt the streams and the environment; exit if no command could work."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Replace characters that a terminal or pipe cannot encode, instead of failing.
            stream.reconfigure(errors="replace")
    if os.environ.get("COLUMNS") == "0":  # set by some shells; Rich would print nothing
        del os.environ["COLUMNS"]
    if "" in sys.argv[1:]:
        # As a path it would mean the current folder, which an unset variable rarely does.
        _exit("an argument is empty: ''")
    try:
        os.getcwd()
    except OSError:
        _exit("the current folder no longer exists; change to another one")


def _exit_without_output(error: OSError) -> NoReturn:
    """Exit because stdout cannot be written: the disk is full, or the pipe was closed."""
    # The interpreter flushes the stream again when it exits, and would fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        sys.exit(1)
    _exit(f"cannot write the output: {error.strerror}")


def _exit(reason: str, code: int = 1) -> NoReturn:
    text = shown(reason)
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"
    screen.err.print(f"[red]howsteps:[/] {escape(text)}", soft_wrap=True)
    sys.exit(code)
