"""Read the ground truth in a file or folder, in any known format."""

from dataclasses import dataclass
from pathlib import Path

from howsteps.datasets import activitynet, authors, crosstask, feature_folder, task_file
from howsteps.datasets.names import split_language
from howsteps.datasets.steps_table import read_steps_table
from howsteps.errors import InputError, Problem
from howsteps.io.text import read_json
from howsteps.task import Truth

STEPS_TABLE = "steps.csv"

_KNOWN = (
    "a table video,step,start,end; a task file with step_names; COIN.json; the annotations of "
    "YouCook2; or a folder with steps.csv, task files, or the layout of CrossTask, the paper's "
    "release or features/ groundTruth/ mapping/"
)


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """The truths that were found, and what was repaired."""

    truths: tuple[Truth, ...]
    problems: tuple[Problem, ...] = ()


def read_truth_files(path: Path | str) -> GroundTruth:
    """Read the ground truth at ``path``; the format is detected from the content.

    Raises
    ------
    InputError
        There is none, or it has an error; the message names the file and the line.
    """
    path = Path(path)
    if path.is_dir():
        return _folder(path)
    if path.suffix.lower() != ".json":
        name = path.resolve().parent.name if path.name == STEPS_TABLE else None
        truths, problems = read_steps_table(path, name=name)
        return GroundTruth(truths, tuple(problems))
    if (found := _json(path)) is None:
        raise InputError(path, f"contains no ground truth; known formats: {_KNOWN}")
    return found


def _json(path: Path) -> GroundTruth | None:
    """Return the truths in a JSON file; None if it contains something else."""
    value = read_json(path)
    if activitynet.is_coin(value):
        truths, problems = activitynet.coin_truths(value, path)
    elif activitynet.is_youcook2(value):
        truths, problems = activitynet.youcook2_truths(value, path)
    elif task_file.has_task_truth(value):
        truth, problems = task_file.truth_of_json(value, path)
        truths = (truth,)
    else:
        return None
    return GroundTruth(truths, tuple(problems))


def _folder(folder: Path) -> GroundTruth:
    if (folder / STEPS_TABLE).is_file():
        stems = {path.stem for path in folder.iterdir() if path.name != STEPS_TABLE}
        videos = stems | {split_language(stem)[0] for stem in stems}
        name = folder.resolve().name
        truths, problems = read_steps_table(folder / STEPS_TABLE, name=name, videos=videos)
        return GroundTruth(truths, tuple(problems))
    if crosstask.is_crosstask(folder):
        truths, problems = crosstask.read_crosstask(folder)
        return GroundTruth(truths, tuple(problems))
    if authors.is_release(folder):
        return GroundTruth(
            tuple(
                authors.read_release_truth(folder, task) for task in authors.release_tasks(folder)
            )
        )
    if feature_folder.is_feature_folder(folder):
        return GroundTruth((feature_folder.read_feature_folder(folder).truth,))
    if found := [each for path in sorted(folder.glob("*.json")) if (each := _json(path))]:
        return GroundTruth(
            tuple(truth for each in found for truth in each.truths),
            tuple(problem for each in found for problem in each.problems),
        )
    raise InputError(folder, f"contains no ground truth; known formats: {_KNOWN}")
