"""The ``howsteps`` command line; the module of a command is imported when the command runs."""

import errno
import inspect
import os
import sys
from collections.abc import Callable
from importlib import import_module
from io import StringIO, TextIOWrapper
from typing import Annotated, Any, ClassVar, NamedTuple, NoReturn

import typer
from typer import rich_utils
from typer.core import TyperCommand, TyperGroup

import howsteps
from howsteps._cli import screen
from howsteps._cli.options import MORE
from howsteps._cli.screen import escape
from howsteps.errors import HowstepsError, shown

rich_utils.RANGE_STRING = ""  # "[x>=1]" in --help says little; the message of a wrong value does
HELP_ALL = "--help-all"
INTERRUPTED = 130  # the exit code of a program that Ctrl-C ended


class Listed(NamedTuple):
    """A command as ``--help`` lists it: its module, the first line of its help, and the panel."""

    module: str
    about: str
    panel: str = "Commands"


def _without_bool(params: Any) -> Any:
    """The parameters, in whose help a flag has no word for its type."""
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


class LazyGroup(TyperGroup):
    """Commands that are imported when one of them runs, so that every command starts quickly."""

    listed: ClassVar[dict[str, Listed]]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # With name and help alone, for --help and for suggestions.
        self.commands = {
            name: TyperCommand(name, help=entry.about, rich_help_panel=entry.panel)
            for name, entry in self.listed.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the command that runs."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load(self.listed[str(name)].module, str(name)) if command else None, rest

    def get_params(self, ctx: Any) -> Any:
        """All parameters, ``--help`` included."""
        return _without_bool(super().get_params(ctx))


class Command(TyperCommand):
    """A command whose ``--help`` fits a screen: ``--help-all`` shows the rest of its options."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._rare: list[Any] = [
            param for param in self.params if getattr(param, "rich_help_panel", "") == MORE
        ]
        self._hide(bool(self._rare))

    def _hide(self, hidden: bool) -> None:
        self.epilog = f"{HELP_ALL} shows more options." if hidden else None
        for param in self._rare:
            param.hidden = hidden

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments; ``--help-all`` is ``--help`` with all options."""
        if HELP_ALL in args:
            self._hide(False)
            args = ["--help"]
        return list(super().parse_args(ctx, args))

    def get_params(self, ctx: Any) -> Any:
        """All parameters, ``--help`` included."""
        return _without_bool(super().get_params(ctx))


def as_command(function: Callable[..., None]) -> Any:
    """A function as a command; each paragraph of its docstring is wrapped to the terminal."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(cls=Command, help=text)(function)
    return typer.main.get_command(alone)


def load(module: str, name: str) -> Any:
    """Import a command, which is a function or a group."""
    found = getattr(import_module(f"howsteps._cli.{module}"), name)
    return typer.main.get_command(found) if isinstance(found, typer.Typer) else as_command(found)


class _Evaluation(LazyGroup):
    listed: ClassVar[dict[str, Listed]] = {
        "methods": Listed("evaluate", "Run methods on a data set, and compare their scores."),
        "stats": Listed(
            "evaluate", "Show how regular a data set is: order, missing and repeated steps."
        ),
        "paper": Listed("evaluate", "Make the paper's tables and its figure from your data."),
    }


class _Commands(LazyGroup):
    listed: ClassVar[dict[str, Listed]] = {
        "run": Listed("run", "Find the steps of a job in a folder of its videos."),
        "serve": Listed("export", "Edit the steps of a result in its page."),
        "export": Listed("export", "Write a result for other programs, or its page again."),
        "place": Listed("run", "Place the steps again, after you edited them, or in other videos."),
        "apply": Listed("run", "Find the steps that an earlier run learnt in new videos."),
        "demo": Listed("demo", "Try it: find the steps of a job that ships with howsteps."),
        "doctor": Listed("doctor", "Show what is installed, and how to install what is missing."),
        "narration": Listed("script", "Show what narrators say they do, and when.", "Stages"),
        "script": Listed("script", "List the steps of a job, in order.", "Stages"),
        "features": Listed("features", "Compute features of the videos of a job.", "Stages"),
        "evaluate": Listed("app", "Compare methods with ground truth.", "Research"),
        "fetch": Listed(
            "doctor", "Download a data set from its authors' page, over https.", "Research"
        ),
    }


def commands() -> dict[str, Any]:
    """Import every command: by its words on the command line, such as ``evaluate stats``."""
    single = {name: entry for name, entry in _Commands.listed.items() if name != "evaluate"}
    parts = {f"evaluate {name}": entry for name, entry in _Evaluation.listed.items()}
    return {name: load(e.module, name.split()[-1]) for name, e in (single | parts).items()}


app = typer.Typer(
    name="howsteps",
    cls=_Commands,
    help="Find the steps of a job in many videos of it.\n\n"
    "Begin with: howsteps demo, or: howsteps run videos/ --out steps/",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
evaluate = typer.Typer(
    name="evaluate",
    cls=_Evaluation,
    help="Compare methods with ground truth.",
    no_args_is_help=True,
    add_completion=False,
)
evaluate.callback()(lambda: None)


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
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Replace characters that a terminal or pipe cannot encode, instead of failing.
            stream.reconfigure(errors="replace")
    if "" in sys.argv[1:]:
        # As a path it would mean the current folder, which an unset variable rarely does.
        _exit("an argument is empty: ''")
    try:
        app()
    except HowstepsError as error:
        _exit(screen.in_options(str(error)))
    except OSError as error:
        if error.errno == errno.ENOSPC:  # such as of a log
            sys.stdout = StringIO()  # or Python tries again at its end
            _exit(f"cannot write: {error.strerror}")
        if error.filename is None:
            raise
        # An impossible file name, for instance one of thousands of characters.
        _exit(f"{os.fsdecode(error.filename)}: {error.strerror}")
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
        _exit("stopped by Ctrl-C", INTERRUPTED)  # Typer itself prints nothing


def _exit(reason: str, code: int = screen.CANNOT_RUN) -> NoReturn:
    screen.err.print(f"[red]howsteps:[/] {escape(shown(reason))}", soft_wrap=True)
    sys.exit(code)
