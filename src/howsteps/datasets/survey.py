"""What lies under a folder that results can be measured on."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howsteps.datasets import (
    authors,
    coin,
    crosstask,
    feature_folder,
    judgement_file,
    labelled,
    task_truth,
    truth,
    youcook2,
)
from howsteps.datasets.labelled import Labelled
from howsteps.errors import InputError, Problem
from howsteps.io.text import read_json
from howsteps.task import Rule, Truth

_LONGEST = 2**16  # characters of a heading


@dataclass(frozen=True, slots=True)
class Survey:
    """Tasks with narrations or features, truths alone, and judgements of relations by task."""

    tasks: tuple[Labelled, ...]
    truths: tuple[Truth, ...]
    judgements: dict[str, dict[str, tuple[Rule, ...]]]
    problems: tuple[Problem, ...] = ()


def survey(root: Path) -> Survey:
    """Look for ground truth under ``root``, whatever its layout; what cannot be read is listed.

    A judgement belongs to the task that has all the steps it has rules for.

    Raises
    ------
    InputError
        ``root`` is not there.
    """
    if not root.exists():
        raise InputError(root, "no such file or folder")
    tasks: list[Labelled] = []
    truths: list[Truth] = []
    problems: list[Problem] = []
    judges: list[Path] = []
    for path in _places(root):
        if path.suffix == ".json" and _has_rules(_json(path)):
            judges.append(path)
            continue
        try:
            found = labelled.read_labelled(path)
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
    for path in judges:
        for one in tasks:
            try:
                judgements[one.task.name] = judgement_file.read_judgements(path, one.truth.steps)
            except InputError:
                continue  # of another task
    return Survey(tuple(tasks), tuple(truths), judgements, tuple(problems))


def _places(root: Path) -> Iterator[Path]:
    """Files and folders that hold ground truth or judgements."""
    if root.is_file():
        yield root
        return
    for place, folders, names in os.walk(root):
        folder = Path(place)
        whole = (authors, feature_folder, crosstask)
        if (folder / truth.STEPS).is_file() or any(kind.recognises(folder) for kind in whole):
            folders.clear()
            yield folder
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (folder / name for name in sorted(names)):
            if (path.suffix == ".json" and _is_wanted(path)) or _is_table(path):
                yield path


def _is_wanted(path: Path) -> bool:
    value = _json(path)
    kinds = (task_truth.recognises, coin.recognises, youcook2.recognises, _has_rules)
    return any(recognises(value) for recognises in kinds)


def _has_rules(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("rules"), dict)


def _json(path: Path) -> Any:
    try:
        return read_json(path)
    except InputError:
        return None  # not every JSON under a folder is a data set


def _is_table(path: Path) -> bool:
    # A pipe of that name could keep a reader waiting forever.
    if path.suffix != ".csv" or not path.is_file():
        return False
    try:
        with path.open(encoding="utf-8-sig") as file:
            heading = {cell.strip().lower() for cell in file.readline(_LONGEST).split(",")}
    except (OSError, UnicodeDecodeError):
        return False
    return {"video"} < heading and bool({"step", "step_name"} & heading)
