"""``howsteps serve``: edit a result in its page."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from howsteps._cli import screen
from howsteps.errors import SERVE, MissingExtra


def serve(
    work: Annotated[Path, typer.Argument(metavar="WORK", help="The work folder of a run.")],
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            show_default=False,
            help="The port to listen on. Default: any free one.",
        ),
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in your browser.")
    ] = True,
) -> None:
    """Edit the steps of a result in its page; they are placed again as you edit.

    Rename, move, merge, split, delete and add steps, mark them as optional, and move a place on a
    timeline by hand. Every change is saved to WORK/edits.jsonl at once, and all of them can be
    undone. The page, the exports, script.md and result.json are updated.

    Only this machine can reach the page, and only through its full, secret address. Stop it with
    Ctrl-C.

    Example: howsteps serve steps/
    """
    if SERVE.missing:
        raise MissingExtra(SERVE.name, SERVE.purpose)
    from howsteps.serve.app import serve as run_server  # noqa: PLC0415 - an extra

    def started(address: str) -> None:
        screen.out.print(f"editing {escape(str(work))} at {escape(address)}", soft_wrap=True)
        screen.out.print("[dim]Stop it with Ctrl-C; your edits are saved.[/]")
        if browser:
            webbrowser.open(address)

    run_server(work, port, on_start=started)
