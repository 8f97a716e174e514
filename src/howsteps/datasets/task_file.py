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
)
from howsteps.datasets.annotations import DataSet, GroundTruth, Row, Source, truth_of
from howsteps.datasets.names import Names
from howsteps.errors import InputError, Problem
from howsteps.store import converted, read_record
from howsteps.task import LATEST, Caption, Rule, Task, Truth, Video

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


def _has_truth(source: Source) -> bool:
    """Look for ``step_names`` beside ``videos``."""
    value = source.json
    return (
        isinstance(value, dict)
        and isinstance(value.get("videos"), dict)
        and isinstance(value.get("step_names"), list)
    )


def _read_truth(source: Source) -> GroundTruth:
    """Read the truth in a task file; videos without ``steps`` were not annotated."""
    path = source.path
    try:
        found = converted(source.json, TaskTruth)
    except ValueError as error:
        raise InputError(path, str(error)) from None
    steps, videos = found.step_names, {v: e for v, e in found.videos.items() if e.steps is not None}
    if len({step for step in steps if step.strip()}) < len(steps):
        raise InputError(path, "step_names has the same name twice, or an empty one")
    if not videos:
        raise InputError(path, "has step_names, but no video with steps")
    rows = []
    for video, entry in videos.items():
        for number, (step, start, end) in enumerate(entry.steps or (), 1):
            where = f"video {video}, row {number} of steps: "
            if not 0 < step <= len(steps):
                reason = f"step {step} is unknown: there are {len(steps)} steps"
                raise InputError(path, f"{where}{reason}")
            rows.append(Row(path, video, steps[step - 1], start, end, where=where))
    durations = {video: entry.duration for video, entry in videos.items()}
    return truth_of(path, (found.task or "").strip() or path.stem, steps, durations, rows)


class TrueVideo(Struct):
    """A video of a task file; one without ``steps`` was not annotated."""

    steps: list[tuple[int, float, float]] | None = None
    duration: float | None = None


class TaskTruth(Struct):
    """The truth in a task file."""

    step_names: Annotated[list[str], Meta(min_length=1)]
    videos: dict[str, TrueVideo]
    task: str | None = None


TASK_FILE = DataSet("a task file with step_names", _has_truth, _read_truth, narrated=True)


class Judgements(Struct):
    """A judgement file."""

    rules: dict[str, tuple[Rule, ...]]


def read_judgements(path: Path, steps: tuple[str, ...]) -> dict[str, tuple[Rule, ...]]:
    """Read the rules for each of ``steps``; a step without rules is never recovered."""
    rules = read_record(path, Judgements).rules
    if unknown := [name for name in rules if name not in steps]:
        raise InputError(path, f"has rules for {unknown[0]!r}, which is not a true step")
    return rules


def find_judgements(root: Path, truths: Iterable[Truth]) -> dict[str, dict[str, tuple[Rule, ...]]]:
    """Return the judgements in the files under a folder, by name of the task.

    A file belongs to the tasks that have all steps for which it has rules.
    """
    found: dict[str, dict[str, tuple[Rule, ...]]] = {}
    for path in sorted(root.rglob("*.json")):
        try:
            rules = read_record(path, Judgements).rules
        except InputError:
            continue  # it is something else
        found |= {truth.task: rules for truth in truths if rules.keys() <= set(truth.steps)}
    return found


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
