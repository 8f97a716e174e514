"""The one way in to ground truth: a file or folder → what people saw in its videos."""

from dataclasses import dataclass
from pathlib import Path

from howsteps.datasets import (
    authors,
    coin,
    crosstask,
    feature_folder,
    steps_table,
    task_truth,
    youcook2,
)
from howsteps.datasets.names import split_language
from howsteps.errors import InputError, Problem
from howsteps.io.text import read_json
from howsteps.task import Truth

STEPS = "steps.csv"

_KNOWN = (
    "a table video,step,start,end; a task file with step_names; COIN.json; the annotations of "
    "YouCook2; or a folder with steps.csv, task files, or the layout of CrossTask, the paper's "
    "release or features/ groundTruth/ mapping/"
)


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """The truths that were found, and what was mended on the way."""

    truths: tuple[Truth, ...]
    problems: tuple[Problem, ...] = ()


def read_truth_files(path: Path | str) -> GroundTruth:
    """Read the ground truth at ``path``, told apart by what is there.

    Raises
    ------
    InputError
        There is none, or it is wrong anywhere; the message names the file and the line.
    """
    path = Path(path)
    if path.is_dir():
        return _folder(path)
    if path.suffix.lower() != ".json":
        name = path.resolve().parent.name if path.name == STEPS else None
        truths, problems = steps_table.read_steps_table(path, name=name)
        return GroundTruth(truths, tuple(problems))
    if (found := _json(path)) is None:
        raise InputError(path, f"holds no ground truth; known are {_KNOWN}")
    return found


def _json(path: Path) -> GroundTruth | None:
    """The truths in a JSON file; None in one that holds something else."""
    value = read_json(path)
    for kind in (coin, youcook2):
        if kind.recognises(value):
            truths, problems = kind.read(value, path)
            return GroundTruth(truths, tuple(problems))
    if task_truth.recognises(value):
        truth, problems = task_truth.read_task_truth(value, path)
        return GroundTruth((truth,), tuple(problems))
    return None


def _folder(folder: Path) -> GroundTruth:
    if (folder / STEPS).is_file():
        stems = {path.stem for path in folder.iterdir() if path.name != STEPS}
        videos = stems | {split_language(stem)[0] for stem in stems}
        name = folder.resolve().name
        truths, problems = steps_table.read_steps_table(folder / STEPS, name=name, videos=videos)
        return GroundTruth(truths, tuple(problems))
    if crosstask.recognises(folder):
        truths, problems = crosstask.read_crosstask(folder)
        return GroundTruth(truths, tuple(problems))
    if authors.recognises(folder):
        return GroundTruth(
            tuple(authors.read_truth(folder, task) for task in authors.tasks(folder))
        )
    if feature_folder.recognises(folder):
        return GroundTruth((feature_folder.read_feature_folder(folder).truth,))
    if found := [each for path in sorted(folder.glob("*.json")) if (each := _json(path))]:
        return GroundTruth(
            tuple(truth for each in found for truth in each.truths),
            tuple(problem for each in found for problem in each.problems),
        )
    raise InputError(folder, f"holds no ground truth; known are {_KNOWN}")
