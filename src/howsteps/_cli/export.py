"""``howsteps export`` and ``howsteps serve``: a result for other programs, or to edit."""

import webbrowser
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer
from rich.table import Table

from howsteps._cli import options, screen
from howsteps._cli.screen import escape
from howsteps.errors import SERVE, MissingExtra, Problem
from howsteps.io.files import Folder
from howsteps.pipeline.placing import typed_page
from howsteps.pipeline.work_folder import EXPORTS, export_as_asked, root_of, writing_to
from howsteps.report.exports import FORMATS
from howsteps.store import read_result, result_file

FormatName = StrEnum("FormatName", [(name, name) for name in FORMATS])  # type: ignore[misc]


def export(
    work: Annotated[Path, typer.Argument(metavar="WORK", hidden=True)],
    formats: Annotated[
        list[FormatName] | None,
        typer.Option(
            "--format",
            "-f",
            metavar="NAME",
            help="What to write (may be repeated). Default: list the formats.",
        ),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to", metavar="FOLDER", help="Where to write. Default: 'exports' in the work folder."
        ),
    ] = None,
    guesses: Annotated[
        bool,
        typer.Option("--guesses", help="Include places that are guesses."),
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a result for other programs, or its page again.

    WORK is the work folder of a run, or a result.json. There are chapters, tables, timelines,
    annotations, clips, and the page itself.

    Example: howsteps export steps/ --format youtube --format vtt
    """
    result_file(work)  # report a wrong folder even if only the formats are listed
    if not formats:
        table = Table(box=None, pad_edge=False, show_header=False)
        for each in FORMATS.values():
            table.add_row(f"[bold]{each.name}[/]", escape(each.about))
        screen.out.print(table)
        return
    result = read_result(work)
    root = work if work.is_dir() else work.parent
    folder = Folder(to) if to else Folder(root) / EXPORTS
    paths, problems = [], []
    if page := typed_page(root):
        command = f"howsteps place {quote(str(work))} --script {quote(str(page.path))}"
        reason = f"has edits that were not placed; to place them: {command}"
        problems.append(Problem(page.path, reason, harmless=True))
    with (
        nullcontext() if to else writing_to(root_of(root)),
        screen.counting("writing", len(formats), quiet=quiet) as advance,
    ):
        for name in formats:
            target = folder if to or FORMATS[name].own_folder else Folder(root)
            written, found = export_as_asked(result, target, [name], guesses=guesses)
            paths += written
            problems += found
            advance(name)
    place = folder.path if paths and folder.path in paths[-1].parents else root
    screen.out.print(f"{screen.plural(len(paths), 'file')} in {escape(str(place))}", soft_wrap=True)
    # Several formats have the same problem with the same video.
    screen.finish(list(dict.fromkeys(problems)), found=bool(paths))


def serve(
    work: Annotated[Path, typer.Argument(metavar="WORK", hidden=True)],
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            metavar="N",
            show_default=False,
            help="The port to listen on. Default: that of the last time, else any free one.",
        ),
    ] = 0,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            show_default=False,
            help="The address to listen on: 0.0.0.0 for other machines, or in a container. "
            "Default: this machine only.",
        ),
    ] = "127.0.0.1",
    videos: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER",
            help="Play videos below this folder too (may be repeated). Default: those below the "
            "folder that holds WORK.",
        ),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in your browser.")
    ] = True,
) -> None:
    """Edit the steps of a result in its page.

    WORK is the work folder of a run. Rename, move, merge, split, delete and add steps, mark them as
    optional, move a place on a timeline by hand, leave out a video, or use one that was set aside;
    the steps are placed again as you edit. Every change is saved to WORK/edits.jsonl at once and
    can be undone. The page, the exports, script.md and result.json are updated.

    Without --host, only this machine can reach the page, and only through its full, secret address.
    Stop it with Ctrl-C; the next time it has the same address.

    Example: howsteps serve steps/
    """
    if SERVE.missing:
        raise MissingExtra(SERVE.name, SERVE.purpose)
    from howsteps.serve.app import LOOPBACK  # noqa: PLC0415 - an extra
    from howsteps.serve.app import serve as run_server  # noqa: PLC0415

    def started(address: str) -> None:
        if host not in LOOPBACK:
            line = (
                "whoever reaches this machine and knows this address can edit; nothing is encrypted"
            )
            screen.err.print(f"[yellow]{line}[/]", soft_wrap=True)
        screen.out.print(f"editing {escape(str(work))} at {escape(address)}", soft_wrap=True)
        screen.out.print("[dim]Stop it with Ctrl-C; your edits are saved.[/]")
        if browser and host in LOOPBACK:
            webbrowser.open(address)

    run_server(work, port, host=host, videos=videos or (), on_start=started)
