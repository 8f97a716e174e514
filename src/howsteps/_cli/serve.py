"""``howsteps serve``: the page of a result, alive."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from howsteps._cli import screen
from howsteps.errors import MissingExtra
from howsteps.extras import SERVE


def serve(
    work: Annotated[Path, typer.Argument(metavar="WORK", help="The work folder of a run.")],
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where to listen (else: any free port).")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in your browser.")
    ] = True,
) -> None:
    """Open the page of a result to edit its steps: what you change is placed again at once.

    Rename, move, merge, split, delete and add steps, mark them optional, and move a place on a
    timeline by hand. Every change is written to WORK/edits.jsonl before it counts, so nothing is
    lost when the power goes; undo goes back to the start. The page, the exports, script.md and
    result.json follow.

    Only this machine can reach it, and only with the whole address, which is a secret. Ctrl-C
    stops it.

    Example: howsteps serve steps/
    """
    if SERVE.missing:
        raise MissingExtra(SERVE.name, SERVE.purpose)
    from howsteps.serve.server import serve as run_server  # noqa: PLC0415 - an extra

    def started(address: str) -> None:
        screen.out.print(f"editing {escape(str(work))} at {escape(address)}", soft_wrap=True)
        screen.out.print("[dim]Ctrl-C stops it; what you edited stays.[/]")
        if browser:
            webbrowser.open(address)

    run_server(work, port, on_start=started)
