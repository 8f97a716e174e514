"""The true steps in a task file: ``step_names`` of the task and ``steps`` of each video.

``steps`` are rows ``[number of the step from 1, start, end]``. The narrations of the same file are
read by ``task_file``.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from howsteps.datasets.annotations import Row, number, settle
from howsteps.errors import InputError, Problem
from howsteps.task import Truth


def recognises(value: Any) -> bool:
    """Look for the names of steps beside videos."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("videos"), dict)
        and isinstance(value.get("step_names"), list)
    )


def read_task_truth(value: Any, path: Path) -> tuple[Truth, list[Problem]]:
    """Make a truth of the contents of a task file; ``path`` names it in errors.

    Videos without ``steps`` were not looked at, and are no part of the truth.
    """
    steps = value["step_names"]
    if not steps or not all(isinstance(step, str) and step.strip() for step in steps):
        raise InputError(path, "step_names is not a list of names")
    if len(set(steps)) < len(steps):
        raise InputError(path, "step_names has the same name twice")
    videos = {
        video: entry
        for video, entry in value["videos"].items()
        if isinstance(entry, dict) and entry.get("steps") is not None
    }
    if not videos:
        raise InputError(path, "has step_names, but no video with steps")
    durations = {
        video: None
        if entry.get("duration") is None
        else number(entry["duration"], path, f"video {video}: duration")
        for video, entry in videos.items()
    }
    name = value.get("task")
    task = name.strip() if isinstance(name, str) and name.strip() else path.stem
    return settle(path, task, steps, durations, _rows(videos, path), merge=True)


def _rows(videos: Mapping[str, Any], path: Path) -> Iterator[Row]:
    for video, entry in videos.items():
        if not isinstance(entry["steps"], list):
            raise InputError(path, f"video {video}: steps is not a list")
        for place, row in enumerate(entry["steps"], 1):
            where = f"video {video}, row {place} of steps: "
            if not (isinstance(row, list) and len(row) == 3 and isinstance(row[0], int)):
                raise InputError(path, f"{where}is not [step, start, end]")
            start, end = (number(time, path, f"{where}a time") for time in row[1:])
            yield Row(video, row[0] - 1, start, end, place=where)
