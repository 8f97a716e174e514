"""What every command on narrations begins with: read, transcribe where needed, hear."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from howsteps._cli import screen
from howsteps._cli.options import Mode
from howsteps.errors import InputError, Problem
from howsteps.task import Task


def heard_tasks(
    source: Path,
    problems: list[Problem],
    *,
    mode: Mode,
    model: str | None,
    speech: str | None,
    cache: Path,
    quiet: bool,
) -> Iterator[Task]:
    """Hear the tasks under a path one after another; what went wrong joins ``problems``."""
    from howsteps import datasets  # noqa: PLC0415 - kept out of the start of every command
    from howsteps.narration import extract_relations  # noqa: PLC0415

    collection = datasets.read_tasks(source)
    problems += collection.problems
    for found in collection.tasks:
        spoken, flaws = with_speech(found, speech, cache, quiet)
        problems += flaws
        with screen.progress(f"hearing {found.name}", len(spoken.videos), quiet=quiet) as advance:
            task = extract_relations(spoken, mode=mode, model=model, progress=lambda _: advance())
        problems += (
            Problem(source, f"{video.id}: no relation found in its narration")
            for video in task.videos
            if video.captions and not video.mentions
        )
        yield task


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
                    captions = transcribe(video.media, model=model, cache=cache.expanduser())
                    videos.append(replace(video, captions=captions))
                except InputError as error:
                    problems.append(error.problem)
                advance()
    return replace(task, videos=tuple(videos)), problems
