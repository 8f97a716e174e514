"""``howsteps doctor`` and ``howsteps fetch``: what is installed, what is missing, and data sets."""

import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import howsteps
from howsteps._cli import options, screen
from howsteps._cli.screen import escape
from howsteps.datasets.fetch import DOWNLOADS, fetch_archive
from howsteps.errors import EXTRAS, VISION
from howsteps.pipeline.executor import available_memory, cores

_SERVER_SECONDS = 2.0  # to list models
_MAX_MODELS = 8  # that are listed


@dataclass(frozen=True, slots=True)
class Finding:
    """One check; ``remedy`` is a command to run, or empty."""

    what: str
    found: str
    remedy: str = ""
    good: bool = True


def doctor() -> None:
    """Show what is installed, and how to install what is missing.

    The exit code is 0 if howsteps can turn captions into steps, even if optional parts are missing.
    """
    table = Table(box=None, pad_edge=False, show_header=False)
    for finding in findings():
        mark = "[green]✓[/]" if finding.good else "[yellow]–[/]"
        table.add_row(mark, escape(finding.what), escape(finding.found), escape(finding.remedy))
    screen.out.print(table)


def findings() -> Iterator[Finding]:
    """Run all checks."""
    yield Finding("howsteps", f"{howsteps.__version__}, Python {platform.python_version()}")
    memory = available_memory()
    room = "" if memory is None else f", {memory / 2**30:.1f} GB of memory free"
    yield Finding("machine", f"{screen.plural(cores(), 'core')}{room}, {sys.platform}")
    yield Finding("captions to steps", "ready")
    for extra in EXTRAS:
        if missing := extra.missing:
            needs = f"needs {', '.join(missing)}"
            yield Finding(extra.purpose, needs, extra.command, good=False)
        else:
            yield Finding(extra.purpose, "ready")
    yield _gpu()
    yield _language_model()


def _language_model() -> Finding:
    """The models of the usual server."""
    from howsteps.reader import LanguageModel, LanguageModelError  # noqa: PLC0415 - slow

    try:
        server = LanguageModel("any", timeout=_SERVER_SECONDS)
        found = server.models()
    except LanguageModelError as error:
        hint = "start Ollama, or set OPENAI_BASE_URL and OPENAI_API_KEY"
        return Finding("language model", str(error), hint, good=False)
    names = ", ".join(found[:_MAX_MODELS]) + (" …" if len(found) > _MAX_MODELS else "")
    where = f"{names or 'none'} at {server.url}"
    return Finding("language model", where, f"--llm {found[0]}" if found else "", good=bool(found))


def _gpu() -> Finding:
    if VISION.missing:
        return Finding("GPU", "not checked: ONNX Runtime is not installed", good=False)
    import onnxruntime  # noqa: PLC0415 - an extra

    from howsteps.vision.network import CUDA  # noqa: PLC0415

    if CUDA in onnxruntime.get_available_providers():
        return Finding("GPU", "ONNX Runtime can use one: --device cuda")
    without = "this ONNX Runtime is for CPUs"
    return Finding("GPU", without, "pip install onnxruntime-gpu", good=False)


def fetch(
    name: Annotated[Literal["niv"], typer.Argument(metavar="NAME", hidden=True)],
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Where to put it.")] = Path(
        "niv"
    ),
    everything: Annotated[
        bool,
        typer.Option("--all", help="Also download the videos."),
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Download a data set from its authors' page, over https.

    NAME is 'niv': Narrated Instruction Videos, the data of the CVPR 2016 paper. The checksum of
    each archive is recorded the first time, and verified from then on.

    Example: howsteps fetch niv --to data/niv
    """
    for archive in DOWNLOADS[name]:
        if archive.wanted or everything:
            with _bar(archive.name, quiet) as update:
                fresh = fetch_archive(archive, to, update)
            what = "fetched" if fresh else "already here, unchanged"
            screen.out.print(f"{archive.name}: {what} [dim]({escape(archive.contents)})[/]")
    where = escape(str(to))
    screen.out.print(f"in {where}; look at it with: howsteps evaluate stats {where}")


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
