"""The stage that looks at the videos, told to whoever watches the run."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from howsteps.engine.cache import Cache
from howsteps.engine.context import Context
from howsteps.engine.events import ItemAt
from howsteps.errors import MissingExtra, Problem
from howsteps.extras import VISION
from howsteps.pipeline.options import RunOptions
from howsteps.task import Task, Video
from howsteps.vision.options import VisionOptions, looking_for

if TYPE_CHECKING:
    from howsteps.pipeline.descriptors import VideoProgress as Looked
    from howsteps.vision.codebook import Codebook


@dataclass(frozen=True)
class VisualFeatures:
    """What was seen of a task: vectors and their keys by video, and the words they count."""

    task: Task
    vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    vocabularies: "dict[str, Codebook]" = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def visual_features(
    task: Task,
    options: RunOptions,
    work: Context,
    vocabularies: "Mapping[str, Codebook] | None" = None,
) -> VisualFeatures:
    """Look at the videos that are there as files; their lengths are known afterwards.

    What is seen is told in the words of ``vocabularies``, or in words learnt from these videos.

    Raises
    ------
    MissingExtra
        Looking was asked for, and what it needs is not installed.
    """
    films = [video for video in task.videos if video.media]
    if not films or options.vision is False:
        return VisualFeatures(task)
    if VISION.missing:
        if options.vision:
            raise MissingExtra(VISION.name, VISION.purpose)
        reason = f"the videos were not looked at; for that: {VISION.command}"
        return VisualFeatures(task, problems=(Problem(Path(task.name), reason, harmless=True),))
    from howsteps.pipeline.features import features_of  # noqa: PLC0415 - loads what vision needs

    looking = looking_for(options.mode, quick=options.quick)
    again = "features" in work.redo
    if work.executor.takes_tasks:
        # Each film is watched wherever there is room; what follows finds it in the store.
        watch = partial(
            _watch, looking=looking, cache=work.cache, device=options.device, again=again
        )
        for _ in work.executor.map(watch, films, device=options.device):
            again = False
    with work.stage("features", task.name, len(films)) as progress:

        def callback(looked: "Looked") -> None:
            if looked.state == "watching":
                where = (looked.video, round(looked.seconds, 3), looked.total)
                work.callback(ItemAt("features", task.name, *where))
            else:
                progress.done(looked.video, kept=looked.state == "known")

        found = features_of(
            films,
            looking,
            cache=work.cache,
            vocabularies=vocabularies,
            device=options.device,
            workers=work.workers,
            again=again,
            progress=callback,
        )
    videos = tuple(replace(v, duration=found.durations.get(v.id, v.duration)) for v in task.videos)
    return VisualFeatures(
        replace(task, videos=videos),
        found.vectors,
        found.keys,
        found.vocabularies,
        tuple(found.problems),
    )


def _watch(video: Video, looking: VisionOptions, cache: Cache, device: str, *, again: bool) -> None:
    """Look at one film, for the store."""
    from howsteps.pipeline.descriptors import extract_descriptors  # noqa: PLC0415 - loads what vision needs

    extract_descriptors([video], looking.watch, cache=cache, device=device, workers=1, again=again)
