"""``howsteps narration`` and ``howsteps script``: what narrators say, and the steps in it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import typer

from howsteps._cli import options, screen
from howsteps._cli.screen import escape
from howsteps.errors import Problem
from howsteps.io.cache import Cache
from howsteps.io.files import Folder
from howsteps.io.text import format_time
from howsteps.narration.relations import common_relations
from howsteps.pipeline.cache import user_cache
from howsteps.pipeline.context import Context
from howsteps.pipeline.executor import LocalExecutor, cores
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import read_source, titled
from howsteps.pipeline.selection import check_choices, set_aside_other_jobs
from howsteps.pipeline.stages import (
    check_parser,
    discover_script,
    prepare_narration,
    script_remarks,
)
from howsteps.pipeline.work_folder import (
    CACHE,
    check_folders,
    write_script,
    writing_to,
)
from howsteps.script.order import PartialOrder, partial_order
from howsteps.store import VERSION, narration_record
from howsteps.task import Mention, Script, Step, Task, Video

BAR = 10  # characters of a full bar
MAX_RELATIONS = 20  # relations of a job that are listed
MAX_SWAPS = 3  # swapped pairs of steps that are listed


@contextmanager
def stage_context(
    source: Path,
    out: Path | None,
    *,
    workers: int | None,
    quiet: bool,
    redo: frozenset[str] = frozenset(),
) -> Iterator[Context]:
    """A context that caches in the work folder or, without one, in the user's cache folder."""
    with ExitStack() as stack:
        if out is None:
            cache = stack.enter_context(user_cache())
        else:
            check_folders(out, source)
            stack.enter_context(writing_to(out))
            cache = Cache(out / CACHE)
        callback = stack.enter_context(screen.progress(quiet=quiet))
        yield Context(cache, LocalExecutor(workers or cores()), callback, redo)


def _narrated_tasks(
    command: typer.Context, source: Path, context: Context, problems: list[Problem]
) -> Iterator[tuple[Task, RunOptions, str]]:
    """Yield the tasks under a path, with mentions, their options, and the names of their folders.

    Problems are appended to the list.
    """
    requested = options.requested(command)
    check_parser(requested.parser)
    collection = read_source(source)
    problems += collection.problems
    problems += check_choices(collection.tasks, requested, options.named_in(command, source))
    named = titled(collection.tasks, requested.title)
    for task, job in zip(collection.tasks, named, strict=True):
        narrated, found = prepare_narration(job, requested, context)
        problems += found
        yield narrated, requested, task.name


def narration(
    command: typer.Context,
    source: options.Input,
    out: options.StageOut = None,
    json_file: options.JsonFile = None,
    mode: options.AnyMode = "default",
    speech: options.Speech = options.SPEECH,
    device: options.AnyDevice = "cpu",
    parser: options.Parser = None,
    title: options.Title = None,
    workers: options.Workers = None,
    quiet: options.Quiet = False,
) -> None:
    """Show what narrators say they do, and when.

    Reads SubRip, WebVTT, YouTube json3 and srv3, TTML, Whisper and WhisperX JSON, TSV and CSV, and
    detects the format from the content. For each video it finds sentences and verb–object relations
    with their times; for each job, the relations that most videos share.

    Example: howsteps narration captions/ --json narration.json
    """
    problems: list[Problem] = []
    records: dict[str, Any] = {}  # filled only for --json, to save memory with many tasks
    found = False
    with stage_context(source, out, workers=workers, quiet=quiet) as context:
        for task, *_ in _narrated_tasks(command, source, context, problems):
            found = found or any(video.mentions for video in task.videos)
            if json_file is not None:
                records[task.name] = {"videos": {v.id: record(v) for v in task.videos}}
            if str(json_file) != "-":
                show_task(task)
    if json_file is not None:
        screen.write_json(document(records), json_file)
    screen.finish(problems, found=found)


def script(
    command: typer.Context,
    source: options.Input,
    out: options.StageOut = None,
    steps: options.Steps = None,
    mode: options.AnyMode = "default",
    seed: options.Seed = 0,
    speech: options.Speech = options.SPEECH,
    device: options.AnyDevice = "cpu",
    parser: options.Parser = None,
    title: options.Title = None,
    keep_all: options.KeepAll = False,
    keep: options.Keep = None,
    drop: options.Drop = None,
    workers: options.Workers = None,
    quiet: options.Quiet = False,
) -> None:
    """List the steps of a job, in order.

    INPUT is as for 'run', and so is the script.

    Example: howsteps script captions/ --steps 10 --out steps/
    """
    problems: list[Problem] = []
    scripts: dict[str, tuple[Task, Script]] = {}  # by the name of its folder
    n_tasks = 0
    with stage_context(source, out, workers=workers, quiet=quiet) as context:
        for all_videos, requested, name in _narrated_tasks(command, source, context, problems):
            n_tasks += 1
            filtered = set_aside_other_jobs(all_videos, requested)
            task = filtered.task
            problems += filtered.remarks
            if not any(video.mentions for video in task.videos):
                continue  # there is a remark on every video
            found = discover_script(task, requested, context)
            problems += script_remarks(task, found, requested)
            scripts[name] = task, found
            show_script(task, found)
            if found.steps:
                show_order_variation(partial_order(task, found))
    if out is not None:
        for name, (task, found) in scripts.items():
            own = Folder(out) if n_tasks == 1 else Folder(out) / name
            own.check()
            problems += write_script(task, found, own.path)
    screen.finish(problems, found=bool(scripts))


