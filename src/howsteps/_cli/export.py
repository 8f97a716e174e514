"""``howsteps export`` and ``howsteps report``: write a result for other programs, and its page."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from howsteps._cli import options, screen
from howsteps.errors import Problem

# Repeated here, so that --help does not need to import the exporters.
FORMATS = (
    *("vtt", "srt", "youtube", "ffmetadata", "csv", "edl", "otio", "label-studio", "elan"),
    *("markdown", "page", "video", "clips"),
)
FormatName = StrEnum("FormatName", [(name, name) for name in FORMATS])  # type: ignore[misc]


def export(
    work: options.WorkFolder,
    formats: Annotated[
        list[FormatName] | None,
        typer.Option(
            "--format", "-f", help="What to write (may be repeated). Default: list the formats."
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
    precise: Annotated[
        bool,
        typer.Option("--precise", help="Cut clips at the exact frame, which re-encodes the video."),
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Export the steps for other programs: chapters, tables, timelines, annotations, clips.

    Example: howsteps export steps/ --format youtube --format vtt
    """
    from howsteps.io.files import own_folder  # noqa: PLC0415
    from howsteps.report.exports import FORMATS as KNOWN  # noqa: PLC0415
    from howsteps.report.exports import export as write  # noqa: PLC0415
    from howsteps.result import read_result, result_file  # noqa: PLC0415

    result_file(work)  # report a wrong folder even if only the formats are listed
    if not formats:
        table = Table(box=None, pad_edge=False, show_header=False)
        for each in KNOWN.values():
            table.add_row(f"[bold]{each.name}[/]", escape(each.about))
        screen.out.print(table)
        return
    result = read_result(work)
    root = work if work.is_dir() else work.parent
    folder = to or own_folder(root, "exports")
    paths, problems = [], []
    with screen.progress("writing", len(formats), quiet=quiet) as advance:
        for name in formats:
            target = folder if to or KNOWN[name].own_folder else root
            written, found = write(result, target, [name], guesses=guesses, precise=precise)
            paths += written
            problems += found
            advance()
    place = folder if paths and folder in paths[-1].parents else root
    screen.out.print(f"{screen.plural(len(paths), 'file')} in {escape(str(place))}", soft_wrap=True)
    # Several formats have the same problem with the same video.
    screen.finish(list(dict.fromkeys(problems)), found=bool(paths))


def report(work: options.WorkFolder, quiet: options.Quiet = False) -> None:
    """Write the page of a result again, for instance after changing its script.

    Example: howsteps report steps/
    """
    from howsteps.report.page import write_page  # noqa: PLC0415 - kept out of the start of every command
    from howsteps.result import read_result  # noqa: PLC0415

    result = read_result(work)
    problems: list[Problem] = []
    with screen.progress("taking thumbnails", len(result.task.videos), quiet=quiet) as advance:
        page = write_page(
            result,
            work if work.is_dir() else work.parent,
            progress=lambda _: advance(),
            on_problem=problems.append,
        )
    screen.out.print(f"written to {escape(str(page))}", soft_wrap=True)
    screen.finish(problems, found=True)
