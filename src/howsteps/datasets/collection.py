"""The one way in: a file or folder → the tasks in it, and all that is wrong with it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from howsteps.captions import encoding
from howsteps.captions.cue import UnreadableError
from howsteps.captions.reading import load_json
from howsteps.datasets import caption_files, task_file
from howsteps.datasets.names import Names, split_language
from howsteps.errors import InputError, Problem
from howsteps.io.files import read_bounded
from howsteps.task import Task

# What lies beside captions and is known to be none; all else is opened, whatever its name.
_BESIDE = (
    *(".jpg", ".jpeg", ".png", ".webp", ".gif", ".svg", ".pdf", ".html", ".md", ".py", ".log"),
    *(".mp3", ".m4a", ".wav", ".flac", ".ogg", ".opus", ".aac", ".npy", ".npz", ".zip", ".part"),
    *(".description", ".info.json", ".ytdl"),
)
_TRUTH = "steps.csv"  # the true steps of the folder

# The file that marks a work folder: what howsteps wrote is never read as captions.
WORK_FOLDER = ".howsteps"


@dataclass(frozen=True, slots=True)
class Collection:
    """The tasks that were found, and what was mended or set aside on the way."""

    tasks: tuple[Task, ...]
    problems: tuple[Problem, ...] = ()


def read_tasks(path: Path | str) -> Collection:
    """Read the tasks under ``path``.

    A caption file is a task of one video, and a task file is a task. In a folder and its
    sub-folders, every task file is a task, and the caption files that lie side by side, with the
    videos beside them, are one task with the name of their folder. Narrations that are not English
    are set aside. What cannot be read is listed as a problem and does no harm to the rest.

    Raises
    ------
    InputError
        ``path`` does not exist, is a single file that cannot be used, or a work folder.
    """
    path = Path(path)
    if (path / WORK_FOLDER).is_file():
        raise InputError(path, "is a work folder, which howsteps wrote; name the folder of videos")
    found = _folder(path) if path.is_dir() else _file(path)
    tasks: list[Task] = []
    problems: list[Problem] = []
    names = Names("task")
    for source, task, flaws in found:
        problems += flaws
        if not task.videos:
            if not flaws:
                problems.append(Problem(source, "holds no video"))
            continue
        name, changed = names.give(task.name)
        if changed:
            problems.append(Problem(source, changed, harmless=True))
        tasks.append(replace(task, name=name))
    if not tasks:
        problems.append(Problem(path, "no videos or captions were found here"))
    return Collection(tuple(tasks), tuple(problems))


_Found: TypeAlias = tuple[Path, Task, list[Problem]]


def _file(path: Path) -> Iterator[_Found]:
    value = _task_in(path)
    if value is not None:
        yield path, *task_file.read_task_file(value, path)
        return
    films = [path] if _is_film(path) else []
    files = [] if films else [path]
    name = split_language(path.stem)[0]
    if files and path.is_file():
        beside = sorted(p for p in path.parent.iterdir() if _is_film(p))
        # A film may be called "a.en" itself.
        films = [p for p in beside if p.stem == path.stem] or [p for p in beside if p.stem == name]
    task, problems = caption_files.read_caption_files(name, files, films)
    if not task.videos:
        fault = problems[0]
        raise InputError(fault.path, fault.reason, fault.line)
    yield path, task, problems


def _folder(root: Path) -> Iterator[_Found]:
    unreadable: list[Problem] = []

    def note(error: OSError) -> None:
        unreadable.append(Problem(Path(error.filename), f"cannot be read: {error.strerror}"))

    for place, folders, names in os.walk(root, onerror=note):
        folder = Path(place)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and not (folder / name / WORK_FOLDER).is_file()
        )
        paths = [folder / name for name in sorted(names) if not name.startswith(".")]
        films = [path for path in paths if _is_film(path)]
        files = []
        for path in paths:
            name = path.name.lower()
            if path in films or name == _TRUTH or name.endswith(_BESIDE):
                continue
            value = _task_in(path)
            if value is None:
                files.append(path)
            else:
                yield path, *task_file.read_task_file(value, path)
        if files or films:
            yield folder, *caption_files.read_caption_files(folder.resolve().name, files, films)
    if unreadable:
        yield root, Task("", ()), unreadable


def _is_film(path: Path) -> bool:
    return path.suffix.lower() in caption_files.MEDIA


def _task_in(path: Path) -> Any:
    """Return the JSON of a task file; None for any other file, which is then read as captions."""
    if _is_film(path):
        return None
    try:
        text, _ = encoding.decode(read_bounded(path, encoding.LARGEST_FILE, "captions"))
        value = load_json(text) if text.lstrip()[:1] in {"{", "["} else None
    except (InputError, UnreadableError):
        return None
    return value if task_file.recognises(value) else None
