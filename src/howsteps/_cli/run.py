"""``howsteps run``, ``place`` and ``apply``: from videos to the places of their steps."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from howsteps._cli import options, screen
from howsteps._cli.screen import escape
from howsteps._cli.script import show_order_variation, show_script
from howsteps.errors import Problem
from howsteps.io.text import format_time, read_text
from howsteps.pipeline.executor import RayExecutor, cores
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.placing import place_again
from howsteps.pipeline.run import NO_MODEL
from howsteps.pipeline.run import run as run_pipeline
from howsteps.reader import AnswerFolder, LanguageModel
from howsteps.reader.client import MAX_TOKENS, PARALLEL
from howsteps.reader.exchange import estimated_tokens
from howsteps.report.page import INDEX, PAGE
from howsteps.script.order import partial_order
from howsteps.task import LEVELS, Localisation, Result, of_another_job

MAX_COLUMNS = 4  # videos that fit beside the labels of the steps
MAX_WAITING = 10  # questions that are listed


def run(
    context: typer.Context,
    source: options.Input,
    out: options.Out = None,
    steps: options.Steps = None,
    script: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="Place the steps of this list, and find none.",
        ),
    ] = None,
    title: options.Title = None,
    keep_all: options.KeepAll = False,
    keep: options.Keep = None,
    drop: options.Drop = None,
    speech: options.Speech = options.SPEECH,
    quick: options.Quick = False,
    llm: options.Llm = None,
    workers: options.Workers = None,
    quiet: options.Quiet = False,
    llm_url: options.LlmUrl = None,
    llm_tokens: options.LlmTokens = MAX_TOKENS,
    llm_parallel: options.LlmParallel = PARALLEL,
    ask: options.Ask = None,
    answer: options.Answer = None,
    mode: options.AnyMode = "default",
    seed: options.Seed = 0,
    vision: options.Vision = None,
    device: options.AnyDevice = "cpu",
    extents: options.AnyExtents = "found",
    parser: options.Parser = None,
    force: options.Force = None,
    ray: Annotated[
        str | None,
        options.rare_option(
            metavar="HOST:PORT",
            help="Run on the Ray cluster with this head node ('local': one on this machine), whose "
            "machines all see INPUT and the work folder. Needs: pip install 'howsteps\\[ray]'.",
        ),
    ] = None,
) -> None:
    """Find the steps of a job in a folder of its videos.

    INPUT is a folder with the videos of one job, their captions, or both side by side; a caption
    file; a task JSON file; or a folder of those, which holds many jobs. An interrupted run resumes
    where it stopped, and of a folder with new videos, only those are read.

    Exit code: 0 if every file was read, 3 if one could not be used, 1 if nothing was found, 2 if
    the command cannot run.

    Example: howsteps run videos/ --out steps/
    """
    reader = reader_of(llm, llm_url, llm_tokens, llm_parallel, ask, answer)
    with screen.progress(quiet=quiet) as callback:
        done = run_pipeline(
            source,
            out or options.default_out(source),
            options.requested(context),
            named_in=options.named_in(context, source),
            script=script,
            llm=reader,
            force=[str(stage) for stage in force or ()],
            workers=workers or cores(),
            executor=RayExecutor(None if ray == "local" else ray) if ray else None,
            callback=callback,
        )
    if isinstance(reader, AnswerFolder) and reader.ask:
        finish_asking(reader, done.problems)
        return
    show(done.results, done.folders, done.failed)
    screen.finish(done.problems, found=bool(done.results))


def reader_of(
    llm: str | None,
    url: str | None,
    tokens: int,
    parallel: int,
    ask: Path | None,
    answer: Path | None,
) -> LanguageModel | AnswerFolder | str | None:
    """The language model of a run; prints where it is, before anything is sent."""
    if ask is not None:
        return AnswerFolder(ask, ask=True)
    if answer is not None:
        return AnswerFolder(answer)
    if llm is None or llm == NO_MODEL:
        if url is not None:
            raise typer.BadParameter("an address needs a model: --llm", param_hint="--llm-url")
        return llm
    model = LanguageModel(llm) if url is None else LanguageModel(llm, url)
    model = replace(model, tokens=tokens, parallel=parallel)
    screen.err.print(
        f"what narrators say is sent to {escape(model.address)} "
        "(--llm-dry-run FOLDER writes it to files instead)",
        soft_wrap=True,
    )
    return model


def finish_asking(reader: AnswerFolder, problems: Sequence[Problem]) -> None:
    """Say which questions wait for an answer and what to do with them, show problems, and exit."""
    found = bool(reader.asked) or all(problem.harmless for problem in problems)
    if found:
        for line in _questions(reader):
            screen.out.print(escape(line), soft_wrap=True)
    screen.finish(problems, found=found)


def _questions(reader: AnswerFolder) -> Iterator[str]:
    folder, waiting = reader.folder, reader.waiting
    if not waiting:
        yield f"every question has an answer; to use them, run again with --answer {folder}"
        return
    tokens = sum(estimated_tokens(read_text(path)) for path in waiting if path.is_file())
    count = screen.plural(len(waiting), "question")
    wait = "waits" if len(waiting) == 1 else "wait"
    yield f"{count} in {folder} {wait} for an answer, {tokens:,.0f} tokens at most:"
    yield from (f"  {path.name}" for path in waiting[:MAX_WAITING])
    if len(waiting) > MAX_WAITING:
        yield f"  … and {len(waiting) - MAX_WAITING} more"
    yield (
        "give each to an assistant, and save what it says beside it as NAME.answer.json; then run "
        f"again with --answer {folder}"
    )
    if any(path.name.startswith("script-") for path in waiting):
        yield "the answer about a script changes the other questions: run with --ask again after it"


def place(
    work: Annotated[Path, typer.Argument(metavar="WORK", hidden=True)],
    script: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Any list of steps. Default: the script.md of the work folder.",
        ),
    ] = None,
    keep: options.Keep = None,
    drop: options.Drop = None,
    parser: options.Parser = None,
    quiet: options.Quiet = False,
) -> None:
    """Place the steps again, after you edited them, or in other videos.

    WORK is the work folder of a run. Videos that it used are not read again, so it takes seconds.
    Steps that you wrote are matched with what narrators say, and the files of the work folder are
    updated. --keep uses a video that was set aside. To change options or to add videos, use 'run'
    with --script.

    Example: howsteps place steps/
    """
    with screen.progress(quiet=quiet) as callback:
        result = place_again(
            work, script, keep=keep or (), drop=drop or (), parser=parser, callback=callback
        )
    show({result.task.name: result}, {result.task.name: work})
    screen.finish(result.problems, found=True)


def apply(
    model: Annotated[Path, typer.Argument(metavar="WORK", hidden=True)],
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="VIDEO", hidden=True, is_eager=True, callback=options.use_project),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="The work folder of the result.")
    ] = Path("applied-steps"),
    speech: options.Speech = options.SPEECH,
    device: options.AnyDevice = "cpu",
    title: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The name of the result. Default: the name of the learnt job."
        ),
    ] = None,
    llm: options.Llm = None,
    workers: options.Workers = None,
    quiet: options.Quiet = False,
    llm_url: options.LlmUrl = None,
    llm_tokens: options.LlmTokens = MAX_TOKENS,
    llm_parallel: options.LlmParallel = PARALLEL,
    ask: options.Ask = None,
    answer: options.Answer = None,
) -> None:
    """Find the steps that an earlier run learnt in new videos.

    WORK is the work folder of that run, or its 'model' folder; VIDEO is a video, a caption file, or
    a folder of them. Writes the same files as 'run': the page, result.json and the exports.

    Example: howsteps apply steps/ new-video.mp4 --out new-steps/
    """
    reader = reader_of(llm, llm_url, llm_tokens, llm_parallel, ask, answer)
    from howsteps.pipeline.apply import apply as apply_model  # noqa: PLC0415 - loads Numba

    with screen.progress(quiet=quiet) as callback:
        done = apply_model(
            model,
            sources,
            out,
            options=RunOptions(speech=options.speech_model(speech), device=device, title=title),
            llm=reader,
            workers=workers or cores(),
            callback=callback,
        )
    if isinstance(reader, AnswerFolder) and reader.ask:
        finish_asking(reader, done.problems)
        return
    if done.results and len(done.result.task.videos) <= MAX_COLUMNS:
        screen.out.print(places_table(done.result))
        show_location(out)
    else:
        show(done.results, done.folders)
    screen.finish(done.problems, found=bool(done.results))


def show(
    results: Mapping[str, Result], folders: Mapping[str, Path], failed: Sequence[str] = ()
) -> None:
    """Print the script and a summary of a task, or a table of several; and where the files are."""
    if len(results) > 1:
        screen.out.print(_jobs_table(results, failed))
        where = os.path.commonpath([folder.resolve() for folder in folders.values()])
        line = f"written to {where}: a folder for each job; {INDEX} leads to the page of each"
        screen.out.print(escape(line), soft_wrap=True)
        return
    for name, result in results.items():
        show_script(result.task, result.script)
        show_order_variation(partial_order(result.task, result.script))
        screen.out.print(f"[dim]{escape(_summary(result))}[/]")
        if aside := len(result.set_aside):
            total = screen.plural(len(result.task.videos) + aside, "video")
            likely = of_another_job(result.set_aside)
            line = (
                f"{aside} of {total} set aside{likely}: script.md and report.html list them "
                "(--keep ID uses one again)"
            )
            screen.out.print(f"[dim]{line}[/]", soft_wrap=True)
        show_location(folders[name])


def _jobs_table(results: Mapping[str, Result], failed: Sequence[str]) -> Table:
    table = screen.table("job", right=("videos", "set aside", "steps", *LEVELS))
    for name, result in results.items():
        levels = Counter(place.level for place in result.places)
        counts = (len(result.task.videos), len(result.set_aside), len(result.steps))
        numbers = (*counts, *(levels[level] for level in LEVELS))
        table.add_row(screen.cut(escape(name)), *(f"{number:,}" for number in numbers))
    for name in failed:
        table.add_row(screen.cut(escape(name)), "no result")
    return table


def show_location(folder: Path) -> None:
    """Print the folder of a result, and the page to open."""
    screen.out.print(f"written to {escape(str(folder))}", soft_wrap=True)
    if (page := folder / PAGE).is_file():
        screen.out.print(f"open this page: {escape(str(page))}", soft_wrap=True)


def _summary(result: Result) -> str:
    """``97 places in 13 videos: 61 sure, 30 likely, 6 guess; 12 times a step is absent``."""
    levels = Counter(place.level for place in result.places)
    counts = ", ".join(f"{levels[name]:,} {name}" for name in LEVELS if levels[name])
    n_videos = len({place.video for place in result.places})
    places = f"{screen.plural(len(result.places), 'place')} in {screen.plural(n_videos, 'video')}"
    n_absent = len(result.localisations) - len(result.places)
    absent = f"; {n_absent:,} times a step is absent" if n_absent else ""
    return (f"{places}: {counts}" if counts else places) + absent


def places_table(result: Result) -> Table:
    """A table of steps by videos, with the time and level of every place."""
    table = screen.table("step", right=[escape(video.id) for video in result.task.videos])
    places = {(place.video, place.step): place for place in result.localisations}
    for index, step in enumerate(result.steps):
        cells = (_cell(places.get((video.id, index))) for video in result.task.videos)
        table.add_row(screen.cut(f"{index + 1}. {escape(step.label)}"), *cells)
    return table


def _cell(place: Localisation | None) -> str:
    if place is None or place.time is None:
        return "[dim]absent[/]" if place else "[dim]·[/]"
    return f"{format_time(place.time)} [dim]{place.level or ''}[/]".rstrip()
