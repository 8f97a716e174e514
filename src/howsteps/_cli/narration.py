"""``howsteps narration``: what the narrators of a job say they do, and when."""

import json
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from howsteps._cli import screen
from howsteps.errors import HowstepsError, InputError, Problem
from howsteps.narration.record import record
from howsteps.narration.summary import Common, common_relations
from howsteps.task import Mention, Sentence, Task, Video

# Exit codes: 0 all was read; 1 nothing could be done; 3 done, but something was set aside.
SOME_PROBLEMS = 3
WIDE = 100  # columns that a quotation needs to be worth its place
TRANSCRIPTS = Path.home() / ".cache" / "howsteps" / "transcripts"


class Mode(StrEnum):
    """Which ways of naming an object count."""

    default = "default"
    paper = "paper"
    authors = "authors"


def narration(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help="A caption file, a folder of caption files (one task), a task JSON, or a folder "
            "of those.",
        ),
    ],
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write all of it as JSON ('-': to stdout)."),
    ] = None,
    mode: Annotated[
        Mode,
        typer.Option(
            help="'paper' and 'authors' take active direct objects only; 'default' adds passives, "
            "relative clauses, measures and pronouns."
        ),
    ] = Mode.default,
    top: Annotated[int, typer.Option(min=1, help="How many relations to list.")] = 20,
    videos: Annotated[
        bool, typer.Option("--videos", help="List every sentence and relation of every video.")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option("--parser", metavar="NAME", help="Another spaCy pipeline, by name or folder."),
    ] = None,
    speech: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Transcribe videos that have no captions with this Whisper model (a name such as "
            "'small.en', or a folder). Needs: pip install 'howsteps[asr]'.",
        ),
    ] = None,
    cache: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="Where transcripts are kept."),
    ] = TRANSCRIPTS,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Show what the narrators of a job say they do, and when.

    Reads SubRip, WebVTT, YouTube json3 and srv3, TTML, Whisper and WhisperX JSON, TSV and CSV, told
    apart by content. For every video: sentences and verb–object relations with times. For every
    task: the relations that most videos share.

    Example: howsteps narration captions/ --json narration.json
    """
    from howsteps import datasets  # noqa: PLC0415 - kept out of the start of every command
    from howsteps.narration import hear  # noqa: PLC0415

    collection = datasets.read(source)
    problems = list(collection.problems)
    tasks = []
    for found in collection.tasks:
        spoken, flaws = with_speech(found, speech, cache, quiet)
        with screen.progress(f"hearing {found.name}", len(spoken.videos), quiet=quiet) as advance:
            task = hear(spoken, mode=mode, model=model, progress=lambda _: advance())
        problems += flaws
        problems += (
            Problem(source, f"{video.id}: no relation found in its narration")
            for video in task.videos
            if video.captions and not video.mentions
        )
        tasks.append(task)
    if json_file is not None:
        write_json(record(tasks), json_file)
    if str(json_file) != "-":
        for task in tasks:
            show_task(task, top, each_video=videos or len(task.videos) == 1)
    screen.show_problems(problems)
    if not any(video.mentions for task in tasks for video in task.videos):
        raise typer.Exit(1)
    if not all(problem.harmless for problem in problems):
        raise typer.Exit(SOME_PROBLEMS)


def with_speech(
    task: Task, model: str | None, cache: Path, quiet: bool
) -> tuple[Task, list[Problem]]:
    """Transcribe the videos that come without captions, or say how that is done."""
    from howsteps.narration.speech import transcribe  # noqa: PLC0415

    videos, problems = [], []
    silent = [video for video in task.videos if not video.captions and video.media]
    with screen.progress("transcribing", len(silent), quiet=quiet or not model) as advance:
        for video in task.videos:
            if video.captions or video.media is None:
                videos.append(video)
            elif model is None:
                reason = "has no captions; --speech small.en transcribes it"
                problems.append(Problem(video.media, reason))
            else:
                try:
                    captions = transcribe(video.media, model=model, cache=cache)
                    videos.append(replace(video, captions=captions))
                except InputError as error:
                    problems.append(error.problem)
                advance()
    return replace(task, videos=tuple(videos)), problems


def write_json(content: object, path: Path) -> None:
    """Write JSON to a file, or to stdout for ``-``."""
    text = json.dumps(content, ensure_ascii=False, indent=1)
    if str(path) == "-":
        print(text)
        return
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise HowstepsError(f"cannot write {path}: {error.strerror}") from error


def show_task(task: Task, top: int, *, each_video: bool) -> None:
    """Print a task's common relations, and its videos where asked for."""
    relations = common_relations(task)
    mentions = sum(len(video.mentions) for video in task.videos)
    screen.out.print(
        f"\n[bold]{escape(task.name)}[/]: {plural(len(task.videos), 'video')}, "
        f"{sum(len(video.sentences) for video in task.videos):,} sentences, "
        f"{mentions:,} mentions of {len(relations):,} relations"
    )
    if each_video:
        for video in task.videos:
            show_video(video)
    if len(task.videos) > 1:
        screen.out.print(relation_table(task, relations[:top]))


def relation_table(task: Task, relations: Sequence[Common]) -> Table:
    """The relations of a task, how many videos name them, and how."""
    wide = screen.out.width >= WIDE
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
            f"[dim]{screen.clock(shown.start)}[/] {escape(quote)}",
        )
        table.add_row(*cells[: len(table.columns)])
    return table


def plural(count: int, noun: str) -> str:
    """``1 video``, ``13 videos``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def excerpt(mention: Mention, sentence: Sentence, around: float = 1.0) -> str:
    """The words of a sentence that are spoken within a second of a mention."""
    start, end = mention.start - around, mention.end + around
    words = [word.text for word in sentence.words if word.end > start and word.start < end]
    return " ".join(words)


def show_video(video: Video) -> None:
    """Print a video's sentences with their times, and under each the relations in it."""
    screen.out.print(f"\n[bold]{escape(video.id)}[/] {escape(video.title)}")
    for number, sentence in enumerate(video.sentences):
        screen.out.print(f"[dim]{screen.clock(sentence.start):>7}[/]  {escape(sentence.text)}")
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
