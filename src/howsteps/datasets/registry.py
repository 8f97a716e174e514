"""Which data set lies under a path: its tasks, its ground truth, its labelled tasks."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.datasets import annotations, authors, collection, feature_folder, task_file
from howsteps.datasets.annotations import read_steps_table
from howsteps.datasets.names import split_language
from howsteps.errors import InputError, Problem
from howsteps.io.arrays import read_matrix
from howsteps.io.files import check_exists, open_regular
from howsteps.io.text import read_json
from howsteps.task import Relation, Rule, Task, Truth, Video

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
    if annotations.is_coin(value):
        truths, problems = annotations.coin_truths(value, path)
    elif annotations.is_youcook2(value):
        truths, problems = annotations.youcook2_truths(value, path)
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
    if annotations.is_crosstask(folder):
        truths, problems = annotations.read_crosstask(folder)
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


GRID = 1 / 3  # seconds

GivenMatches: TypeAlias = Callable[[Sequence[Relation]], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """A task, its ground truth, and features of its videos if there are any.

    ``task`` and ``truth`` have the same videos. The videos have captions, or mentions if the data
    set contains those, or neither. ``features`` (T_n×d) have a row for every interval of
    :data:`GRID` seconds. ``matches`` tells which relations match, if the data set defines it.
    """

    task: Task
    truth: Truth
    features: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    matches: GivenMatches | None = None


@dataclass(frozen=True, slots=True)
class LabelledTasks:
    """The tasks that were found, and what was repaired or left out."""

    tasks: tuple[Labelled, ...]
    problems: tuple[Problem, ...] = ()


def read_labelled(
    path: Path, *, captions: Path | None = None, features: Path | None = None
) -> LabelledTasks:
    """Read a data set with its ground truth.

    Parameters
    ----------
    path
        Ground truth of any kind (:func:`howsteps.datasets.registry.read_truth_files`).
    captions
        The narrations, if they are not at ``path``; videos are matched by name.
    features
        A folder with ``<video>.npy``, each with a row for every interval of :data:`GRID` seconds.
        Videos without features are left out.

    Raises
    ------
    InputError
        There is no ground truth, or something in it or in the features is wrong.
    """
    is_release = path.is_dir() and authors.is_release(path)
    is_feature_folder = path.is_dir() and feature_folder.is_feature_folder(path)
    extra = captions or features
    if extra is not None and (is_release or is_feature_folder):
        raise InputError(extra, f"cannot be combined with the layout of {path}")
    if is_release:
        return LabelledTasks(
            tuple(
                labelled_release(authors.read_release(path, name))
                for name in authors.release_tasks(path)
            )
        )
    if is_feature_folder:
        return LabelledTasks((_labelled_feature_folder(path),))
    ground_truth = read_truth_files(path)
    narrations = collection.Collection(())
    if captions is not None or _has_narrations(path):
        narrations = collection.read_tasks(captions or path)
    tasks, left_out = [], []
    for task_truth in ground_truth.truths:
        labelled = _with_narrations(task_truth, narrations.tasks)
        if features is not None:
            arrays, missing = _arrays(features, labelled.task)
            labelled = select_videos(replace(labelled, features=arrays), list(arrays))
            left_out += missing
        tasks.append(labelled)
    return LabelledTasks(tuple(tasks), (*ground_truth.problems, *narrations.problems, *left_out))


def select_videos(labelled: Labelled, videos: Sequence[str]) -> Labelled:
    """Return the task with only the given videos."""
    chosen = set(videos)
    return replace(
        labelled,
        task=replace(
            labelled.task, videos=tuple(v for v in labelled.task.videos if v.id in chosen)
        ),
        truth=replace(
            labelled.truth,
            annotations=tuple(a for a in labelled.truth.annotations if a.video in chosen),
            durations={v: d for v, d in labelled.truth.durations.items() if v in chosen},
        ),
        features={v: x for v, x in labelled.features.items() if v in chosen},
    )


def _has_narrations(path: Path) -> bool:
    """Whether there may be captions at the same path as the truth."""
    if path.is_dir():
        return not annotations.is_crosstask(path)
    return path.suffix.lower() == ".json" and task_file.is_task(read_json(path))


def _with_narrations(ground_truth: Truth, tasks: Sequence[Task]) -> Labelled:
    """Join the narrations of a task with its truth; only videos in both are kept.

    Without any common video, the videos of the truth are used without narrations.
    """
    named = [task for task in tasks if task.name == ground_truth.task] or tasks
    narrated = {video.id: video for task in named for video in task.videos}
    if not any(video in narrated for video in ground_truth.durations):
        narrated = {video: Video(video) for video in ground_truth.durations}
    lengths = {
        video: ground_truth.durations[video]
        or narrated[video].duration
        or _end(narrated[video], ground_truth)
        for video in ground_truth.durations
        if video in narrated
    }
    videos = tuple(replace(narrated[video], duration=lengths[video]) for video in lengths)
    labelled = Labelled(
        Task(ground_truth.task, videos),
        replace(ground_truth, durations={**ground_truth.durations, **lengths}),
    )
    return select_videos(labelled, list(lengths))


def _end(video: Video, ground_truth: Truth) -> float | None:
    """Return the end of the last caption or step; None without captions."""
    if not video.captions:
        return None
    steps = [a.end for a in ground_truth.annotations if a.video == video.id]
    return max([video.length, *steps])


def labelled_release(release: authors.Release) -> Labelled:
    """Convert a task of the paper's release to the common grid.

    Its intervals are 10 frames at any frame rate. The times of every video are scaled so that each
    interval lasts :data:`GRID` seconds; features do not change.
    """
    scales = {
        video: GRID * rate / authors.FRAMES_PER_INTERVAL for video, rate in release.rates.items()
    }
    lengths = {video: len(rows) * GRID for video, rows in release.labels.items()}
    mentions = {video.id: video.mentions for video in release.task.videos}
    videos = tuple(
        Video(
            video,
            duration=length,
            mentions=tuple(
                replace(m, start=m.start * scales[video], end=m.end * scales[video])
                for m in mentions.get(video, ())
            ),
        )
        for video, length in lengths.items()
    )
    annotations = tuple(
        replace(a, start=a.start * scales[a.video], end=a.end * scales[a.video])
        for a in release.truth.annotations
    )
    return Labelled(
        Task(release.task.name, videos),
        replace(release.truth, annotations=annotations, durations=lengths),
        {video: x.astype(np.float32) for video, x in release.features.items()},
        _matches_of(release.relations[: len(release.similarity)], release.similarity == 1),
    )


def _matches_of(relations: Sequence[Relation], similar: NDArray[np.bool_]) -> GivenMatches:
    """Return a look-up of matches in a matrix; relations outside it match only themselves."""
    row_of = {relation: row for row, relation in enumerate(relations)}
    symmetric = similar | similar.T

    def matches(queried: Sequence[Relation]) -> NDArray[np.bool_]:
        found = np.eye(len(queried), dtype=np.bool_)
        known = [index for index, relation in enumerate(queried) if relation in row_of]
        rows = [row_of[queried[index]] for index in known]
        found[np.ix_(known, known)] |= symmetric[np.ix_(rows, rows)]
        return found

    return matches


def _labelled_feature_folder(folder: Path) -> Labelled:
    """Read a feature folder, with features averaged over the intervals of the grid."""
    found = feature_folder.read_feature_folder(folder)
    videos = tuple(Video(v, duration=length) for v, length in found.truth.durations.items())
    features: dict[str, NDArray[np.float32]] = {}
    for video, path in found.paths.items():
        frames = found.features(video)
        _checked(frames, path, features)
        features[video] = _interval_means(frames, feature_folder.FRAMES_PER_SECOND)
    return Labelled(Task(found.truth.task, videos), found.truth, features)


def _interval_means(frames: NDArray[np.floating], rate: float) -> NDArray[np.float32]:
    """Return the mean of the frames whose centres lie in each interval."""
    interval_of = ((np.arange(len(frames)) + 0.5) / rate / GRID).astype(np.int64)
    starts = np.flatnonzero(np.diff(interval_of, prepend=-1))
    sums = np.add.reduceat(frames.astype(np.float64), starts, axis=0)
    return np.asarray(sums / np.bincount(interval_of)[:, None], np.float32)


def _checked(
    x: NDArray[Any], path: Path, others: Mapping[str, NDArray[np.float32]]
) -> NDArray[np.float32]:
    """Return features in single precision; ``others`` are those of the videos before."""
    if x.ndim != 2 or x.dtype.kind != "f" or not x.shape[1]:
        raise InputError(path, "is not a matrix of finite floating point numbers")
    with np.errstate(over="ignore"):
        single = x.astype(np.float32)
    if not np.isfinite(single).all():  # also what is too large for single precision
        raise InputError(path, "is not a matrix of finite floating point numbers")
    width = next(iter(others.values())).shape[1] if others else x.shape[1]
    if x.shape[1] != width:
        raise InputError(path, f"has {x.shape[1]} columns, the first video {width}")
    return single


def _arrays(folder: Path, task: Task) -> tuple[dict[str, NDArray[np.float32]], list[Problem]]:
    """Return the features of the videos of a task, and a problem for each missing file."""
    arrays: dict[str, NDArray[np.float32]] = {}
    missing: list[Problem] = []
    for video in task.videos:
        path = folder / f"{video.id}.npy"
        if not path.exists():
            missing.append(Problem(path, "no such file; the video is left out"))
            continue
        arrays[video.id] = _checked(read_matrix(path), path, arrays)
    if not arrays:
        raise InputError(folder, f"has no features (<video>.npy) of any video of {task.name}")
    return arrays, missing


_LONGEST_HEADER = 2**16  # bytes

_FOLDERS = (authors.is_release, feature_folder.is_feature_folder, annotations.is_crosstask)
_FILES = (
    task_file.has_task_truth,
    annotations.is_coin,
    annotations.is_youcook2,
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

    ``captions`` and ``features`` are as for :func:`~howsteps.datasets.registry.read_labelled`.

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
        read_truth_files(path)  # raises an error that lists the known formats
    return found


def find_truths(path: Path) -> GroundTruth:
    """Return the ground truth in a file, or anywhere under a folder (:func:`survey_folder`).

    Raises
    ------
    InputError
        There is none, or ``path`` is a file with an error.
    """
    check_exists(path)
    if not path.is_dir():
        return read_truth_files(path)
    found = find_labelled(path)
    truths = sorted((labelled.truth for labelled in found.tasks), key=lambda each: each.task)
    return GroundTruth(tuple(truths), found.problems)


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
        if path.suffix == ".json" and task_file.has_judgements(_survey_json(path)):
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
        if (folder / STEPS_TABLE).is_file() or any(matches(folder) for matches in _FOLDERS):
            folders.clear()
            yield folder
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (folder / name for name in sorted(names)):
            if (path.suffix == ".json" and _is_known_json(path)) or _is_table(path):
                yield path


def _is_known_json(path: Path) -> bool:
    value = _survey_json(path)
    return any(matches(value) for matches in _FILES)


def _survey_json(path: Path) -> Any:
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
