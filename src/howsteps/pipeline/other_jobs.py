"""Set aside videos of another job, and find the steps that groups of them share.

Half of a collection may cook the eggs in a pan. Those steps do not belong in the script of the
other half, but are listed separately if enough narrators agree on them.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from howsteps.errors import Problem
from howsteps.narration.relevance import Way, names_the_job, relevance
from howsteps.pipeline.context import Context
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.stages import discover_script
from howsteps.task import OtherWay, SetAside, Task, WayStep

OTHER_SCRIPT = "script of another way"  # stage name in events
MIN_VIDEOS = 8
MIN_STEPS = 5
MIN_SUPPORT, MIN_SUPPORT_SHARE = 3, 0.1  # of a step: videos, and share of the videos


class FilteredTask(NamedTuple):
    """The task without the videos of another job, and those videos.

    There is one remark per video, or one per group of videos that do the job in another way.
    """

    task: Task
    set_aside: tuple[SetAside, ...] = ()
    remarks: tuple[Problem, ...] = ()
    ways: tuple[Way, ...] = ()


def set_aside_other_jobs(task: Task, options: RunOptions) -> FilteredTask:
    """Set aside the videos of another job; modes ``paper`` and ``authors`` keep all of them."""
    if options.keep_all or options.mode != "default":
        return FilteredTask(task)
    found = relevance(task)
    others = [video for video in task.videos if video.id in found.aside]
    kept = tuple(video for video in task.videos if video.id not in found.aside)
    remarks = [
        Problem(
            video.media or Path(video.id),
            f"set aside as another job: {found.aside[video.id]} (to keep it: `keep_all=True`)",
            harmless=True,
        )
        for video in others
        if not any(video.id in way.videos for way in found.ways)
    ]
    if not names_the_job(task):
        reason = (
            f"the name {task.name!r} says little about the job, so videos of other jobs are hard "
            'to recognise; name the job, as in `title="change a tire"`'
        )
        remarks.append(Problem(Path(task.name), reason, harmless=True))
    remarks += [
        Problem(Path(task.name), way.sentence(len(task.videos)), harmless=True)
        for way in found.ways
    ]
    aside = tuple(SetAside(v.id, v.title, found.aside[v.id]) for v in others)
    return FilteredTask(replace(task, videos=kept), aside, tuple(remarks), found.ways)


def with_page_hint(problems: Iterable[Problem], on_page: Iterable[OtherWay]) -> list[Problem]:
    """Add to the remark on another way, if its steps are on the page, where to find them."""
    reasons = {way.reason for way in on_page}
    hint = "; their own steps are at the end of the page"
    return [
        replace(problem, reason=f"{problem.reason}{hint}") if problem.reason in reasons else problem
        for problem in problems
    ]


def find_other_ways(
    task: Task, ways: Iterable[Way], options: RunOptions, context: Context
) -> tuple[OtherWay, ...]:
    """Find the groups of videos that have a script of their own.

    Parameters
    ----------
    task
        All videos with their mentions, including those of the ways.
    """
    found = []
    for way in ways:
        if len(way.videos) < MIN_VIDEOS:
            continue
        videos = tuple(video for video in task.videos if video.id in way.videos)
        way_task = replace(task, videos=videos)
        script = discover_script(way_task, options, context, stage=OTHER_SCRIPT)
        min_support = max(MIN_SUPPORT, MIN_SUPPORT_SHARE * len(videos))
        steps = tuple(
            WayStep(step.label, step.support)
            for step in script.steps
            if step.support >= min_support
        )
        if len(steps) >= MIN_STEPS:
            found.append(OtherWay(way.sentence(len(task.videos)), way.videos, steps))
    return tuple(found)
