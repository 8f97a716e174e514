"""Place the steps of an edited script again, from the files of a work folder.

Narrations come from ``result.json`` and video descriptors from the cache, so an edit takes seconds,
and the video files are read only if their frames are used.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from howsteps.errors import HowstepsError, InputError, Problem
from howsteps.io.files import check_unchanged, fingerprint, read_bounded
from howsteps.localise.method import LEAD
from howsteps.pipeline import stages
from howsteps.pipeline.cache import Cache
from howsteps.pipeline.context import Context
from howsteps.pipeline.events import Callback, ignore_event
from howsteps.pipeline.features import unreadable_media, visual_features
from howsteps.pipeline.options import RunOptions, trusted_options
from howsteps.pipeline.stages import (
    is_text,
    match_unmentioned_steps,
    read_given_script,
    with_choices,
)
from howsteps.pipeline.work_folder import (
    CACHE,
    check_parts,
    root_of,
    write_model,
    write_report,
    write_result,
    write_script,
    writing_to,
)
from howsteps.script.text_form import VideoChoices
from howsteps.store import FILE, read_result, result_file, rounded, without_captions
from howsteps.task import (
    BY_HAND,
    READ,
    SAID,
    Localisation,
    Mention,
    Reading,
    Result,
    Script,
    Step,
    Task,
)

_LARGEST_RESULT = 2**31  # bytes


def place_again(
    work: Path | str,
    script: Script | Path | str,
    *,
    by_hand: Sequence[Localisation] | None = None,
    matched: bool = False,
    parser: str | None = None,
    pages: bool = True,
    unchanged_since: tuple[int, int] | None = None,
    callback: "Callback | None" = None,
) -> Result:
    """Place the steps of another script in the videos of a work folder, and update its files.

    Writes the same files as a run: ``script.json``, ``script.md``, ``result.json``, ``model/``, the
    page and the exports.

    Parameters
    ----------
    work
        The work folder of a single result.
    script
        The new script; the path of its file (``.json``, else text); or its text.
    by_hand
        Places that a person chose for steps of the new script: each is treated as a mention there,
        and is certain. A localisation without a time means that the step is not in the video.
        None: keep those of the existing result, for steps with the same label or mentions.
    matched
        Match the steps of a ``Script`` that have no mentions with what is said, as is done for
        text; otherwise they stay without mentions.
    parser
        Another spaCy pipeline, by name or folder; that of ``options.json`` is not used.
    pages
        Also write the page and the exports.
    unchanged_since
        The :func:`~howsteps.io.files.fingerprint` of the result that the script was made from;
        None: of the one that is there. If another program replaces it meanwhile, nothing is
        written.
    callback
        Called with every event.

    Returns
    -------
    The result as it is read back from its file, with all problems.

    Raises
    ------
    HowstepsError
        There is no result, the script cannot be used, or no video is long enough for its steps.
    """
    work = Path(work).absolute()
    if work.is_file():
        raise HowstepsError(f"{work} is a file, not a folder")
    check_parts(work)
    found = unchanged_since or fingerprint(result_file(work))
    before = read_result(work)
    root = root_of(work)
    stages.check_parser(parser)
    options, problems = trusted_options(root, parser)
    context = Context(Cache(root / CACHE), callback=callback or ignore_event)
    if isinstance(script, Script):
        new_script = script
        if matched:
            new_script = match_unmentioned_steps(script, before.task, options, context)
    else:
        new_script, remarks = read_given_script(
            script, before.task, before.script, options, context
        )
        problems += remarks
    fixed = _still_placed(before, new_script) if by_hand is None else tuple(by_hand)
    _check(fixed, before.task, new_script)
    task, features = visual_features(before.task, options, context)
    readings = _still_read(before, new_script)
    task_with_places, with_places = with_manual_mentions(task, new_script, fixed)
    unread = {*range(len(new_script.steps))} - {reading.step for reading in readings}
    localised = stages.localise(
        task_with_places,
        with_places,
        features,
        options,
        context,
        with_mentions_as_readings(readings, before.read_videos, with_places, fixed, unread),
        before.read_videos,
    )
    places = [
        replace(p, evidence=SAID) if p.evidence == READ and p.step in unread else p
        for p in localised.localisations
    ]
    localisations = override_localisations(places, fixed)
    problems += [*features.problems, *localised.remarks]
    given = script.absolute() if isinstance(script, Path) else None
    task = replace(task, videos=tuple(map(without_captions, task.videos)))
    result = replace(
        before, task=task, script=new_script, localisations=localisations, readings=readings
    )
    if given and is_text(given):
        options = with_choices(options, given)
        problems += _unused_choices(result, options, given)
    choices = VideoChoices(before.set_aside, options.keep)
    with writing_to(root):
        check_unchanged(work / FILE, found)
        problems += write_script(task, new_script, work, edited=True, given=given, choices=choices)
        write_model(localised.model, work)
        write_result(result, work, context)
        if pages:
            problems += write_report(result, work, context, unreadable_media(task, features))
    context.note(problems)
    return replace(result, problems=tuple(problems))


def _unused_choices(result: Result, options: RunOptions, script: Path) -> list[Problem]:
    """A remark if a script keeps or drops videos, which needs another run."""
    aside = {each.video for each in result.set_aside}
    used = {video.id for video in result.task.videos}
    if aside.isdisjoint(options.keep) and used.isdisjoint(options.drop):
        return []
    reason = "to use or leave out other videos, run again: howsteps run INPUT --script script.md"
    return [Problem(script, reason, harmless=True)]


def manual_localisations(folder: Path, task: Task, script: Script) -> tuple[Localisation, ...]:
    """The manual localisations in the result of a folder that still apply; empty without one."""
    try:
        if BY_HAND.encode() not in read_bounded(folder / FILE, _LARGEST_RESULT, "a result"):
            return ()
        before = read_result(folder)
    except InputError:
        return ()
    videos = {video.id for video in task.videos}
    return tuple(each for each in _still_placed(before, script) if each.video in videos)


def override_localisations(
    found: Iterable[Localisation], by_hand: Iterable[Localisation]
) -> tuple[Localisation, ...]:
    """Replace localisations by those that a person chose."""
    manual = {(each.video, each.step): rounded(_certain(each)) for each in by_hand}
    return tuple(manual.get((each.video, each.step), each) for each in found)


def _certain(manual: Localisation) -> Localisation:
    if manual.time is None:
        absent = replace(manual, start=None, end=None, confidence=0.0, presence=0.0)
        return replace(absent, evidence=BY_HAND)
    return replace(manual, confidence=1.0, presence=1.0, evidence=BY_HAND)


def with_manual_mentions(
    task: Task, script: Script, by_hand: Sequence[Localisation]
) -> tuple[Task, Script]:
    """Replace the mentions of manually placed steps by one mention at the chosen place."""
    if not by_hand:
        return task, script
    manual = {(each.video, each.step): each for each in by_hand}
    steps, added = [], []
    for index, step in enumerate(script.steps):
        kept = [m for m in step.mentions if (m.video, index) not in manual]
        new = [
            _as_mention(each, step)
            for each in manual.values()
            if each.step == index and each.time is not None
        ]
        added += new
        steps.append(replace(step, mentions=(*kept, *new)))
    videos = tuple(
        replace(v, mentions=(*v.mentions, *(m for m in added if m.video == v.id)))
        for v in task.videos
    )
    return replace(task, videos=videos), replace(script, steps=tuple(steps))


def with_mentions_as_readings(
    readings: Iterable[Reading],
    read_videos: Collection[str],
    script: Script,
    by_hand: Iterable[Localisation],
    unread: Collection[int] = (),
) -> tuple[Reading, ...]:
    """The readings, with the mentions that stand for one in a video that was read.

    These are the mentions of manually placed steps (:func:`with_manual_mentions`), and those of the
    ``unread`` steps, which no model was asked about.
    """
    manual = {(each.video, each.step) for each in by_hand}
    mentions = [
        Reading(m.video, index, m.start, m.end, 1, 1)
        for index, step in enumerate(script.steps)
        for m in step.mentions
        if m.video in read_videos and (index in unread or (m.video, index) in manual)
    ]
    return (*(each for each in readings if (each.video, each.step) not in manual), *mentions)


def _as_mention(localisation: Localisation, step: Step) -> Mention:
    """A mention of the step just before the localisation."""
    start = round(max(0.0, float(localisation.time or 0.0) - LEAD), 3)
    return Mention(localisation.video, "", "", step.label, start, start)


def _new_indices(before: Result, script: Script) -> list[int | None]:
    """The index of each step of an earlier result in a script; None if it is not there.

    Steps correspond by label or, if renamed, by their mentions.
    """
    by_label = {step.label: index for index, step in enumerate(script.steps)}
    by_mentions = {step.mentions: index for index, step in enumerate(script.steps) if step.mentions}
    return [by_label.get(s.label, by_mentions.get(s.mentions)) for s in before.script.steps]


def _still_read(before: Result, script: Script) -> tuple[Reading, ...]:
    """The readings of an earlier result, for the steps that still exist or were joined to one."""
    owner = {mention: index for index, step in enumerate(script.steps) for mention in step.mentions}
    new_index = _new_indices(before, script)
    for old, step in enumerate(before.script.steps):
        owners = Counter(owner.get(mention) for mention in step.mentions).most_common(1)
        if new_index[old] is None and owners and 2 * owners[0][1] > len(step.mentions):
            new_index[old] = owners[0][0]
    return tuple(
        replace(each, step=index)
        for each in before.readings
        if (index := new_index[each.step]) is not None
    )


def _still_placed(before: Result, script: Script) -> tuple[Localisation, ...]:
    """The manual localisations of an earlier result, for the steps that still exist."""
    new_index = _new_indices(before, script)
    return tuple(
        replace(each, step=index)
        for each in before.localisations
        if each.evidence == BY_HAND and (index := new_index[each.step]) is not None
    )


def _check(by_hand: Iterable[Localisation], task: Task, script: Script) -> None:
    videos = {video.id for video in task.videos}
    for each in by_hand:
        if each.video not in videos or each.step not in range(len(script.steps)):
            raise HowstepsError(
                f"there is no step {each.step + 1} of video {each.video!r} to place"
            )
