"""``howsteps narration``: what the narrators of a job say they do, and when."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from howsteps._cli import options, screen
from howsteps._cli.hearing import heard_tasks
from howsteps._cli.outcome import finish, write_json
from howsteps.errors import Problem
from howsteps.io.timestamps import format_time
from howsteps.narration.record import record
from howsteps.narration.summary import CommonRelation, common_relations
from howsteps.task import Mention, Sentence, Task, Video


def narration(
    source: options.Source,
    json_file: options.JsonFile = None,
    mode: Annotated[
        options.Mode,
        typer.Option(
            help="'paper' and 'authors' take active direct objects only; 'default' adds passives, "
            "relative clauses, measures and pronouns."
        ),
    ] = options.Mode.default,
    top: Annotated[int, typer.Option(min=1, help="How many relations to list.")] = 20,
    videos: Annotated[
        bool, typer.Option("--videos", help="List every sentence and relation of every video.")
    ] = False,
    model: options.Parser = None,
    speech: options.Speech = None,
    cache: options.Cache = options.TRANSCRIPTS,
    quiet: options.Quiet = False,
) -> None:
    """Show what the narrators of a job say they do, and when.

    Reads SubRip, WebVTT, YouTube json3 and srv3, TTML, Whisper and WhisperX JSON, TSV and CSV, told
    apart by content. For every video: sentences and verb–object relations with times. For every
    task: the relations that most videos share.

    Example: howsteps narration captions/ --json narration.json
    """
    problems: list[Problem] = []
    kept: list[Task] = []  # only for the JSON: memory must not grow with the number of tasks
    found = False
    for task in heard_tasks(
        source, problems, mode=mode, model=model, speech=speech, cache=cache, quiet=quiet
    ):
        found = found or any(video.mentions for video in task.videos)
        if json_file is not None:
            kept.append(task)
        if str(json_file) != "-":
            show_task(task, top, each_video=videos or len(task.videos) == 1)
    if json_file is not None:
        write_json(record(kept), json_file)
    finish(problems, found=found)


def show_task(task: Task, top: int, *, each_video: bool) -> None:
    """Print a task's common relations, and its videos where asked for."""
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
    """The relations of a task, how many videos name them, and how."""
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
        shown = common.example
        quote = excerpt(shown, sentences[shown.video][shown.sentence])
        cells = (
            str(common.videos),
            str(common.mentions),
            escape(str(common.relation)),
            escape(common.phrase),
            f"[dim]{format_time(shown.start)}[/] {escape(quote)}",
        )
        table.add_row(*cells[: len(table.columns)])
    return table


def excerpt(mention: Mention, sentence: Sentence, around: float = 1.0) -> str:
    """The words of a sentence that are spoken within a second of a mention."""
    start, end = mention.start - around, mention.end + around
    words = [word.text for word in sentence.words if word.end > start and word.start < end]
    return " ".join(words)


def show_video(video: Video) -> None:
    """Print a video's sentences with their times, and under each the relations in it."""
    screen.out.print(f"\n[bold]{escape(video.id)}[/] {escape(video.title)}")
    for number, sentence in enumerate(video.sentences):
        screen.out.print(f"[dim]{format_time(sentence.start):>7}[/]  {escape(sentence.text)}")
        for mention in video.mentions:
            if mention.sentence == number:
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
