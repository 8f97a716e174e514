"""The data sets that howsteps knows: how each is recognised, and what reads it."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.datasets import authors, published, task_file
from howsteps.datasets.annotations import (
    Found,
    GroundTruth,
    Labelled,
    LabelledTasks,
    checked_features,
    read_steps_table,
)
from howsteps.datasets.collection import STEPS_TABLE, Collection, read_tasks
from howsteps.datasets.names import split_language
from howsteps.datasets.published import FRAMES_PER_SECOND, CoinVideo, RecipeVideo
from howsteps.errors import InputError, Problem
from howsteps.io.arrays import read_matrix
from howsteps.io.files import check_exists, open_regular
from howsteps.store import read_record
from howsteps.task import Rule, Task, Truth, Video

_LONGEST_HEADER = 2**16  # bytes


class Source:
    """A path that may hold a data set; ``rate`` is that of frame-wise labels, per second."""

    def __init__(self, path: Path, rate: float = FRAMES_PER_SECOND) -> None:
        self.path = path
        self.rate = rate

    @cached_property
    def json(self) -> Any:
        """The content of a JSON file, parsed once for all data sets; None for another path."""
        if self.path.suffix.lower() != ".json" or self.path.is_dir():
            return None
        return read_record(self.path, object)


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set, or a layout that several have.

    ``labelled`` reads tasks, truth and features, for a data set that has features of its own.
    ``narrated``: captions lie at the same path (:func:`~howsteps.datasets.read_tasks`).
    """

    name: str
    recognise: Callable[[Source], bool]
    truths: Callable[[Source], GroundTruth]
    labelled: Callable[[Source], tuple[Labelled, ...]] | None = None
    narrated: bool = False


def _read_steps_folder(source: Source) -> GroundTruth:
    folder = source.path
    stems = {path.stem for path in folder.iterdir() if path.name != STEPS_TABLE}
    videos = stems | {split_language(stem)[0] for stem in stems}
    return read_steps_table(folder / STEPS_TABLE, name=folder.resolve().name, videos=videos)


def _read_table(source: Source) -> GroundTruth:
    path = source.path
    name = path.resolve().parent.name if path.name == STEPS_TABLE else None
    return read_steps_table(path, name=name)


def _is_table(source: Source) -> bool:
    if source.path.suffix != ".csv":
        return False
    try:
        with open_regular(source.path) as file:
            first = file.readline(_LONGEST_HEADER).decode("utf-8-sig")
    except (InputError, OSError, UnicodeDecodeError):
        return False
    header = {cell.strip().lower() for cell in first.split(",")}
    return {"video"} < header and bool({"step", "step_name"} & header)


_TABLE = DataSet("a table video,step,start,end", _is_table, _read_table)

# The first that recognises a path reads it.
DATA_SETS = (
    DataSet(
        "a folder with captions and steps.csv",
        lambda source: (source.path / STEPS_TABLE).is_file(),
        _read_steps_folder,
        narrated=True,
    ),
    DataSet(
        "the folder of CrossTask",
        lambda source: published.is_crosstask(source.path),
        lambda source: published.read_crosstask(source.path),
    ),
    DataSet(
        "the paper's release",
        lambda source: bool(authors.release_tasks(source.path)),
        lambda source: Found(authors.read_truths(source.path)),
        lambda source: tuple(
            authors.read_labelled(source.path, task) for task in authors.release_tasks(source.path)
        ),
    ),
    DataSet(
        "a folder with features/ groundTruth/ mapping/",
        lambda source: published.is_feature_folder(source.path),
        lambda source: published.feature_folder_truth(source.path, source.rate),
        lambda source: (published.read_feature_folder(source.path, source.rate),),
    ),
    DataSet(
        "COIN.json",
        lambda source: published.is_database(source.json, CoinVideo),
        lambda source: published.database_truths(source.json, CoinVideo, source.path),
    ),
    DataSet(
        "the annotations of YouCook2",
        lambda source: published.is_database(source.json, RecipeVideo),
        lambda source: published.database_truths(source.json, RecipeVideo, source.path),
    ),
    DataSet(
        "a task file with step_names",
        lambda source: task_file.has_task_truth(source.json),
        lambda source: task_file.truth_of_json(source.json, source.path),
        narrated=True,
    ),
    _TABLE,
)


