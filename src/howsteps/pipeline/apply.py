"""Apply a model: find the steps of a learnt job in new videos."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from howsteps import datasets
from howsteps.datasets import Collection
from howsteps.datasets.names import Names
from howsteps.errors import HowstepsError, InputError, Problem, problem_of
from howsteps.io.cache import Cache
from howsteps.localise.decision import StepIntervals
from howsteps.localise.features import Floats
from howsteps.localise.model import FILE as MODEL_FILE
from howsteps.localise.model import Model
from howsteps.narration.features import video_interval_count
from howsteps.pipeline import asking
from howsteps.pipeline.context import Callback, Context, ignore_event
from howsteps.pipeline.executor import LocalExecutor, single_threaded
from howsteps.pipeline.features import visual_features
from howsteps.pipeline.options import INTERVAL, RunOptions
from howsteps.pipeline.run import Run, clean_title, reader_of
from howsteps.pipeline.selection import set_aside_unusable
from howsteps.pipeline.stages import path_of, prepare_narration
from howsteps.pipeline.work_folder import (
    CACHE,
    MODEL,
    check_folders,
    load_steps,
    script_of_learnt,
    write_report,
    write_result,
    writing_to,
)
from howsteps.reader import AnswerFolder, Reader
from howsteps.script.matching import NEAR_WEIGHT, spoken_by_video
from howsteps.store import result_file, rounded, without_captions
from howsteps.task import Localisation, Result, Script, Task, Video
from howsteps.vision.features import SPACE_FILE, FeatureSpace

# Mean over all steps of a video; absent steps count as 0. Over eighteen jobs, 81 % of the
# narrations of other jobs are below this, and 5 % of those of the same job.
MIN_MEAN_CONFIDENCE = 0.15
OTHER_JOB = "hardly any step is found with confidence: it may show another job"


def apply(
    model: Path,
    sources: Sequence[Path],
    out: Path,
    *,
    options: RunOptions | None = None,
    llm: Reader | str | None = None,
    workers: int = 1,
    pages: bool = True,
    callback: Callback = ignore_event,
) -> Run:
    """Place the steps of a model in new videos, and write the same files as a run.

    A model of video frames needs video files; a model of words needs captions, or transcription.
    The narration of the new videos is matched with the steps; a model of words also uses these
    mentions to place the steps. Runs in modes ``paper`` and ``authors`` have no model.

    The arguments are those of :func:`howsteps.apply`; ``speech``, ``device`` and ``title`` are
    among the options. ``pages``: also write the page and the exports.

    Raises
    ------
    InputError
        There is no model, or a source cannot be read at all.
    """
    folder = model if (model / SPACE_FILE).is_file() else model / MODEL
    if not (folder / MODEL_FILE).is_file():
        result_file(model)  # raises a better error if this is not a work folder
        raise InputError(model, "has no model; run 'howsteps run' again, in mode 'default'")
    learnt, space = Model.load(folder), FeatureSpace.load(folder)
    known = load_steps(folder, learnt.steps)
    check_folders(out, *sources)
    options = replace(options or RunOptions(), quick=space.quick)
    title = options.title
    name = clean_title(title) if title is not None else known.job or out.resolve().name
    collection = read_videos(sources, name)
    [task], problems = collection.tasks, list(collection.problems)
    context = Context(Cache(out / CACHE), LocalExecutor(workers), callback)
    results: dict[str, Result] = {}
    with writing_to(out):
        if space.words is not None:
            task, new_problems = prepare_narration(task, options, context)
            problems += new_problems
        task, vectors, new_problems = _features(task, space, options, context)
        task, problems = set_aside_unusable(task, vectors, [*problems, *new_problems])
        if space.words is None:
            # A model of video frames works without captions, so remarks on them are dropped.
            task, new_problems = prepare_narration(task, options, context)
            problems += [problem for problem in new_problems if not problem.harmless]
        asked = asking.Asked(task, script_of_learnt(known, task))
        if reader := reader_of(llm):
            asked = asking.ask(task, asked.script, reader, options, context, None)
            problems += asked.problems
        problems += asking.tidied(reader)
        if isinstance(reader, AnswerFolder) and reader.ask:
            return Run({}, {}, tuple(problems))
        result, new_problems = _placed(learnt, vectors, asked)
        problems += new_problems
        if result.task.videos:
            results[task.name] = result
            problems += _other_job_remarks(result)
            write_result(result, out)
            if pages:
                problems += write_report(result, out, context)
    return Run(results, dict.fromkeys(results, out), tuple(problems))


def _other_job_remarks(result: Result) -> list[Problem]:
    """Remarks on narrated videos in which hardly any step is found with some confidence."""
    mean = {
        video: np.mean([place.confidence for place in places])
        for video, places in result.by_video.items()
        if places
    }
    return [
        Problem(path_of(video), OTHER_JOB, harmless=True)
        for video in result.task.videos
        if video.sentences and mean.get(video.id, 1.0) < MIN_MEAN_CONFIDENCE
    ]


def _placed(
    learnt: Model,
    vectors: Mapping[str, NDArray[np.float32]],
    asked: asking.Asked,
) -> tuple[Result, list[Problem]]:
    """The steps of a model in new videos, of those in which they can be placed."""
    seconds = learnt.options.seconds_per_interval or INTERVAL
    places: list[Localisation] = []
    problems: list[Problem] = []
    placed: list[Video] = []
    for video in asked.task.videos:
        try:
            with single_threaded():
                located = _localised(learnt, vectors[video.id], asked, video)
        except HowstepsError as error:
            problems.append(problem_of(error, path_of(video)))
            continue
        places += map(rounded, located.in_seconds([video.id], seconds))
        placed.append(without_captions(video))
    result = Result(
        replace(asked.task, videos=tuple(placed)),
        asked.script,
        tuple(places),
        readings=asked.readings,
        read_videos=asked.read_videos,
    )
    return result.within({video.id for video in placed}), problems


def _localised(
    learnt: Model, x: NDArray[np.float32], asked: asking.Asked, video: Video
) -> StepIntervals:
    """The steps of a model in a new video."""
    readings = None
    if video.id in asked.read_videos:
        rows = [(r.start, r.end, r.step) for r in asked.readings if r.video == video.id]
        readings = [np.array(rows, np.float64).reshape(-1, 3)]
    mentions = [_mentions(asked.script, video)]
    return learnt.localise([x], mentions=mentions, readings=readings, absent=True)


def _mentions(script: Script, video: Video) -> Floats:
    """The mentions of the steps in a video, S×4.

    A matched mention has the weight of a near-mention: it is less certain than the mentions of a
    script that many narrators agreed on.
    """
    mentions = [(m, k, NEAR_WEIGHT) for k, step in enumerate(script.steps) for m in step.mentions]
    [rows] = spoken_by_video(Task("", (video,)), mentions)
    return rows


def read_videos(sources: Sequence[Path], name: str) -> Collection:
    """Read all videos under some paths as one task."""
    videos: list[Video] = []
    problems: list[Problem] = []
    names = Names("video")
    for source in sources:
        collection = datasets.read_tasks(source)
        problems += collection.problems
        for task in collection.tasks:
            for video in task.videos:
                given, changed = names.give(video.id)
                if changed:
                    problems.append(Problem(source, changed, harmless=True))
                videos.append(replace(video, id=given))
    return Collection((Task(name, tuple(videos)),), tuple(problems))


def _features(
    task: Task, space: FeatureSpace, options: RunOptions, context: Context
) -> tuple[Task, dict[str, NDArray[np.float32]], list[Problem]]:
    """Compute the features that the model takes as input: T×d by video id, with problems."""
    if space.words is not None:
        vectors = {
            video.id: space.words.features(
                video, video_interval_count(video, INTERVAL), seconds=INTERVAL
            )
            for video in task.videos
            if video.sentences
        }
        return task, vectors, []
    reason = "the model needs video frames, but there is no video file"
    problems = [Problem(Path(v.id), reason) for v in task.videos if not v.media]
    task, found = visual_features(task, replace(options, vision=True), context)
    return task, found.vectors, [*problems, *found.problems]
