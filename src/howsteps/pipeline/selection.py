"""Which videos of a task are used."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from howsteps.errors import HowstepsError, Problem
from howsteps.narration.relevance import Relevance, names_the_job, relevance
from howsteps.pipeline.earlier import LEFT_OUT, NOTHING, ids
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.stages import path_of
from howsteps.pipeline.work_folder import Page, with_what_is_used
from howsteps.script.text_form import parse_choices
from howsteps.store import Choices
from howsteps.task import Result, SetAside, Task


class FilteredTask(NamedTuple):
    """The task without the videos of another job, and those videos.

    There is one remark per video, or one per group of videos that do the job in another way.
    """

    task: Task
    set_aside: tuple[SetAside, ...] = ()
    remarks: tuple[Problem, ...] = ()


def check_choices(
    tasks: Sequence[Task], options: RunOptions, named_in: Mapping[str, Path] | None = None
) -> list[Problem]:
    """Check that the videos to keep or drop exist, in any of the tasks.

    Raises ``HowstepsError`` if one does not, or returns a remark if a file names it: videos come
    and go.
    """
    ids = {name for task in tasks for video in task.videos for name in (video.id, video.youtube)}
    remarks = []
    for unknown in sorted({*options.keep, *options.drop} - ids):
        reason = f"there is no video {unknown!r:.80} to keep or drop"
        if named_in is None or unknown not in named_in:
            raise HowstepsError(reason)
        remarks.append(Problem(named_in[unknown], reason, harmless=True))
    return remarks


def choices_of(keep: Iterable[str], drop: Iterable[str], task: Task) -> Choices:
    """What a person chose for videos, which may be named by their YouTube ids; others are ignored.

    A video in both lists is kept.
    """
    ids = {video.youtube: video.id for video in task.videos}
    ids |= {video.id: video.id for video in task.videos}
    named: Choices = {**dict.fromkeys(drop, "drop"), **dict.fromkeys(keep, "keep")}
    return {ids[name]: choice for name, choice in named.items() if name in ids}


class Chosen(NamedTuple):
    """The options with the videos that a person chose; what to remember of that, and remarks."""

    options: RunOptions
    decisions: Choices
    remarks: list[Problem]


def chosen_options(
    options: RunOptions,
    page: Page | None,
    known: Choices,
    task: Task,
    before: Result,
    is_used: bool,
    in_files: Collection[str],
) -> Chosen:
    """What a person chose by options, by lines of a script, and before (``known``).

    An option wins over a line, and a line over what was decided before. All of it is remembered,
    but for the choices ``in_files`` with options, which hold as long as they are there, and lines
    that howsteps wrote. If the page is not used (``is_used``), only what a person changed on it
    counts.
    """
    lines, changes, remarks = choices_in(page, task, before) if page else ({}, {}, [])
    if page and page.is_as_written:
        changes = {}
    chosen = known | (lines if is_used else changes)
    chosen |= choices_of(options.keep, options.drop, task)
    typed = choices_of({*options.keep} - {*in_files}, {*options.drop} - {*in_files}, task)
    remembered = known.keys() | changes.keys() | typed.keys()
    keep, drop = (
        tuple(v for v, choice in chosen.items() if choice == wanted and v in ids(task))
        for wanted in ("keep", "drop")
    )
    decisions: Choices = {video: chosen[video] for video in sorted(remembered)}
    return Chosen(replace(options, keep=keep, drop=drop), decisions, remarks)


def choices_in(page: Page, task: Task, before: Result) -> tuple[Choices, Choices, list[Problem]]:
    """What the lines ``keep:`` and ``drop:`` of a script choose, and which of it a person wrote.

    There is a line for every video that was set aside ``before``. There is a remark on a video that
    never was there.
    """
    lines = parse_choices(page.text)
    videos = (*task.videos, *before.task.videos)
    known = {name for video in videos for name in (video.id, video.youtube)}
    remarks = [
        Problem(page.path, f"there is no video {name!r} to keep or drop", line, harmless=True)
        for names in lines
        for name, line in names.items()
        if name not in known
    ]
    chosen = choices_of(*lines, task)
    aside = {each.video for each in before.set_aside}
    used = ids(before.task) - aside
    changes: Choices = {
        video: choice
        for video, choice in chosen.items()
        if video not in (aside if choice == "drop" else used)
    }
    return chosen, changes, remarks


def set_aside_other_jobs(task: Task, options: RunOptions, before: Result = NOTHING) -> FilteredTask:
    """Set aside the videos of another job, and those that a person dropped.

    Modes ``paper`` and ``authors`` keep all videos that are not dropped. A video that was
    set aside ``before``, and is in a script since, keeps its reason.
    """
    is_asked = not options.keep_all and options.mode == "default"
    found = relevance(task) if is_asked else Relevance({})
    chosen = choices_of(options.keep, options.drop, task)
    dropped = {video: LEFT_OUT for video, choice in chosen.items() if choice == "drop"}
    dropped |= {each.video: each.reason for each in before.set_aside if each.video in dropped}
    doubts = dropped | found.aside
    others = [v for v in task.videos if v.id in doubts and chosen.get(v.id) != "keep"]
    likely = found.probability
    aside = tuple(SetAside(v.id, v.title, doubts[v.id], likely.get(v.id)) for v in others)
    ids = {video.id for video in others}
    kept = tuple(video for video in task.videos if video.id not in ids)
    ways = [way for way in found.ways if ids.intersection(way.videos)]
    remarks = [
        Problem(
            path_of(video),
            f"set aside: {each.because} "
            f"(to keep it: `keep={json.dumps(video.youtube or video.id, ensure_ascii=False)}`)",
            harmless=True,
        )
        for video, each in zip(others, aside, strict=True)
        if video.id not in dropped and not any(video.id in way.videos for way in ways)
    ]
    if is_asked and not names_the_job(task):
        reason = (
            f"the name {task.name!r} says little about the job, so videos of other jobs are hard "
            'to recognise; name the job, as in `title="change a tire"`'
        )
        remarks.append(Problem(Path(task.name), reason, harmless=True))
    remarks += [
        Problem(Path(task.name), way.sentence(len(task.videos)), harmless=True) for way in ways
    ]
    return FilteredTask(replace(task, videos=kept), aside, tuple(remarks))


def set_aside_unusable(
    task: Task, features: Mapping[str, object], problems: Sequence[Problem]
) -> tuple[Task, list[Problem]]:
    """Drop the videos that have neither a sentence nor features.

    Each is reported once, with the first problem that is not a remark: "is not a video file"
    says more than "has no captions", and "lasts longer than 6 hours" more than "has no frames".
    """
    used = {v.id for v in task.videos if v.sentences or v.id in features}
    unusable = dict.fromkeys(path_of(v) for v in task.videos if v.id not in used)
    reasons: dict[Path, str] = {}
    for problem in sorted(problems, key=lambda problem: problem.harmless):
        reasons.setdefault(problem.path, problem.reason)
    dropped = [
        Problem(path, f"not used: {reasons.get(path, 'it has neither captions nor features')}")
        for path in unusable
    ]
    others = [problem for problem in problems if problem.path not in unusable]
    task = replace(task, videos=tuple(v for v in task.videos if v.id in used))
    return task, with_what_is_used(others, task) + dropped