def show_script(task: Task, found: Script) -> None:
    """Print the steps, with the number of videos in which each is said."""
    screen.out.print(
        f"\n[bold]{escape(task.name)}[/]: {screen.plural(len(found.steps), 'step')} "
        f"from {screen.plural(len(task.videos), 'video')}"
    )
    if not found.steps:
        screen.out.print("no relation stands out; try more videos, or a higher --steps")
        return
    if not any(step.support for step in found.steps):
        return  # nobody names them
    wide = screen.is_wide()
    table = screen.table("step", right=("videos",), expand=wide)
    table.add_column("", no_wrap=True, width=BAR)
    if wide:
        table.add_column("for example", no_wrap=True, overflow="ellipsis", ratio=1)
    digits = len(str(len(found.steps)))
    for number, step in enumerate(found.steps, 1):
        length = max(1, round(BAR * step.support / len(task.videos))) if step.support else 0
        cells = (
            screen.cut(f"[dim]{number:{digits}}[/]  {shown_label(step)}"),
            str(step.support),
            f"[green]{'█' * length}[/]",
            escape(step.examples[0] if step.examples else ""),
        )
        table.add_row(*cells[: len(table.columns)])
    screen.out.print(table)


def shown_label(step: Step) -> str:
    """The label of a step as in ``script.md``: "or lift it", "dry it (optional)"."""
    before, after = "or " * step.alternative, " (optional)" * step.optional
    return f"{before}[bold]{escape(step.label)}[/]{after}"


def show_order_variation(order: PartialOrder) -> None:
    """Print which steps are swapped in some videos, and which are often left out."""
    swaps = sorted(order.swaps, key=lambda swap: -swap.swapped)[:MAX_SWAPS]
    pairs = [
        f"{swap.one + 1} and {swap.two + 1} "
        f"(in {swap.swapped} of {screen.plural(swap.swapped + swap.in_order, 'video')})"
        for swap in swaps
    ]
    rare = [str(index + 1) for index in order.rarely_mentioned]
    for what, steps in (
        ("swapped in some videos: steps", pairs),
        ("few videos mention step", rare),
    ):
        if steps:
            screen.out.print(f"[dim]{what} {', '.join(steps)}[/]", soft_wrap=True)


def document(records: dict[str, Any]) -> dict[str, Any]:
    """The JSON of one task, whose name is a value in it, or of several, each under its name."""
    if len(records) == 1:
        [(name, record)] = records.items()
        return {"version": VERSION, "task": name, **record}
    return {"version": VERSION, "tasks": records}


def record(video: Video) -> dict[str, Any]:
    """The sentences and relations of a video, as JSON values."""
    narration = msgspec.to_builtins(narration_record(video))
    return {
        "title": video.title,
        "sentences": narration["sentences"],
        "relations": [
            {**entry, "act": mention.is_work}
            for entry, mention in zip(narration["mentions"], video.mentions, strict=True)
        ],
    }


def show_task(task: Task) -> None:
    """Print the most common relations of a task; of a single video, all that is said in it."""
    relations = common_relations(task)
    mentions = sum(len(video.mentions) for video in task.videos)
    screen.out.print(
        f"\n[bold]{escape(task.name)}[/]: {screen.plural(len(task.videos), 'video')}, "
        f"{sum(len(video.sentences) for video in task.videos):,} sentences, "
        f"{mentions:,} mentions of {len(relations):,} relations"
    )
    if len(task.videos) == 1:
        show_video(task.videos[0])
        return
    table = screen.table("relation", right=("videos", "mentions"))
    for common in relations[:MAX_RELATIONS]:
        name = screen.cut(escape(str(common.relation)))
        table.add_row(name, str(common.videos), str(common.mentions))
    screen.out.print(table)


def show_video(video: Video) -> None:
    """Print the sentences of a video with their times, and under each its relations."""
    screen.out.print(f"\n[bold]{escape(video.id)}[/] {escape(video.title)}")
    for index, sentence in enumerate(video.sentences):
        screen.out.print(f"[dim]{format_time(sentence.start):>7}[/]  {escape(sentence.text)}")
        for mention in video.mentions:
            if mention.sentence == index:
                screen.out.print(f"{'':9}[green]→ {escape(describe(mention))}[/]")


def describe(mention: Mention) -> str:
    """A mention in one line: ``not: remove the nuts  (62.0–64.1 s)``."""
    denied = "not: " if mention.negated else ""
    return f"{denied}{mention.phrase}  ({mention.start:.1f}–{mention.end:.1f} s)"
