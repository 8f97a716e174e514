"""Task files and judgement files, in JSON.

A task file is ``{"task": name, "videos": {id: {"duration": …, "asr": [[start, end, text], …]}}}``
or a list of ``{"id": …, "title": …, "asr": …}``. It may contain ground truth too: ``step_names`` of
the task and ``steps`` of each video, rows of ``[number of the step from 1, start, end]``.

A judgement file lists the relations that annotators accept for each true step:
``{"rules": {name of a step: [{"verbs": […], "nouns": […]}, …]}}``.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from howsteps.captions.cues import printable, seconds
from howsteps.captions.json_formats import parse_json_rows
from howsteps.captions.reading import (
    NOT_ENGLISH,
    captions_of,
    is_english,
    summarised,
    why_uncertain,
)
from howsteps.datasets.annotations import AnnotationRow, GroundTruth, truth_of_rows
from howsteps.datasets.names import Names
from howsteps.errors import InputError, Problem
from howsteps.store import converted, read_record
from howsteps.task import LATEST, Caption, Rule, Task, Video

KEYS = _VIDEOS, _CAPTIONS = "videos", "asr"  # every task file has one of these


def is_task(value: Any) -> bool:
    """Look for an object with ``videos``, or a list with captions under ``asr``."""
    if isinstance(value, dict):
        return isinstance(value.get(_VIDEOS), dict | list)
    return isinstance(value, list) and any(
        isinstance(entry, dict) and _CAPTIONS in entry for entry in value
    )


def task_of_json(value: Any, path: Path) -> tuple[Task, list[Problem]]:
    """Return the task in the contents of a task file; ``path`` is used in messages."""
    problems: list[Problem] = []
    videos = []
    names = Names("video")
    for given, entry in _entries(value):
        name, changed = names.give(given)
        if changed:
            problems.append(Problem(path, changed, harmless=True))
        if not isinstance(entry, dict):
            problems.append(Problem(path, f"video {name}: is not an object; left out"))
            continue
        captions, caption_problems = _captions(entry.get("asr"), name, path)
        problems += caption_problems
        if not is_english(captions):
            problems.append(Problem(path, f"video {name}: {NOT_ENGLISH}"))
            continue
        if doubt := why_uncertain(captions):
            problems.append(Problem(path, f"video {name}: {doubt}", harmless=True))
        title = entry.get("title")
        duration = seconds(entry.get("duration"))
        if duration is not None and not 0 < duration <= LATEST:
            reason = f"video {name}: a duration of {duration:g} s is impossible; ignored"
            problems.append(Problem(path, reason))
            duration = None
        videos.append(
            Video(
                id=name,
                captions=captions,
                title=printable(title.strip()) if isinstance(title, str) else "",
                duration=duration,
            )
        )
    task = value.get("task") if isinstance(value, dict) else None
    name = task.strip() if isinstance(task, str) else ""
    return Task(name or path.stem, tuple(videos)), problems


def has_task_truth(value: Any) -> bool:
    """Look for ``step_names`` beside ``videos``."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("videos"), dict)
        and isinstance(value.get("step_names"), list)
    )


def truth_of_json(value: Any, path: Path) -> GroundTruth:
    """Return the truth in the contents of a task file; ``path`` is used in messages.

    Videos without ``steps`` were not annotated and are not part of the truth.
    """
    try:
        found = converted(value, TaskTruth)
    except ValueError as error:
        raise InputError(path, str(error)) from None
    steps, videos = found.step_names, {v: e for v, e in found.videos.items() if e.steps is not None}
    if len({step for step in steps if step.strip()}) < len(steps):
        raise InputError(path, "step_names has the same name twice, or an empty one")
    if not videos:
        raise InputError(path, "has step_names, but no video with steps")
    rows = (
        AnnotationRow(video, step - 1, start, end, where=f"video {video}, row {number} of steps: ")
        for video, entry in videos.items()
        for number, (step, start, end) in enumerate(entry.steps or (), 1)
    )
    durations = {video: entry.duration for video, entry in videos.items()}
    return truth_of_rows(
        path, (found.task or "").strip() or path.stem, steps, durations, rows, merge=True
    )


def has_judgements(value: Any) -> bool:
    """Look for ``rules``."""
    return isinstance(value, dict) and isinstance(value.get("rules"), dict)


class TrueVideo(Struct):
    """A video of a task file; one without ``steps`` was not annotated."""

    steps: list[tuple[int, float, float]] | None = None
    duration: float | None = None


class TaskTruth(Struct):
    """The truth in a task file."""

    step_names: Annotated[list[str], Meta(min_length=1)]
    videos: dict[str, TrueVideo]
    task: str | None = None


class Judgements(Struct):
    """A judgement file."""

    rules: dict[str, tuple[Rule, ...]]


def read_judgements(path: Path, steps: tuple[str, ...]) -> dict[str, tuple[Rule, ...]]:
    """Read the rules for each of ``steps``; a step without rules is never recovered."""
    rules = read_record(path, Judgements).rules
    if unknown := [name for name in rules if name not in steps]:
        raise InputError(path, f"has rules for {unknown[0]!r}, which is not a true step")
    return rules


def _entries(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return pairs of an id and the entry of a video."""
    videos = value["videos"] if isinstance(value, dict) else value
    if isinstance(videos, dict):
        return videos.items()
    return [(entry.get("id") if isinstance(entry, dict) else None, entry) for entry in videos]


def _captions(asr: Any, name: str, path: Path) -> tuple[tuple[Caption, ...], list[Problem]]:
    if not isinstance(asr, list):
        return (), [Problem(path, f"video {name}: has no captions")]
    try:
        captions, found = captions_of(parse_json_rows(asr))
    except InputError as error:
        return (), [Problem(path, f"video {name}: {error.problem.reason}")]
    problems = summarised(found, path, by_entry=True)
    return captions, [replace(each, reason=f"video {name}: {each.reason}") for each in problems]
