"""Place the steps of an edited script again, from what a work folder has: nothing is heard twice.

The narrations are those of ``result.json``, the descriptors of the videos those of the cache. So an
edit takes seconds, and the folder of the videos is read only where its frames were looked at.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from howsteps.datasets.collection import WORK_FOLDER
from howsteps.engine.cache import Cache
from howsteps.engine.context import Context
from howsteps.engine.events import Callback, ignore_event
from howsteps.errors import HowstepsError, InputError, Problem
from howsteps.io.files import read_bounded
from howsteps.localisation import LEAD
from howsteps.pipeline import stages
from howsteps.pipeline.features import unreadable_media, visual_features
from howsteps.pipeline.given_script import look_for, read_given
from howsteps.pipeline.options import RunOptions, read_options
from howsteps.pipeline.work_folder import (
    CACHE,
    write_model,
    write_report,
    write_result,
    write_script,
)
from howsteps.result import FILE, read_result, settled
from howsteps.task import BY_HAND, Localisation, Mention, Result, Script, Step, Task

_LARGEST_RESULT = 2**31  # bytes


def place_again(
    work: Path | str,
    script: Script | Path | str,
    *,
    by_hand: Sequence[Localisation] | None = None,
    matched: bool = False,
    pages: bool = True,
    callback: Callback = ignore_event,
) -> Result:
    """Place the steps of another script in the videos of a work folder, and write all of it again.

    Writes what a run writes: ``script.json``, ``script.md``, ``result.json``, ``model/``, the page
    and the exports.

    Parameters
    ----------
    work
        The folder of a result.
    script
        The new script; the path of a file that has it (``.json``, else a page of text); or the
        text of such a page.
    by_hand
        Where a person put steps of the new script: each counts as said there, and as sure. A
        localisation without a time says that the step is not in the video. None: as in the result
        that is there, for the steps that have the same labels or mentions.
    matched
        Match the steps of a ``Script`` that have no mentions with what is said, as those of a page
        of text are; else nobody names them.
    pages
        Also write the page and the exports.
    callback
        Called with every event.

    Returns
    -------
    The result as it is read back from its file, with the problems on the way.

    Raises
    ------
    HowstepsError
        There is no result, the script cannot be used, or no video is long enough for its steps.
    """
    work = Path(work).absolute()
    if work.is_file():
        raise HowstepsError(f"{work} is a file, not a folder")
    before = read_result(work)
    root = work if (work / WORK_FOLDER).is_file() else work.parent  # of several jobs
    options = read_options(root) or RunOptions()
    context = Context(Cache(root / CACHE), callback=callback)
    problems: list[Problem] = []
    if isinstance(script, Script):
        chosen = look_for(script, before.task, options, context) if matched else script
    else:
        chosen, problems = read_given(script, before.task, before.script, options, context)
    fixed = _still_placed(before, chosen) if by_hand is None else tuple(by_hand)
    _check(fixed, before.task, chosen)
    task, features = visual_features(before.task, options, context)
    said = with_hand(task, chosen, fixed)
    place = stages.localise(*said, features, options, context)
    found = placed_by_hand(place.localisations, fixed)
    problems += [*features.problems, *place.remarks]
    given = script.absolute() if isinstance(script, Path) else None
    problems += write_script(task, chosen, work, edited=True, given=given)
    write_model(place.model, work)
    result = settled(Result(task, chosen, found, before.set_aside, before.other_ways))
    write_result(result, work, context)
    if pages:
        problems += write_report(result, work, context, unreadable_media(task, features))
    context.note(problems)
    return replace(result, problems=tuple(problems))


def placed_before(folder: Path, task: Task, script: Script) -> tuple[Localisation, ...]:
    """What a person placed by hand in the result of a folder, if there is one, and still can be."""
    try:
        if BY_HAND.encode() not in read_bounded(folder / FILE, _LARGEST_RESULT, "a result"):
            return ()
        before = read_result(folder)
    except InputError:
        return ()
    videos = {video.id for video in task.videos}
    return tuple(one for one in _still_placed(before, script) if one.video in videos)


def placed_by_hand(
    found: Iterable[Localisation], by_hand: Iterable[Localisation]
) -> tuple[Localisation, ...]:
    """Localisations, those of a person in place of ours."""
    hand = {(one.video, one.step): one for one in by_hand}
    return tuple(_sure(hand[key]) if (key := (o.video, o.step)) in hand else o for o in found)


def _sure(one: Localisation) -> Localisation:
    if one.time is None:
        absent = replace(one, start=None, end=None, confidence=0.0, presence=0.0)
        return replace(absent, evidence=BY_HAND)
    return replace(one, confidence=1.0, presence=1.0, evidence=BY_HAND)


def with_hand(task: Task, script: Script, by_hand: Sequence[Localisation]) -> tuple[Task, Script]:
    """A task and its script in which steps are named where a person put them, and only there."""
    if not by_hand:
        return task, script
    placed = {(one.video, one.step): one for one in by_hand}
    steps, more = [], []
    for number, step in enumerate(script.steps):
        own = [m for m in step.mentions if (m.video, number) not in placed]
        new = [
            _as_said(one, step)
            for (_, of), one in placed.items()
            if of == number and one.time is not None
        ]
        more += new
        steps.append(replace(step, mentions=(*own, *new)))
    videos = tuple(
        replace(v, mentions=(*v.mentions, *(m for m in more if m.video == v.id)))
        for v in task.videos
    )
    return replace(task, videos=videos), replace(script, steps=tuple(steps))


def _as_said(one: Localisation, step: Step) -> Mention:
    """A place as if the narrator had named the step a moment before."""
    at = round(max(0.0, float(one.time or 0.0) - LEAD), 3)
    return Mention(one.video, "", "", step.label, at, at)


def _still_placed(before: Result, script: Script) -> tuple[Localisation, ...]:
    """What a person placed by hand before, for the steps that are still there.

    A step is the one of the same label, or, where it was renamed, the one of the same mentions.
    """
    labels = {step.label: number for number, step in enumerate(script.steps)}
    mentions = {step.mentions: number for number, step in enumerate(script.steps) if step.mentions}
    now = [labels.get(s.label, mentions.get(s.mentions)) for s in before.script.steps]
    return tuple(
        replace(one, step=number)
        for one in before.localisations
        if one.evidence == BY_HAND and (number := now[one.step]) is not None
    )


def _check(by_hand: Iterable[Localisation], task: Task, script: Script) -> None:
    videos = {video.id for video in task.videos}
    for one in by_hand:
        if one.video not in videos or one.step not in range(len(script.steps)):
            raise HowstepsError(f"there is no step {one.step + 1} of video {one.video!r} to place")
