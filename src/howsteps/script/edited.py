"""A script that a person may have edited, taken as given.

The file is what ``howsteps run`` and ``howsteps script --json`` write (:mod:`.record`). To rename a
step, change its label; to delete it, delete its object; to reorder, move objects; to merge two
steps, move the mentions of one into the list of the other. A step without mentions is one that
nobody names. ``support``, ``relations`` and ``alignment`` follow from the rest and are not read.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from howsteps.datasets.text import read_json
from howsteps.errors import InputError
from howsteps.script.record import VERSION
from howsteps.task import Mention, Script, Step, Task

_CLOSE = 0.0015  # seconds: times in the file are rounded to the millisecond


def read_script(path: Path, task: Task) -> Script:
    """Read the script of a task whose narrations have been heard.

    Raises
    ------
    InputError
        The file is no script, or names a mention that the narrations do not have; the message says
        which step and which mention.
    """
    value = _script_of(read_json(path), task.name, path)
    entries = value.get("steps")
    if not isinstance(entries, list) or not entries:
        raise InputError(path, "has no list of steps")
    steps = [_step(entry, number, task, path) for number, entry in enumerate(entries, 1)]
    owner: dict[Mention, int] = {}
    for number, step in enumerate(steps, 1):
        for mention in step.mentions:
            if (first := owner.setdefault(mention, number)) != number:
                reason = f"{mention.phrase!r} at {mention.start:.3f} s of video {mention.video!r}"
                raise InputError(path, f"{reason} stands in step {first} and in step {number}")
    return Script(tuple(steps))


def _script_of(value: Any, task: str, path: Path) -> Mapping[str, Any]:
    """The part of the file that is about this task."""
    if not isinstance(value, dict):
        raise InputError(path, "is not a script: an object with 'steps'")
    if value.get("version") != VERSION:
        raise InputError(path, f"is version {value.get('version')!r} of a script, not {VERSION}")
    if isinstance(tasks := value.get("tasks"), dict):
        if not isinstance(found := tasks.get(task), dict):
            raise InputError(path, f"has no script for the task {task!r}")
        return found
    if value.get("task", task) != task:
        raise InputError(path, f"is a script for {value['task']!r}, and the task is {task!r}")
    return value


def _step(entry: Any, number: int, task: Task, path: Path) -> Step:
    if not isinstance(entry, dict):
        raise InputError(path, f"step {number} is not an object")
    label = entry.get("label")
    if not (isinstance(label, str) and label.strip()):
        raise InputError(path, f"step {number} has no label")
    mentions, examples = (entry.get(name, []) for name in ("mentions", "examples"))
    if not (isinstance(examples, list) and all(isinstance(each, str) for each in examples)):
        raise InputError(path, f"step {number}: 'examples' is not a list of texts")
    if not isinstance(mentions, list):
        raise InputError(path, f"step {number}: 'mentions' is not a list")
    places = {video.id: place for place, video in enumerate(task.videos)}
    found = [
        _mention(each, f"step {number}, mention {place}", task, path)
        for place, each in enumerate(mentions, 1)
    ]
    found.sort(key=lambda m: (places[m.video], m.start, m.end))
    return Step(" ".join(label.split()), tuple(found), tuple(examples))


def _mention(entry: Any, where: str, task: Task, path: Path) -> Mention:
    if not isinstance(entry, dict):
        raise InputError(path, f"{where} is not an object")
    video, start, end = (entry.get(name) for name in ("video", "start", "end"))
    if not (isinstance(start, int | float) and isinstance(end, int | float)):
        raise InputError(path, f"{where}: 'start' and 'end' are not times in seconds")
    [*heard] = (each.mentions for each in task.videos if each.id == video)
    if not heard:
        raise InputError(path, f"{where}: there is no video {video!r}")
    matching = list(_at(heard[0], float(start), float(end), entry))
    if not matching:
        reason = f"video {video!r} names nothing from {start} to {end} s"
        raise InputError(path, f"{where}: {reason} (was its narration read in another mode?)")
    return matching[0]


def _at(
    mentions: tuple[Mention, ...], start: float, end: float, entry: Mapping[str, Any]
) -> Iterator[Mention]:
    """The mentions at a time, of the verb and noun where the file gives them."""
    for mention in mentions:
        if (
            abs(mention.start - start) < _CLOSE
            and abs(mention.end - end) < _CLOSE
            and entry.get("verb", mention.verb) == mention.verb
            and entry.get("noun", mention.noun) == mention.noun
        ):
            yield mention
