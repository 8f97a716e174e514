"""One JSON file that holds the videos of one task.

Either ``{"task": name, "videos": {id: {"duration": …, "asr": [[start, end, text], …]}}}`` or a list
of ``{"id": …, "title": …, "asr": …}``. What else the file holds, as true steps, is not read here.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from howsteps.captions.language import NOT_ENGLISH, is_english
from howsteps.captions.reading import problems_of_flaws, repair_parsed
from howsteps.captions.repair import printable
from howsteps.captions.tabular import parse_json_rows
from howsteps.captions.timing import seconds
from howsteps.datasets.names import Names
from howsteps.errors import Problem
from howsteps.task import Caption, Task, Video


def recognises(value: Any) -> bool:
    """Look for an object with ``videos``, or a list with captions under ``asr``."""
    if isinstance(value, dict):
        return isinstance(value.get("videos"), dict | list)
    return isinstance(value, list) and any(
        isinstance(entry, dict) and "asr" in entry for entry in value
    )


def read_task_file(value: Any, path: Path) -> tuple[Task, list[Problem]]:
    """Make a task of the contents of a task file; ``path`` names it in problems."""
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
        captions, found = _captions(entry.get("asr"), name, path)
        problems += found
        if not is_english(captions):
            problems.append(Problem(path, f"video {name}: {NOT_ENGLISH}"))
            continue
        title = entry.get("title")
        duration = seconds(entry.get("duration"))
        if duration is not None and duration <= 0:
            problems.append(Problem(path, f"video {name}: a duration of {duration:g} s is none"))
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


def _entries(value: Any) -> Iterable[tuple[Any, Any]]:
    """Pairs of an id and a video."""
    videos = value["videos"] if isinstance(value, dict) else value
    if isinstance(videos, dict):
        return videos.items()
    return [(entry.get("id") if isinstance(entry, dict) else None, entry) for entry in videos]


def _captions(asr: Any, name: str, path: Path) -> tuple[tuple[Caption, ...], list[Problem]]:
    if not isinstance(asr, list):
        return (), [Problem(path, f"video {name}: has no captions")]
    captions, flaws = repair_parsed(parse_json_rows(asr))
    problems = problems_of_flaws(flaws, path)
    return captions, [Problem(path, f"video {name}: {problem.reason}") for problem in problems]
