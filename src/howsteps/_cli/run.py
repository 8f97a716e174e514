"""``howsteps run``: from a folder of how-to videos to their steps."""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from howsteps._cli import options, screen
from howsteps._cli.screen import live_callback
from howsteps._cli.script import show_script, stability_summary
from howsteps.io.text import format_time
from howsteps.pipeline.options import RunOptions
from howsteps.task import LEVELS, Level

if TYPE_CHECKING:
    from howsteps.pipeline.executor import Executor
    from howsteps.pipeline.run import Run
    from howsteps.reader import Editor
    from howsteps.task import Localisation, Result

Engine = StrEnum("Engine", ["local", "ray"])
ChosenEngine = Annotated[
    Engine,
    typer.Option(
        help="Run on this machine, or on a Ray cluster whose machines all see INPUT and the work "
        "folder. Ray needs: pip install 'howsteps\\[ray]'."
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="The head node of the Ray cluster. Default: one on this machine, or a new one.",
    ),
]


def run(
    source: options.Source,
    out: options.Out = None,
    steps: options.Steps = None,
    mode: options.AnyMode = options.Mode.default,
    seed: options.Seed = 0,
    speech: options.Speech = options.SPEECH,
    vision: options.Vision = None,
    quick: options.Quick = False,
    device: options.Device = options.Processor.cpu,
    parser: options.Parser = None,
    title: options.Title = None,
    keep_all: options.KeepAll = False,
    editor: options.EditorUrl = None,
    model: options.EditorModel = None,
    begin: options.From = None,
    force: options.Force = None,
    workers: options.Workers = None,
    engine: ChosenEngine = Engine.local,
    address: Address = None,
    json_lines: options.JsonLines = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the steps of a job in a folder of its videos.

    INPUT holds videos, captions, or both side by side. A folder of such folders holds many jobs.
    Results are cached: an interrupted run resumes where it stopped, and if you add a video, only
    that video is processed.

    The exit code is 0 if every file could be read, even if videos of another job were set aside.
    It is 3 if a file could not be used, and 1 if nothing was found.

    Example: howsteps run videos/ --out steps/
    """
    requested = options.run_options(
        steps=steps,
        mode=mode,
        seed=seed,
        parser=parser,
        speech=speech,
        vision=vision,
        quick=quick,
        device=device,
        title=title,
        keep_all=keep_all,
    )
    done = run_pipeline(
        source,
        out or options.default_out(source),
        requested,
        editor=options.editor_of(editor, model),
        begin=begin,
        force=force,
        workers=workers,
        executor=executor_of(engine, address),
        json_lines=json_lines,
        quiet=quiet,
    )
    if not json_lines:
        show(done.results, done.folders)
    screen.finish(done.problems, found=bool(done.results))


def run_pipeline(
    source: Path,
    out: Path,
    requested: RunOptions,
    *,
    script: Path | None = None,
    editor: "Editor | None" = None,
    begin: str | None,
    force: list[options.Stage] | None,
    workers: int | None,
    executor: "Executor | None" = None,
    json_lines: bool,
    quiet: bool,
) -> "Run":
    """Run the pipeline, and show its progress."""
    from howsteps.pipeline.executor import cores  # noqa: PLC0415 - kept out of every start
    from howsteps.pipeline.run import run as run_stages  # noqa: PLC0415

    with live_callback(quiet=quiet, json_lines=json_lines) as callback:
        return run_stages(
            source,
            out,
            requested,
            script=script,
            editor=editor,
            begin=begin,
            force=[str(stage) for stage in force or ()],
            workers=workers or cores(),
            executor=executor,
            callback=callback,
        )


def executor_of(engine: Engine, address: str | None) -> "Executor | None":
    """The chosen executor; None for processes on this machine."""
    if engine is Engine.local:
        if address is not None:
            raise typer.BadParameter("an address needs --engine ray", param_hint="--address")
        return None
    from howsteps.pipeline.ray_executor import RayExecutor  # noqa: PLC0415 - kept out of every start

    return RayExecutor(address)


def show(results: "Mapping[str, Result]", folders: Mapping[str, Path]) -> None:
    """Print the script and a summary of every task, and where its files are."""
    for name, result in results.items():
        show_script(result.task, result.script)
        if stability := stability_summary(result.script):
            screen.out.print(f"[dim]{stability}[/]")
        screen.out.print(f"[dim]{escape(_summary(result))}[/]")
        if aside := len(result.set_aside):
            total = screen.plural(len(result.task.videos) + aside, "video")
            jobs = "another job" if aside == 1 else "other jobs"
            line = f"{aside} of {total} set aside as {jobs}: see report.html (or --keep-all)"
            screen.out.print(f"[dim]{line}[/]", soft_wrap=True)
        show_location(folders[name])


def show_location(folder: Path) -> None:
    """Print the folder of a result, and the page to open."""
    from howsteps.report.page import PAGE  # noqa: PLC0415 - kept out of the start of every command

    screen.out.print(f"written to {escape(str(folder))}", soft_wrap=True)
    if (page := folder / PAGE).is_file():
        screen.out.print(f"open this page: {escape(str(page))}", soft_wrap=True)


def _summary(result: "Result") -> str:
    """``97 places in 13 videos: 61 sure, 30 likely, 6 guesses; 12 absences``."""
    placed = [each for each in result.localisations if each.time is not None]
    levels = Counter(each.level for each in placed)
    counts = ", ".join(_level_count(name, levels[name]) for name in LEVELS if levels[name])
    n_videos = len({each.video for each in placed})
    places = f"{screen.plural(len(placed), 'place')} in {screen.plural(n_videos, 'video')}"
    n_absent = len(result.localisations) - len(placed)
    absent = f"; {screen.plural(n_absent, 'absence')}" if n_absent else ""
    return (f"{places}: {counts}" if counts else places) + absent


def _level_count(level: Level, count: int) -> str:
    """``61 sure``, ``1 guess``, ``6 guesses``."""
    return f"{count:,} {'guesses' if level == 'guess' and count > 1 else level}"


MAX_COLUMNS = 4  # videos that fit beside the labels of the steps


def places_table(result: "Result") -> Table:
    """A table of steps by videos, with the time and level of every place.

    Of more videos than fit, it has a row each, with the number of places of each level.
    """
    if len(result.task.videos) > MAX_COLUMNS:
        return _places_by_video(result)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("step")
    for video in result.task.videos:
        table.add_column(escape(video.id), justify="right")
    for index, step in enumerate(result.script.steps):
        places = {p.video: p for p in result.localisations if p.step == index}
        cells = (_cell(places.get(video.id)) for video in result.task.videos)
        table.add_row(f"{index + 1}. {escape(step.label)}", *cells)
    return table


def _places_by_video(result: "Result") -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("video")
    for heading in (*LEVELS, "absent"):
        table.add_column(heading, justify="right")
    for video in result.task.videos:
        levels = Counter(
            "absent" if place.time is None else place.level for place in result.by_video[video.id]
        )
        table.add_row(escape(video.id), *(str(levels[name]) for name in (*LEVELS, "absent")))
    return table


def _cell(place: "Localisation | None") -> str:
    if place is None:
        return "[dim]·[/]"
    if place.time is None:
        return "[dim]absent[/]"
    return (
        f"{format_time(place.time)} [dim]{place.level}[/]"
        if place.level
        else format_time(place.time)
    )
