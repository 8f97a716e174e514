"""The data sets that howsteps knows, found by their content anywhere under a path."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from howsteps.datasets import authors, published, tables, task_file
from howsteps.datasets.annotations import (
    FRAMES_PER_SECOND,
    GRID,
    DataSet,
    Found,
    GroundTruth,
    Labelled,
    LabelledTasks,
    Source,
    checked_features,
)
from howsteps.datasets.collection import Collection, read_tasks
from howsteps.errors import InputError, Problem
from howsteps.io.arrays import read_matrix
from howsteps.io.files import check_exists
from howsteps.task import Task, Truth, Video

# The first that recognises a path reads it.
DATA_SETS = (
    tables.STEPS_FOLDER,
    published.CROSSTASK,
    authors.RELEASE,
    published.FEATURE_FOLDER,
    published.COIN,
    task_file.TASK_FILE,
    tables.TABLE,
)


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
    return Found.join(data_set.truths(found) for data_set, found in _search(source))


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
    tasks: list[Labelled] = []
    # An ordered set, as every data set repeats the problems of shared captions.
    problems: dict[Problem, None] = {}
    for data_set, inner in _search(source):
        try:
            found = _labelled(inner, data_set, captions, features)
        except InputError as error:
            if not source.path.is_dir():
                raise
            problems[error.problem] = None
            continue
        tasks += found.tasks
        problems.update(dict.fromkeys(found.problems))
    if not tasks:
        loss = next(problem for problem in problems if not problem.harmless)
        raise InputError(loss.path, loss.reason, loss.line)
    return Found(tuple(tasks), tuple(problems))


def _search(root: Source) -> list[tuple[DataSet, Source]]:
    """Return the data sets at or under a path; raise an ``InputError`` if there is none."""
    check_exists(root.path)
    if root.path.is_dir():
        found = list(_walk(root))
    else:
        # The reader of tables says what is missing in a file of any other suffix.
        other = None if root.path.suffix.lower() == ".json" else tables.TABLE
        data_set = _recognise(root) or other
        found = [(data_set, root)] if data_set else []
    if not found:
        known = "; ".join(each.name for each in DATA_SETS)
        raise InputError(root.path, f"contains no ground truth; known formats: {known}")
    return found


def _walk(root: Source) -> Iterator[tuple[DataSet, Source]]:
    for directory, folders, names in os.walk(root.path):
        folder = Source(Path(directory), root.rate)
        if (data_set := _recognise(folder)) is not None:
            folders.clear()
            yield data_set, folder
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            source = Source(folder.path / name, root.rate)
            try:
                data_set = _recognise(source)
            except InputError:
                continue  # not every JSON under a folder is a data set
            if data_set is not None:
                yield data_set, source


def _recognise(source: Source) -> DataSet | None:
    """Return the data set at a path, if it is a known one."""
    return next((each for each in DATA_SETS if each.recognise(source)), None)


def _labelled(
    source: Source, data_set: DataSet, captions: Path | None, features: Path | None
) -> LabelledTasks:
    """Read one data set with its narrations and features."""
    if data_set.labelled is not None:
        if (extra := captions or features) is not None:
            raise InputError(extra, f"cannot be combined with the layout of {source.path}")
        return data_set.labelled(source)
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
            arrays[video.id] = rows = checked_features(read_matrix(path), path, arrays)
            covered = len(rows) * GRID
            length = covered if video.duration is None else video.duration
            # Of some videos only captions and steps are known, which may end long before them.
            if not 0.75 * length - 1 <= covered <= 4 * length + 1:
                lasts = f"that is {covered:.0f} s, but the video lasts {length:.0f} s"
                raise InputError(
                    path, f"has {len(rows)} rows, one every third of a second: {lasts}"
                )
        else:
            missing.append(Problem(path, "no such file; the video is left out"))
    if not arrays:
        raise InputError(folder, f"has no features (<video>.npy) of any video of {task.name}")
    return arrays, missing
