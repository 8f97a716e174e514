"""Find the steps of a job that was learnt before in videos that were not there then."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from howsteps import datasets
from howsteps.datasets.names import Names
from howsteps.engine.cache import Cache
from howsteps.engine.context import Context
from howsteps.engine.events import Callback, ignore_event
from howsteps.engine.executor import local_executor
from howsteps.errors import HowstepsError, Problem
from howsteps.localise.model import Model
from howsteps.narration.features import video_interval_count
from howsteps.pipeline import feature_space, stages, vision
from howsteps.pipeline.feature_space import FeatureSpace
from howsteps.pipeline.options import INTERVAL, RunOptions
from howsteps.pipeline.run import Run, known, mark
from howsteps.pipeline.work_folder import CACHE, MODEL, write_report, write_result
from howsteps.result import settled
from howsteps.task import Localisation, Result, Script, Step, Task, Video


def apply(
    model: Path,
    sources: Sequence[Path],
    out: Path,
    *,
    speech: str | None = None,
    device: str = "cpu",
    title: str | None = None,
    workers: int = 1,
    pages: bool = True,
    callback: Callback = ignore_event,
) -> Run:
    """Place the steps of a model in other videos, and write them down as a run does.

    A model that reads pictures needs the video files; one that reads words needs captions, or
    speech. Every step has a place; one that fits there no better than by chance has the evidence
    ``order``, and exports leave it out.

    Parameters
    ----------
    model
        The ``model`` folder of a run, or its work folder.
    sources
        Videos, captions, or folders of them.
    out
        Where to write and to keep what was computed.
    title
        What the result is called; else as ``out`` is.
    speech, device, workers, pages, tell
        As for :func:`howsteps.pipeline.run.run`.

    Raises
    ------
    InputError
        There is no model, or a source cannot be read at all.
    """
    folder = model if (model / feature_space.FILE).is_file() else model / MODEL
    learnt, space = Model.load(folder), feature_space.load(folder)
    task, problems = _gathered(sources, title or out.resolve().name)
    mark(out, *sources)
    work = Context(Cache(out / CACHE), local_executor(workers), callback, workers=workers)
    options = RunOptions(mode=space.mode, speech=speech, quick=space.quick, device=device)
    if space.words is not None:
        task, found = stages.transcribed(task, options, work)
        problems += found
        task, found = stages.narrated(task, options, work)
        problems += found
    task, vectors, found = _described(task, space, options, work)
    task, problems = known(task, vectors, [*problems, *found])
    places: list[Localisation] = []
    kept: list[Video] = []
    for video in task.videos:
        try:
            located = learnt.localise([vectors[video.id]])
        except HowstepsError as error:
            problems.append(Problem(video.media or Path(video.id), str(error)))
            continue
        seconds = learnt.options.seconds_per_interval or INTERVAL
        places += located.in_seconds([video.id], [seconds])
        kept.append(video)
    results: dict[str, Result] = {}
    if kept:
        script = Script(tuple(Step(label, ()) for label in learnt.steps))
        result = settled(Result(replace(task, videos=tuple(kept)), script, tuple(places)))
        results[task.name] = result
        write_result(result, out, work)
        if pages:
            problems += write_report(result, out, work)
    work.note(problems)
    return Run(results, dict.fromkeys(results, out), tuple(problems))


def _gathered(sources: Sequence[Path], name: str) -> tuple[Task, list[Problem]]:
    """All videos under some paths as one task."""
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
    return Task(name, tuple(videos)), problems


def _described(
    task: Task, space: FeatureSpace, options: RunOptions, work: Context
) -> tuple[Task, dict[str, NDArray[np.float32]], list[Problem]]:
    """The videos in the numbers that the model knows."""
    if space.words is not None:
        heard = [video for video in task.videos if video.sentences]
        vectors = {
            video.id: space.words.features(
                video, video_interval_count(video, INTERVAL), seconds=INTERVAL
            )
            for video in heard
        }
        return task, vectors, []
    reason = "the model reads pictures, and this has none"
    lost = [Problem(Path(v.id), reason) for v in task.videos if not v.media]
    seen = vision.visual_features(task, replace(options, vision=True), work, space.vocabularies)
    return seen.task, seen.vectors, [*lost, *seen.problems]
