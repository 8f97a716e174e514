"""The stage ``features``: videos → one vector per interval, in worker processes, through the cache.

``python -m howsteps.pipeline.features`` is such a worker process: it describes one video (see
:func:`howsteps.vision.features.describe_into`).
"""

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from howsteps.errors import VISION, CannotWrite, MissingExtra, Problem
from howsteps.io.cache import Cache
from howsteps.io.worker_process import serve
from howsteps.narration.features import Vocabulary
from howsteps.pipeline.context import Context, ItemAt
from howsteps.pipeline.executor import (
    LocalExecutor,
    Outcome,
    cores,
    map_in_threads,
    single_threaded,
)
from howsteps.pipeline.options import RunOptions
from howsteps.task import Mode, Task, Video
from howsteps.vision.features import (
    Features,
    FeatureSpace,
    Method,
    PooledFrames,
    PooledOptions,
    VideoDescriptors,
    WorkerOptions,
    describe_into,
    describe_video,
    pooled_frames,
)

STAGE = "features"
_WORKER = "howsteps.pipeline.features"


def method_of(mode: Mode, quick: bool) -> Method:
    """The method of a mode; a quick one is faster and less accurate."""
    if mode == "default":
        return pooled_frames(quick)
    from howsteps.paper import visual_words  # noqa: PLC0415 - not for the default

    return visual_words.VisualWords(visual_words.QUICK if quick else visual_words.WordOptions())


def visual_features(task: Task, options: RunOptions, context: Context) -> tuple[Task, Features]:
    """Compute the features of the video frames; also returns the task with video durations.

    Raises ``MissingExtra`` if ``options.vision`` is True and the extra is not installed, or the
    mode or device needs another one.
    """
    videos = [video for video in task.videos if video.media]
    if not videos or options.vision is False:
        return task, Features()
    if VISION.missing:
        if options.vision:
            raise MissingExtra(VISION.name, VISION.purpose)
        reason = f"only the captions were used; to look at the videos too: {VISION.command}"
        return task, Features(problems=(Problem(Path(task.name), reason, harmless=True),))
    method = method_of(options.mode, options.quick)
    found = features_of(videos, method, context, task=task.name, device=options.device)
    return with_durations(task, found), found


def feature_space(task: Task, features: Features, options: RunOptions) -> FeatureSpace:
    """The feature space of a task: video frames if it has them, else words."""
    if features.vectors:
        return FeatureSpace(quick=options.quick)
    return FeatureSpace(words=Vocabulary.of(task.videos))


def unreadable_media(task: Task, features: Features) -> set[Path]:
    """The video files that could not be decoded."""
    found = {problem.path for problem in features.problems}
    return {v.media for v in task.videos if v.media in found and v.id not in features.durations}


def with_durations(task: Task, features: Features) -> Task:
    """The task with the durations of the decoded videos."""
    durations = features.durations
    videos = tuple(replace(v, duration=durations.get(v.id, v.duration)) for v in task.videos)
    return replace(task, videos=videos)


def features_of(
    videos: Sequence[Video],
    method: Method,
    context: Context,
    *,
    task: str = "",
    device: str = "cpu",
) -> Features:
    """Compute a vector for every interval of every video that has a file.

    ``task`` is the task name in events. With ``features`` in the context's ``redo``, cached
    descriptors are ignored.

    Raises ``HowstepsError`` if something is not installed.
    """
    method.require_extras(device)
    described, problems = describe_videos(videos, method, context, task=task, device=device)
    if not described:
        return Features(problems=tuple(problems))
    with single_threaded():
        vectors, learnt = method.vectors(described, context.cache)
    for video in described:
        if not vectors[video.video].any():
            problems.append(Problem(video.media, "no features could be computed"))
            if not vectors[video.video].shape[1]:
                del vectors[video.video]
    return Features(
        vectors,
        tuple(problems),
        {video.video: video.vector_key(learnt) for video in described if video.video in vectors},
        {video.video: video.record.seconds for video in described},
        learnt,
        tuple(described),
    )


def describe_videos(
    videos: Sequence[Video],
    method: Method,
    context: Context,
    *,
    task: str = "",
    device: str = "cpu",
) -> tuple[list[VideoDescriptors], list[Problem]]:
    """Compute the descriptors of all videos that have a file, unless they are cached.

    Runs on the cluster of the context's executor, or in processes on this machine. On
    interruption, unfinished videos are abandoned at once; completed ones stay in the cache. Returns
    the descriptors of the videos that could be read, and problems.

    Raises ``CannotWrite`` if the cache cannot be written, or the disk is full.
    """
    videos = [video for video in videos if video.media is not None]
    redo, executor = STAGE in context.redo, context.executor
    worker = WorkerOptions(_WORKER, method, method.origins(), context.cache, device, redo=redo)
    stop = threading.Event()
    if not isinstance(executor, LocalExecutor):
        describe = partial(describe_video, worker=worker)
        outcomes = executor.map(describe, videos, device=device)
    else:
        workers = max(1, min(executor.workers, len(videos)))
        worker = replace(worker, threads=max(1, cores() // workers))
        lock = threading.Lock()

        def report(video: str, seconds: float, total: float | None) -> None:
            with lock:
                context.callback(ItemAt(STAGE, task, video, seconds, total))

        describe = partial(describe_video, worker=worker, report=report, stop=stop)
        outcomes = map_in_threads(describe, videos, workers)
    done: list[Outcome[VideoDescriptors]] = []
    with context.stage(STAGE, task, len(videos)) as progress:
        try:
            for outcome in outcomes:
                if outcome.failure is not None and outcome.failure.fatal:
                    raise CannotWrite(outcome.failure.reason)
                done.append(outcome)
                cached = outcome.value is not None and outcome.value.cached
                progress.done(videos[outcome.index].id, cached=cached)
        except BaseException:
            stop.set()
            raise
    done.sort(key=lambda outcome: outcome.index)
    described = [outcome.value for outcome in done if outcome.value is not None]
    problems = [
        Problem(videos[outcome.index].media or Path(), outcome.failure.reason)
        for outcome in done
        if outcome.failure is not None
    ]
    problems += [
        Problem(each.media, defect) for each in described for defect in each.record.defects
    ]
    return described, problems


def _describe(job: dict[str, Any]) -> dict[str, object]:
    """Do the job of a worker process."""
    return describe_into(Cache(Path(job["cache"])), _method(job["method"], job["options"]), job)


def _method(name: str, options: dict[str, Any]) -> Method:
    """The method with options from their JSON form."""
    if name == PooledFrames.name:
        return PooledFrames(msgspec.convert(options, PooledOptions))
    from howsteps.paper.visual_words import VisualWords, WordOptions  # noqa: PLC0415

    return VisualWords(msgspec.convert(options, WordOptions))


if __name__ == "__main__":
    serve(_describe)