def recognise(source: Source) -> DataSet | None:
    """Return the data set at a path, if it is a known one."""
    return next((each for each in DATA_SETS if each.recognise(source)), None)


def read_truth(path: Path | str, *, rate: float = FRAMES_PER_SECOND) -> GroundTruth:
    """Read the ground truth of a data set; the format is detected from the content.

    Parameters
    ----------
    path
        A data set of :data:`~howsteps.datasets.registry.DATA_SETS`, or a folder of several.
    rate
        Frames per second of frame-wise labels.

    Returns
    -------
    The truths, one for each task, and what was repaired. It can be iterated:
    ``[truth] = read_truth("steps.csv")``.
    """
    source = Source(Path(path), rate)
    check_exists(source.path)
    if not source.path.is_dir():
        return _in_known_file(source).truths(source)
    found = [(each, inner) for each, inner in _search(source) if each is not None]
    if not found:
        raise _no_truth(source.path)
    return Found.join(each.truths(inner) for each, inner in found)


def _in_known_file(source: Source) -> DataSet:
    if found := recognise(source):
        return found
    if source.path.suffix.lower() != ".json":
        return _TABLE  # whose reader says what is missing
    raise _no_truth(source.path)


def _no_truth(path: Path) -> InputError:
    known = "; ".join(each.name for each in DATA_SETS)
    return InputError(path, f"contains no ground truth; known formats: {known}")


def read_labelled(
    path: Path | str,
    *,
    captions: Path | None = None,
    features: Path | None = None,
    rate: float = FRAMES_PER_SECOND,
) -> LabelledTasks:
    """Read a data set with its ground truth, or all data sets anywhere under a folder.

    Parameters
    ----------
    path, rate
        As for :func:`read_truth`.
    captions
        The narrations, if they are not at ``path``; videos are matched by name.
    features
        A folder with ``<video>.npy``, each with a row for every interval of
        :data:`~howsteps.datasets.annotations.GRID` seconds. Videos without features are left out.

    Returns
    -------
    The tasks, and what was repaired or left out: under a folder also data sets with an error.
    """
    source = Source(Path(path), rate)
    check_exists(source.path)
    if not source.path.is_dir():
        return _labelled(source, _in_known_file(source), captions, features)
    found, _ = _read_all(source, captions, features)
    if not found.tasks:
        for loss in (problem for problem in found.problems if not problem.harmless):
            raise InputError(loss.path, loss.reason, loss.line)
        raise _no_truth(source.path)
    return found


@dataclass(frozen=True, slots=True)
class Survey:
    """Tasks with narrations or features, other truths, and judgements of relations by task."""

    tasks: tuple[Labelled, ...]
    truths: tuple[Truth, ...]
    judgements: dict[str, dict[str, tuple[Rule, ...]]]
    problems: tuple[Problem, ...] = ()


def survey(root: Path) -> Survey:
    """Find ground truth under ``root``, in any layout; list what cannot be read.

    A judgement file belongs to the task that has all steps for which it has rules.
    """
    found, judgement_files = _read_all(Source(root))
    tasks, truths = [], []
    for labelled in found.tasks:
        if labelled.features or any(v.captions or v.mentions for v in labelled.task.videos):
            tasks.append(labelled)
        else:
            truths.append(labelled.truth)
    judgements = {}
    for path in judgement_files:
        for labelled in tasks:
            try:
                rules = task_file.read_judgements(path, labelled.truth.steps)
            except InputError:
                continue  # it belongs to another task
            judgements[labelled.task.name] = rules
    return Survey(tuple(tasks), tuple(truths), judgements, found.problems)


def _read_all(
    root: Source, captions: Path | None = None, features: Path | None = None
) -> tuple[LabelledTasks, list[Path]]:
    """Return the labelled tasks under ``root``, and the judgement files; errors are problems."""
    check_exists(root.path)
    tasks: list[Labelled] = []
    # An ordered set, as every data set repeats the problems of shared captions.
    problems: dict[Problem, None] = {}
    judgement_files: list[Path] = []
    for data_set, source in _search(root):
        if data_set is None:
            judgement_files.append(source.path)
            continue
        try:
            found = _labelled(source, data_set, captions, features)
        except InputError as error:
            problems[error.problem] = None
            continue
        tasks += found.tasks
        problems.update(dict.fromkeys(found.problems))
    return Found(tuple(tasks), tuple(problems)), judgement_files


