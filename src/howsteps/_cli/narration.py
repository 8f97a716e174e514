"""``howsteps narration``: what the narrators of a job say they do, and when."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from howsteps._cli import options, screen
from howsteps._cli.options import narrated_tasks, stage_context
from howsteps.errors import Problem
from howsteps.io.text import format_time
from howsteps.narration.relations import CommonRelation, common_relations
from howsteps.records import narration_record
from howsteps.task import Mention, Sentence, Task, Video

VERSION = 1  # of the JSON format


def narration(
    source: options.Source,
    out: options.StageOut = None,
    json_file: options.JsonFile = None,
    mode: Annotated[
        options.Mode,
        typer.Option(
            help="'paper' and 'authors' use only active verbs with a direct object; 'default' "
            "adds passives, relative clauses, measures and pronouns."
        ),
    ] = options.Mode.default,
    top: Annotated[int, typer.Option(min=1, help="How many relations to list.")] = 20,
    videos: Annotated[
        bool, typer.Option("--videos", help="List every sentence and relation of every video.")
    ] = False,
    speech: options.Speech = options.SPEECH,
    device: options.Device = options.Processor.cpu,
    parser: options.Parser = None,
    title: options.Title = None,
    workers: options.Workers = None,
    quiet: options.Quiet = False,
) -> None:
    """Show what the narrators of a job say they do, and when.

    Reads SubRip, WebVTT, YouTube json3 and srv3, TTML, Whisper and WhisperX JSON, TSV and CSV, and
    detects the format from the content. For each video it finds sentences and verb–object relations
    with their times; for each job, the relations that most videos share.

    Example: howsteps narration captions/ --json narration.json
    """
    requested = options.run_options(
        mode=mode, parser=parser, speech=speech, device=device, title=title
    )
    problems: list[Problem] = []
    records: dict[str, Any] = {}  # filled only for --json, to save memory with many tasks
    found = False
    with stage_context(source, out, workers=workers, quiet=quiet) as context:
        for task in narrated_tasks(source, requested, context, problems):
            found = found or any(video.mentions for video in task.videos)
            if json_file is not None:
                records[task.name] = {video.id: record(video) for video in task.videos}
            if str(json_file) != "-":
                show_task(task, top, each_video=videos or len(task.videos) == 1)
    if json_file is not None:
        screen.write_json(document(records), json_file)
    screen.finish(problems, found=found)


def document(records: dict[str, Any]) -> dict[str, Any]:
    """The JSON of one or more tasks.

    One task::

        {"version": 1, "task": …, "videos": {id: {"title", "sentences": […], "relations": […]}}}

    Several tasks::

        {"version": 1, "tasks": {name: {"videos": …}}}

    Sentences and relations are as in ``result.json``.
    """
    if len(records) == 1:
        [(name, videos)] = records.items()
        return {"version": VERSION, "task": name, "videos": videos}
    return {
        "version": VERSION,
        "tasks": {name: {"videos": videos} for name, videos in records.items()},
    }


def record(video: Video) -> dict[str, Any]:
    """The sentences and relations of a video, as JSON values."""
    narration = narration_record(video)
    return {
        "title": video.title,
        "sentences": narration["sentences"],
        "relations": [
            {**entry, "act": mention.is_work}
            for entry, mention in zip(narration["mentions"], video.mentions, strict=True)
        ],
    }


def show_task(task: Task, top: int, *, each_video: bool) -> None:
    """Print the common relations of a task, and its videos if requested."""
    relations = common_relations(task)
    mentions = sum(len(video.mentions) for video in task.videos)
    screen.out.print(
        f"\n[bold]{escape(task.name)}[/]: {screen.plural(len(task.videos), 'video')}, "
        f"{sum(len(video.sentences) for video in task.videos):,} sentences, "
        f"{mentions:,} mentions of {len(relations):,} relations"
    )
    if each_video:
        for video in task.videos:
            show_video(video)
    if len(task.videos) > 1:
        screen.out.print(relation_table(task, relations[:top]))


def relation_table(task: Task, relations: Sequence[CommonRelation]) -> Table:
    """The relations of a task, how many videos mention them, and how they are phrased."""
    wide = screen.is_wide()
    table = Table(box=None, pad_edge=False, header_style="dim", expand=wide)
    for heading in ("videos", "mentions"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("relation", no_wrap=True)
    table.add_column("usually said as", no_wrap=True)
    if wide:
        table.add_column("for example", no_wrap=True, overflow="ellipsis", ratio=1)
    sentences = {video.id: video.sentences for video in task.videos}
    for common in relations:
        example = common.example
        quote = excerpt(example, sentences[example.video][example.sentence])
        cells = (
            str(common.videos),
            str(common.mentions),
            escape(str(common.relation)),
            escape(common.phrase),
            f"[dim]{format_time(example.start)}[/] {escape(quote)}",
        )
        table.add_row(*cells[: len(table.columns)])
    return table


def excerpt(mention: Mention, sentence: Sentence, around: float = 1.0) -> str:
    """The words of a sentence that are spoken within a second of a mention."""
    start, end = mention.start - around, mention.end + around
    words = [word.text for word in sentence.words if word.end > start and word.start < end]
    return " ".join(words)


def show_video(video: Video) -> None:
    """Print the sentences of a video with their times, and under each its relations."""
    screen.out.print(f"\n[bold]{escape(video.id)}[/] {escape(video.title)}")
    for index, sentence in enumerate(video.sentences):
        screen.out.print(f"[dim]{format_time(sentence.start):>7}[/]  {escape(sentence.text)}")
        for mention in video.mentions:
            if mention.sentence == index:
                screen.out.print(f"{'':9}[green]→ {escape(describe(mention))}[/]")


def describe(mention: Mention) -> str:
    """A mention in one line: ``not: remove the nuts  (resolved, 1:02–1:04)``."""
    marks = [
        *([mention.modal] if mention.modal else []),
        *(["passive"] if mention.passive else []),
        *(["pronoun resolved"] if mention.resolved else []),
        f"{mention.start:.1f}–{mention.end:.1f} s",
    ]
    return f"{'not: ' if mention.negated else ''}{mention.phrase}  ({', '.join(marks)})"
