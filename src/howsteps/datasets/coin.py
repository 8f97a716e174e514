"""COIN: ``COIN.json`` as released, one truth for each of its tasks (``class``).

Each video of ``database`` has ``class``, ``duration``, ``subset`` and ``annotation``: a list of
``{"id", "label", "segment": [start, end]}``. The steps of a task are its labels in the order of
their ids.
"""

from collections import defaultdict
from pathlib import Path
from typing import Any

from howsteps.datasets import database
from howsteps.errors import InputError, Problem
from howsteps.task import Truth


def recognises(value: Any) -> bool:
    """Look for a database of videos with a class."""
    return database.has(value, "class", "annotation")


def read_coin(value: Any, path: Path) -> tuple[tuple[Truth, ...], list[Problem]]:
    """Make the truths of the contents of ``COIN.json``; ``path`` names it in errors."""
    tasks: dict[str, list[database.Clip]] = defaultdict(list)
    ids: dict[str, dict[str, int]] = defaultdict(dict)
    for clip in database.clips(value, path, segments="annotation", label="label"):
        task = clip.entry.get("class")
        if not (isinstance(task, str) and task):
            raise InputError(path, f"video {clip.video}: has no class")
        tasks[task].append(clip)
        for segment in clip.segments:
            ids[task].setdefault(segment.label, _id(segment, path))
    steps = {task: sorted(found, key=lambda label: found[label]) for task, found in ids.items()}
    return database.truths(tasks, steps, path)


def _id(segment: database.Segment, path: Path) -> int:
    try:
        return int(segment.entry["id"])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError(path, f"{segment.place}has no id that is a number") from None