def _search(root: Source) -> Iterator[tuple[DataSet | None, Source]]:
    """Yield the data sets at or under a path, and the judgement files, which are of None."""
    if root.path.is_file():
        yield from _in_file(root)
    for directory, folders, names in os.walk(root.path):
        folder = Source(Path(directory), root.rate)
        if (found := recognise(folder)) is not None:
            folders.clear()
            yield found, folder
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            yield from _in_file(Source(folder.path / name, root.rate))


def _in_file(source: Source) -> list[tuple[DataSet | None, Source]]:
    try:
        if task_file.has_judgements(source.json):
            return [(None, source)]
        found = recognise(source)
    except InputError:
        return []  # not every JSON under a folder is a data set
    return [] if found is None else [(found, source)]


def _labelled(
    source: Source, data_set: DataSet, captions: Path | None, features: Path | None
) -> LabelledTasks:
    """Read one data set with its narrations and features."""
    if data_set.labelled is not None:
        if (extra := captions or features) is not None:
            raise InputError(extra, f"cannot be combined with the layout of {source.path}")
        return Found(data_set.labelled(source))
    ground_truth = data_set.truths(source)
    narrations: Collection = Found(())
    if captions is not None or data_set.narrated:
        narrations = read_tasks(captions or source.path)
    tasks, left_out = [], []
    for truth in ground_truth:
        labelled = _with_narrations(truth, narrations.tasks, only=len(ground_truth.tasks) == 1)
        if features is not None:
            arrays, missing = _read_features(features, labelled.task)
            labelled = replace(labelled, features=arrays).of(arrays)
            left_out += missing
        tasks.append(labelled)
    return Found(tuple(tasks), (*ground_truth.problems, *narrations.problems, *left_out))


def _with_narrations(truth: Truth, tasks: Sequence[Task], *, only: bool) -> Labelled:
    """Join the narrations of a task with its truth, which may be that of some of its videos.

    Without any common video, the videos of the truth are used without narrations. Captions of
    another name are those of the job if both are the ``only`` ones.
    """
    same = [task for task in tasks if task.name == truth.task]
    narrated = {video.id: video for task in same or tasks for video in task.videos}
    if not any(video in narrated for video in truth.durations):
        narrated = {video: Video(video) for video in truth.durations}
    is_job = bool(same) or (only and len(tasks) == 1)
    others = [v for v in narrated if is_job and v not in truth.durations and narrated[v].captions]
    lengths = {
        video: truth.durations.get(video)
        or narrated[video].duration
        or _end(narrated[video], truth)
        for video in (*truth.durations, *others)
        if video in narrated
    }
    videos = tuple(replace(narrated[video], duration=lengths[video]) for video in lengths)
    durations = {video: lengths[video] for video in truth.durations if video in lengths}
    truth = replace(truth.of(lengths), durations=durations)
    return Labelled(Task(truth.task, videos), truth)


def _end(video: Video, truth: Truth) -> float | None:
    """Return the end of the last caption or step; None without captions."""
    if not video.captions:
        return None
    steps = [a.end for a in truth.annotations if a.video == video.id]
    return max([video.length, *steps])


def _read_features(
    folder: Path, task: Task
) -> tuple[dict[str, NDArray[np.float32]], list[Problem]]:
    """Return the features of the videos of a task, and a problem for each missing file."""
    arrays: dict[str, NDArray[np.float32]] = {}
    missing: list[Problem] = []
    for video in task.videos:
        path = folder / f"{video.id}.npy"
        if path.exists():
            arrays[video.id] = checked_features(read_matrix(path), path, arrays)
        else:
            missing.append(Problem(path, "no such file; the video is left out"))
    if not arrays:
        raise InputError(folder, f"has no features (<video>.npy) of any video of {task.name}")
    return arrays, missing
