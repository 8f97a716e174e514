"""Videos of another job: set aside, and told with the steps that they have in common.

Half of a collection may cook the eggs in a pan. Their steps do not belong into the script of the
others, and are worth telling where enough narrators agree on them.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from howsteps.engine.context import Context
from howsteps.errors import Problem
from howsteps.narration.relevance import Way, names_the_job, relevance
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.stages import discover_script
from howsteps.task import OtherWay, SetAside, Task, WayStep

OTHER_SCRIPT = "script of another way"  # the stage, as events call it
FEWEST_VIDEOS = 8
FEWEST_STEPS = 5
FEWEST_NARRATORS, NARRATORS = 3, 0.1  # of a step: a number, and a share of the videos


class OfThisJob(NamedTuple):
    """The task without the videos of another job, and those videos.

    There is a remark on each of them, or one on all of a way.
    """

    task: Task
    aside: tuple[SetAside, ...] = ()
    remarks: tuple[Problem, ...] = ()
    ways: tuple[Way, ...] = ()


def of_this_job(task: Task, options: RunOptions) -> OfThisJob:
    """Set aside the videos of another job; the modes of the paper learn from all of them."""
    if options.keep_all or options.mode != "default":
        return OfThisJob(task)
    found = relevance(task)
    others = [video for video in task.videos if video.id in found.aside]
    kept = tuple(video for video in task.videos if video.id not in found.aside)
    remarks = [
        Problem(
            video.media or Path(video.id),
            f"set aside as another job: {found.aside[video.id]} (to keep it: --keep-all)",
            harmless=True,
        )
        for video in others
        if not any(video.id in way.videos for way in found.ways)
    ]
    if not names_the_job(task):
        reason = (
            f"the name {task.name!r} says little about the job, so videos of other jobs are hard "
            'to recognise; name the job, as in --title "change a tire"'
        )
        remarks.append(Problem(Path(task.name), reason, harmless=True))
    remarks += [
        Problem(Path(task.name), way.sentence(len(task.videos)), harmless=True)
        for way in found.ways
    ]
    aside = tuple(SetAside(v.id, v.title, found.aside[v.id]) for v in others)
    return OfThisJob(replace(task, videos=kept), aside, tuple(remarks), found.ways)


def with_their_steps(problems: Iterable[Problem], told: Iterable[OtherWay]) -> list[Problem]:
    """Problems in which the remark on a way says that the page has its own steps, if it has."""
    reasons = {way.reason for way in told}
    there = "; their own steps are at the end of the page"
    return [
        replace(one, reason=f"{one.reason}{there}") if one.reason in reasons else one
        for one in problems
    ]


def other_ways(
    task: Task, ways: Iterable[Way], options: RunOptions, context: Context
) -> tuple[OtherWay, ...]:
    """The ways that have a script of their own.

    Parameters
    ----------
    task
        All videos, heard; those of the ways are among them.
    """
    found = []
    for way in ways:
        if len(way.videos) < FEWEST_VIDEOS:
            continue
        videos = tuple(video for video in task.videos if video.id in way.videos)
        own = replace(task, videos=videos)
        script = discover_script(own, options, context, stage=OTHER_SCRIPT)
        enough = max(FEWEST_NARRATORS, NARRATORS * len(videos))
        steps = tuple(
            WayStep(step.label, step.support) for step in script.steps if step.support >= enough
        )
        if len(steps) >= FEWEST_STEPS:
            found.append(OtherWay(way.sentence(len(task.videos)), way.videos, steps))
    return tuple(found)
