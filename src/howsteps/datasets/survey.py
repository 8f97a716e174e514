"""Find everything under a folder that results can be measured on."""

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
from howsteps.datasets.labelled import Labelled, read_labelled
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
    """Tasks with narrations or features, bare truths, and judgements of relations by task."""

    tasks: tuple[Labelled, ...]
    truths: tuple[Truth, ...]
    judgements: dict[str, dict[str, tuple[Rule, ...]]]
    problems: tuple[Problem, ...] = ()


def survey_folder(root: Path) -> Survey:
    """Look for ground truth under ``root``, in any layout; list what cannot be read.

    A judgement belongs to the task that has all the steps it has rules for.

    Raises
    ------
    InputError
        ``root`` does not exist.
    """
    check_exists(root)
    tasks: list[Labelled] = []
    truths: list[Truth] = []
    problems: list[Problem] = []
    judgement_paths: list[Path] = []
    for path in _places(root):
        if path.suffix == ".json" and task_file.has_judgements(_json(path)):
            judgement_paths.append(path)
            continue
        try:
            found = read_labelled(path)
        except InputError as error:
            problems.append(error.problem)
            continue
        problems += found.problems
        for one in found.tasks:
            if one.features or any(v.captions or v.mentions for v in one.task.videos):
                tasks.append(one)
            else:
                truths.append(one.truth)
    judgements = {}
    for path in judgement_paths:
        for one in tasks:
            try:
                judgements[one.task.name] = task_file.read_judgements(path, one.truth.steps)
            except InputError:
                continue  # it belongs to another task
    return Survey(tuple(tasks), tuple(truths), judgements, tuple(problems))


def find_truths(path: Path) -> truth.GroundTruth:
    """The ground truth in a file, or anywhere under a folder, as :func:`survey_folder` finds it.

    Raises
    ------
    InputError
        There is none; or, of a file, anything in it is wrong.
    """
    check_exists(path)
    if not path.is_dir():
        return truth.read_truth_files(path)
    found = survey_folder(path)
    truths = (*found.truths, *(one.truth for one in found.tasks))
    if not truths:
        for problem in found.problems:
            raise InputError(problem.path, problem.reason, problem.line)
        return truth.read_truth_files(path)  # which says what it looks for
    return truth.GroundTruth(tuple(sorted(truths, key=lambda each: each.task)), found.problems)


def _places(root: Path) -> Iterator[Path]:
    """Files and folders that contain ground truth or judgements."""
    if root.is_file():
        yield root
        return
    for place, folders, names in os.walk(root):
        folder = Path(place)
        if (folder / truth.STEPS_TABLE).is_file() or any(kind(folder) for kind in _FOLDERS):
            folders.clear()
            yield folder
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (folder / name for name in sorted(names)):
            if (path.suffix == ".json" and _is_wanted(path)) or _is_table(path):
                yield path


def _is_wanted(path: Path) -> bool:
    value = _json(path)
    return any(kind(value) for kind in _FILES)


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
