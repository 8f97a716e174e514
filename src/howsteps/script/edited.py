"""Read a ``script.json`` that a person may have edited.

The file is the ``script.json`` of ``howsteps run`` and ``howsteps script --json``. To rename a
step, change its label; to delete it, delete its object; to reorder, move objects; to merge two
steps, move the mentions of one into the list of the other. A step may have no mentions. The first
of ``relations`` names the step; the others, ``support`` and ``alignment`` are derived and not read.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from howsteps.errors import InputError
from howsteps.io.text import read_json
from howsteps.task import Mention, Relation, Script, Step, Task

VERSION = 1  # of the file format
_MAX_TIME = 1e9  # seconds
_TIME_TOLERANCE = 0.0015  # seconds: times in the file are rounded to the millisecond


def check_script(path: Path, task: Task) -> None:
    """Check everything that does not depend on mentions, which the task need not have yet.

    Raises
    ------
    InputError
        The file is not a script of this task, or names a video that the task does not have.
    """
    _entries(path, task)


def read_script(path: Path, task: Task) -> Script:
    """Read the script of a task with mentions.

    Raises
    ------
    InputError
        The file is not a script, or has a mention that the task does not have; the message says
        which step and which mention.
    """
    mentions_by_video = {video.id: video.mentions for video in task.videos}
    steps = [
        _step(entry, number, mentions_by_video, path)
        for number, entry in enumerate(_entries(path, task), 1)
    ]
    owner: dict[Mention, int] = {}
    for number, step in enumerate(steps, 1):
        for mention in step.mentions:
            if (first := owner.setdefault(mention, number)) != number:
                where = f"{mention.phrase!r} at {mention.start:.3f} s of video {mention.video!r}"
                raise InputError(path, f"{where} is in step {first} and in step {number}")
    return Script(tuple(steps))


def _entries(path: Path, task: Task) -> list[dict[str, Any]]:
    """The steps of the file, checked."""
    entries = _script_of(read_json(path), task.name, path).get("steps")
    if not isinstance(entries, list) or not entries:
        raise InputError(path, "has no list of steps")
    videos = {video.id for video in task.videos}
    for number, entry in enumerate(entries, 1):
        _check_step(entry, number, videos, path)
    return entries


def _script_of(value: Any, task: str, path: Path) -> Mapping[str, Any]:
    """The part of the file that is about this task."""
    if not isinstance(value, dict):
        raise InputError(path, "is not a script (a JSON object with 'steps')")
    if value.get("version") != VERSION:
        raise InputError(path, f"is version {value.get('version')!r} of a script, not {VERSION}")
    if isinstance(tasks := value.get("tasks"), dict):
        if not isinstance(found := tasks.get(task), dict):
            raise InputError(path, f"has no script for the task {task!r}")
        return found
    if value.get("task", task) != task:
        raise InputError(path, f"is a script for {value['task']!r}, and the task is {task!r}")
    return value


def _check_step(entry: Any, number: int, videos: Set[str], path: Path) -> None:
    if not isinstance(entry, dict):
        raise InputError(path, f"step {number} is not an object")
    label = entry.get("label")
    if not (isinstance(label, str) and label.strip()):
        raise InputError(path, f"step {number} has no label")
    mentions, examples = (entry.get(name, []) for name in ("mentions", "examples"))
    if not (isinstance(examples, list) and all(isinstance(each, str) for each in examples)):
        raise InputError(path, f"step {number}: 'examples' is not a list of strings")
    if not isinstance(mentions, list):
        raise InputError(path, f"step {number}: 'mentions' is not a list")
    for name in ("optional", "alternative"):
        if not isinstance(entry.get(name, False), bool):
            raise InputError(path, f"step {number}: {name!r} is neither true nor false")
    for index, mention in enumerate(mentions, 1):
        where = f"step {number}, mention {index}"
        if not isinstance(mention, dict):
            raise InputError(path, f"{where} is not an object")
        if not all(_is_time(mention.get(name)) for name in ("start", "end")):
            raise InputError(path, f"{where}: 'start' and 'end' are not times in seconds")
        video = mention.get("video")
        if not (isinstance(video, str) and video in videos):
            raise InputError(path, f"{where}: there is no video {video!r}")


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value < _MAX_TIME


def _step(
    entry: Mapping[str, Any],
    number: int,
    mentions_by_video: Mapping[str, Sequence[Mention]],
    path: Path,
) -> Step:
    order = {video: index for index, video in enumerate(mentions_by_video)}
    mentions = [
        _mention(each, f"step {number}, mention {index}", mentions_by_video[each["video"]], path)
        for index, each in enumerate(entry.get("mentions", []), 1)
    ]
    mentions.sort(key=lambda m: (order[m.video], m.start, m.end))
    step = Step(
        " ".join(entry["label"].split()),
        tuple(mentions),
        tuple(entry.get("examples", [])),
        optional=entry.get("optional", False),
        alternative=entry.get("alternative", False),
    )
    match entry.get("relations"):
        case [{"verb": str(verb), "noun": str(noun)}, *_]:
            return step.led_by(Relation(verb, noun))
    return step


def _mention(
    entry: Mapping[str, Any], where: str, mentions: Sequence[Mention], path: Path
) -> Mention:
    start, end = entry["start"], entry["end"]
    matching = next(_matching(mentions, start, end, entry), None)
    if matching is None:
        reason = f"video {entry['video']!r} has no mention from {start} to {end} s"
        raise InputError(path, f"{where}: {reason} (was its narration read in another mode?)")
    return matching


def _matching(
    mentions: Sequence[Mention], start: float, end: float, entry: Mapping[str, Any]
) -> Iterator[Mention]:
    """The mentions at a time; with the verb and noun of the entry, if it has them."""
    for mention in mentions:
        if (
            abs(mention.start - start) < _TIME_TOLERANCE
            and abs(mention.end - end) < _TIME_TOLERANCE
            and entry.get("verb", mention.verb) == mention.verb
            and entry.get("noun", mention.noun) == mention.noun
        ):
            yield mention
