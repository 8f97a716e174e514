"""``howsteps fetch``: download data sets from their authors' pages."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from howsteps._cli import options, screen


class DataSet(StrEnum):
    """Data sets that can be downloaded."""

    niv = "niv"


def fetch(
    name: Annotated[
        DataSet,
        typer.Argument(help="'niv': Narrated Instruction Videos, the data of the CVPR 2016 paper."),
    ],
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Where to put it.")] = Path(
        "niv"
    ),
    everything: Annotated[
        bool,
        typer.Option("--all", help="Also download the videos and the paper's results."),
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Download a data set from its authors' page, over https.

    Interrupted downloads resume. The checksum of each archive is recorded the first time, and
    verified from then on.

    Example: howsteps fetch niv --to data/niv
    """
    from howsteps.datasets.fetch import DATA_SETS, fetch_archive  # noqa: PLC0415

    for archive in DATA_SETS[name]:
        if archive.wanted or everything:
            with _bar(archive.name, quiet) as update:
                fresh = fetch_archive(archive, to, update)
            what = "fetched" if fresh else "already here, unchanged"
            screen.out.print(f"{archive.name}: {what} [dim]({escape(archive.contents)})[/]")
    screen.out.print(f"in {escape(str(to))}; look at it with: howsteps stats {escape(str(to))}")


@contextmanager
def _bar(what: str, quiet: bool) -> Iterator[Callable[[int, int | None], None]]:
    """A progress bar of a download; call the yielded function with the bytes done and in total."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    hidden = quiet or not screen.err.is_terminal
    with Progress(*columns, console=screen.err, transient=True, disable=hidden) as bar:
        job = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(job, completed=done, total=total)
