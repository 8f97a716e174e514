"""Find all ground truth under a folder, for every command that reads it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howsteps.datasets import (
    activitynet,
    authors,
    crosstask,
    feature_folder,
    task_file,
    truth,
)
from howsteps.datasets.labelled import Labelled, LabelledTasks, read_labelled
from howsteps.errors import InputError, Problem
from howsteps.io.files import check_exists, open_regular
from howsteps.io.text import read_json
from howsteps.task import Rule, Truth

_LONGEST_HEADER = 2**16  # bytes

_FOLDERS = (authors.is_release, feature_folder.is_feature_folder, crosstask.is_crosstask)
_FILES = (
    task_file.has_task_truth,
    activitynet.is_coin,
    activitynet.is_youcook2,
    task_file.has_judgements,
)


@dataclass(frozen=True, slots=True)
class Survey:
    """Tasks with narrations or features, other truths, and judgements of relations by task."""

    tasks: tuple[Labelled, ...]
    truths: tuple[Truth, ...]
    judgements: dict[str, dict[str, tuple[Rule, ...]]]
    problems: tuple[Problem, ...] = ()


def survey_folder(root: Path) -> Survey:
    """Find ground truth under ``root``, in any layout; list what cannot be read.

    A judgement file belongs to the task that has all steps for which it has rules.

    Raises
    ------
    InputError
        ``root`` does not exist.
    """
    found, judgement_paths = _read_candidates(root)
    tasks: list[Labelled] = []
    truths: list[Truth] = []
    for labelled in found.tasks:
        if labelled.features or any(v.captions or v.mentions for v in labelled.task.videos):
            tasks.append(labelled)
        else:
            truths.append(labelled.truth)
    judgements = {}
    for path in judgement_paths:
        for labelled in tasks:
            try:
                rules = task_file.read_judgements(path, labelled.truth.steps)
            except InputError:
                continue  # it belongs to another task
            judgements[labelled.task.name] = rules
    return Survey(tuple(tasks), tuple(truths), judgements, found.problems)


def find_labelled(
    path: Path, *, captions: Path | None = None, features: Path | None = None
) -> LabelledTasks:
    """Return the labelled tasks in a file, or anywhere under a folder (:func:`survey_folder`).

    ``captions`` and ``features`` are as for :func:`~howsteps.datasets.labelled.read_labelled`.

    Raises
    ------
    InputError
        There are none, or ``path`` is a file with an error.
    """
    check_exists(path)
    if not path.is_dir():
        return read_labelled(path, captions=captions, features=features)
    found, _ = _read_candidates(path, captions, features)
    if not found.tasks:
        losses = [problem for problem in found.problems if not problem.harmless]
        if losses:
            raise InputError(losses[0].path, losses[0].reason, losses[0].line)
        truth.read_truth_files(path)  # raises an error that lists the known formats
    return found


def find_truths(path: Path) -> truth.GroundTruth:
    """Return the ground truth in a file, or anywhere under a folder (:func:`survey_folder`).

    Raises
    ------
    InputError
        There is none, or ``path`` is a file with an error.
    """
    check_exists(path)
    if not path.is_dir():
        return truth.read_truth_files(path)
    found = find_labelled(path)
    truths = sorted((labelled.truth for labelled in found.tasks), key=lambda each: each.task)
    return truth.GroundTruth(tuple(truths), found.problems)


def _read_candidates(
    root: Path, captions: Path | None = None, features: Path | None = None
) -> tuple[LabelledTasks, list[Path]]:
    """Return the labelled tasks under ``root``, and the judgement files; errors are problems."""
    check_exists(root)
    tasks: list[Labelled] = []
    problems: dict[
        Problem, None
    ] = {}  # ordered set: every data set repeats the problems of shared captions
    judgement_paths: list[Path] = []
    for path in _candidates(root):
        if path.suffix == ".json" and task_file.has_judgements(_json(path)):
            judgement_paths.append(path)
            continue
        try:
            found = read_labelled(path, captions=captions, features=features)
        except InputError as error:
            problems[error.problem] = None
            continue
        tasks += found.tasks
        problems.update(dict.fromkeys(found.problems))
    return LabelledTasks(tuple(tasks), tuple(problems)), judgement_paths


def _candidates(root: Path) -> Iterator[Path]:
    """Yield the files and folders that contain ground truth or judgements."""
    if root.is_file():
        yield root
        return
    for directory, folders, names in os.walk(root):
        folder = Path(directory)
        if (folder / truth.STEPS_TABLE).is_file() or any(matches(folder) for matches in _FOLDERS):
            folders.clear()
            yield folder
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (folder / name for name in sorted(names)):
            if (path.suffix == ".json" and _is_known_json(path)) or _is_table(path):
                yield path


def _is_known_json(path: Path) -> bool:
    value = _json(path)
    return any(matches(value) for matches in _FILES)


def _json(path: Path) -> Any:
    try:
        return read_json(path)
    except InputError:
        return None  # not every JSON under a folder is a data set


def _is_table(path: Path) -> bool:
    if path.suffix != ".csv":
        return False
    try:
        with open_regular(path) as file:
            first = file.readline(_LONGEST_HEADER).decode("utf-8-sig")
    except (InputError, OSError, UnicodeDecodeError):
        return False
    header = {cell.strip().lower() for cell in first.split(",")}
    return {"video"} < header and bool({"step", "step_name"} & header)
