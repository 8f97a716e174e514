"""A person's script: read it, keep what the person placed, and place its steps again.

To place again, narrations come from ``result.json`` and video descriptors from the cache, so an
edit takes seconds, and the video files are read only if their frames are used.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from howsteps.errors import HowstepsError, InputError, Problem
from howsteps.io.cache import Cache
from howsteps.io.files import check_unchanged, fingerprint
from howsteps.pipeline import stages
from howsteps.pipeline.context import Callback, Context, ignore_event
from howsteps.pipeline.earlier import (
    NOTHING,
    as_if_silent,
    decided_by_hand,
    ids,
    in_script,
    localised_by_hand,
    moved,
    parts_of,
    places_now,
    read_earlier,
    read_whole,
    searched,
    steps_now,
    unchanged,
    with_choices,
    with_mentions,
    with_videos,
)
from howsteps.pipeline.features import unreadable_media, visual_features
from howsteps.pipeline.options import FILE as OPTIONS
from howsteps.pipeline.options import INTERVAL, RunOptions, one_or_more, trusted_options
from howsteps.pipeline.selection import check_choices, choices_in, choices_of
from howsteps.pipeline.work_folder import (
    CACHE,
    SCRIPT_TEXT,
    Page,
    check_folders,
    read_decisions,
    root_of,
    write_report,
    write_work,
    writing_to,
)
from howsteps.script.matching import with_videos_searched
from howsteps.script.text_form import TextStep, parse_script_text, script_text
from howsteps.script.text_mentions import script_of_text, unmentioned, with_matches
from howsteps.store import FILE, Decisions, PlacedByHand, result_file, rounded, without_captions
from howsteps.task import (
    LIKE_SEEN,
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
from howsteps.vision.features import Features


def place_again(
    work: Path | str,
    script: Script | Path | str | None,
    *,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    by_hand: Sequence[Localisation] | None = None,
    parser: str | None = None,
    pages: bool = True,
    unchanged_since: tuple[int, int] | None = None,
    callback: Callback | None = None,
) -> Result:
    """Place the steps of another script in the videos of a work folder, and update its files.

    Writes the same files as a run: ``script.md``, ``result.json``, ``model/``, the page and the
    exports. Steps of a ``Script`` that have no mentions are matched with what is said.

    The arguments are those of :func:`howsteps.place`.

    Parameters
    ----------
    by_hand
        All places that a person chose for steps of the new script: each is treated as a mention
        there, and is certain. A localisation without a time means that the step is not in the
        video. None: those that were chosen before.
    pages
        Also write the page and the exports.
    unchanged_since
        The :func:`~howsteps.io.files.fingerprint` of the result that the script was made from;
        None: of the one that is there. If another program replaces it meanwhile, nothing is
        written.

    Returns
    -------
    The result as it is read back from its file, with all problems.

    Raises
    ------
    HowstepsError
        There is no result, the script cannot be used, or no video is long enough for its steps.
    """
    work = Path(work).absolute()
    check_folders(work)
    found = unchanged_since or fingerprint(result_file(work))
    root = root_of(work)
    stages.check_parser(parser)
    options, problems = trusted_options(work if (work / OPTIONS).exists() else root, parser)
    context = Context(Cache(root / CACHE), callback=callback or ignore_event)
    given = script.absolute() if isinstance(script, Path) else None
    page = _given_page(given or script, work)
    before, decisions = read_whole(work), read_decisions(work)
    asked = RunOptions(keep=one_or_more(keep), drop=one_or_more(drop))
    check_choices([before.task], asked)
    _, lines, remarks = choices_in(page, before.task, before) if page else ({}, {}, [])
    chosen = lines | choices_of(asked.keep, asked.drop, before.task)
    whole = with_choices(before, chosen)
    task, aside = (part.task for part in parts_of(whole))
    if page:
        origin = origin_of(page, before, whole.task)
        new, more = read_page(page, task, origin, parser, aside)
        remarks += more
    else:
        new = _with_what_is_said(script, before, task, aside, parser)
    used = ids(task)
    index = steps_now(before.script.within(used), new.within(used))
    if by_hand is None:
        places = places_now(decisions.places, before.script, new, index)
    else:
        places = _replaced(decisions.places, by_hand, before, new)
    kept, readings = moved(whole.localisations, index), moved(whole.readings, index)
    # Where nobody says what is done, the places that sight alone found stay.
    silent = not any(video.mentions for video in task.videos)
    seen = (p for p in kept if silent and p.evidence == LIKE_SEEN and p.video in used)
    fixed = (*seen, *localised_by_hand(places, new, task))
    whole = replace(whole, script=new.read(readings), readings=readings)
    part = whole.within(used)
    task, features = visual_features(task, options, context)
    localised = place(
        task, part.script, features, options, context, fixed, part.readings, part.read_videos
    )
    problems += [*remarks, *features.problems]
    task = replace(task, videos=tuple(map(without_captions, task.videos)))
    stay = (p for p in kept if p.video not in used)
    whole = replace(
        whole,
        task=with_videos(task, aside),
        localisations=(*localised.localisations, *stay),
    )
    own = own_page(work)
    edited = not (own and own.is_as_found)  # other videos alone are no edit
    edited |= not says(page, before.script) if page else _titles(new) != _titles(before.script)
    with writing_to(root):
        check_unchanged(work / FILE, found)
        choices = choices_of(options.keep, (), task) | read_decisions(work).videos | chosen
        result, remarks = write_work(
            whole,
            work,
            localised.model,
            decisions=Decisions(chosen, places),
            keep=[video.id for video in task.videos if choices.get(video.id) == "keep"],
            edited=edited,
            given=given,
            continues=page,
        )
        if pages:
            remarks += write_report(result, work, context, unreadable_media(task, features))
    return replace(result, problems=(*problems, *remarks))


def _titles(script: Script) -> list[tuple[str, bool, bool]]:
    return [(step.label, step.optional, step.alternative) for step in script.steps]


def _with_what_is_said(
    script: Script | Path | str | None,
    before: Result,
    task: Task,
    aside: Task,
    parser: str | None,
) -> Script:
    """A script, or that of an earlier result, with what is said of its steps in all videos.

    What is known of a step in the videos that are set aside stays. Steps without mentions are
    matched with what is said; in videos that are new, all steps are looked for.
    """
    every, used = with_videos(task, aside), ids(task)
    new = script if isinstance(script, Script) else before.script
    index = steps_now(before.script.within(used), new.within(used))
    fresh = used - in_script(before)
    new = with_mentions(new, before.script, index, ids(aside))
    new = searched(new, every, fresh)
    reader = partial(read_labels, parser=parser)
    if heard := used if script else fresh:
        new = with_matches(new, as_if_silent(every, heard), reader)
    return _with_record(new, before.script)


def _replaced(
    known: Iterable[PlacedByHand], by_hand: Sequence[Localisation], before: Result, script: Script
) -> list[PlacedByHand]:
    """The places that a person chose now, and those for steps that are in neither script.

    Raises ``HowstepsError`` if one is for a video or step that does not exist.
    """
    videos = ids(before.task)
    for each in by_hand:
        if each.video not in videos or each.step not in range(len(script.steps)):
            raise HowstepsError(
                f"there is no step {each.step + 1} of video {each.video!r} to place"
            )
    labels = {step.label for step in (*before.steps, *script.steps)}
    others = [each for each in known if each.step not in labels or each.video not in videos]
    return [*others, *decided_by_hand(by_hand, script)]


# The script that a person gives


def origin_of(page: Page, before: Result, task: Task) -> Result:
    """The result that a page was made from.

    It is the one that was kept with it, that of the work folder or, of other videos, the one beside
    the page.
    """
    if not page.path.is_absolute():  # it is in no file
        return before
    for path in (page.path.with_suffix(".json"), None, page.path.parent):
        result = before if path is None else read_earlier(path)
        if unchanged(task, result):
            return result
    return NOTHING


def read_page(
    page: Page,
    task: Task,
    before: Result,
    parser: str | None,
    aside: Task = NOTHING.task,
    again: Collection[str] = (),
) -> tuple[Script, list[Problem]]:
    """Read a script as text: its mentions in the videos of a task, and in others that it was in.

    Raises ``InputError`` if it cannot be used; the message gives the line.

    Parameters
    ----------
    task
        With mentions.
    before
        The result that the text was made from: its steps stay what they are there, and are looked
        for in the videos that are new.
    aside
        Videos that are set aside: what is known of those that were in the script stays.
    again
        Videos in which steps without a mention are looked for again.
    """
    known = unchanged(with_videos(task, aside), before)
    away = replace(aside, videos=tuple(video for video in aside.videos if video.id in known))
    everyone = with_videos(task, away)
    old, new = before.script.within(known), ids(everyone) - known
    steps = parse_script_text(page.text, page.path)
    reader = partial(read_labels, parser=parser)
    # Where nobody says what is done, that nobody mentions a step is no news.
    spoken = any(video.mentions for video in task.videos)
    remarks: list[Problem] = []
    if known and says(page, before.script):
        script = old
        if spoken and (heard := new.union(again)):
            script = with_matches(script, as_if_silent(everyone, heard), reader)
        script = with_videos_searched(script, everyone, new)
    else:
        script, remarks = script_of_text(steps, everyone, old, reader, page.path)
        if known:
            script = with_videos_searched(script, everyone, new)
    remarks = [*unmentioned(steps, script.within(ids(task)), page.path), *remarks]
    return _with_record(script, old), remarks if spoken else []


def says(page: Page, script: Script) -> bool:
    """Whether the steps of a page are those that it has for a script."""
    return bool(script.steps) and _lines(page.text, page) == _lines(script_text("", script), page)


def _lines(text: str, page: Page) -> list[TextStep]:
    return [replace(step, line=0) for step in parse_script_text(text, page.path)]


def own_page(folder: Path) -> Page | None:
    """The ``script.md`` of a work folder; None if there is none, or it cannot be read."""
    try:
        return Page.of(folder / SCRIPT_TEXT)
    except InputError:
        return None


def _given_page(script: Script | Path | str | None, work: Path) -> Page | None:
    """The page that a script is given as; without one, what was typed into that of the folder."""
    if script is None:
        return typed_page(work)
    return None if isinstance(script, Script) else Page.of(script)


def typed_page(folder: Path) -> Page | None:
    """The ``script.md`` of a work folder, if a person has edited it since howsteps wrote it."""
    page = own_page(folder)
    return None if page is None or page.is_as_written else page


def _with_record(script: Script, known: Script) -> Script:
    """The script with the record of what a language model changed in the one that it was made from.

    That is another one if it has none of its steps.
    """
    labels = {step.label for step in known.steps}
    if script.editor or labels.isdisjoint(step.label for step in script.steps):
        return script
    return replace(script, editor=known.editor, changes=known.changes)


def read_labels(labels: Sequence[str], parser: str | None) -> list[Sequence[Mention]]:
    """The acts that labels of steps name, as mentions without video and time."""
    from howsteps.narration.mentions import acts_of_labels  # noqa: PLC0415 - loads spaCy

    return [*acts_of_labels(labels, model=parser)]


# The places that a person chose


def place(
    task: Task,
    script: Script,
    features: Features,
    options: RunOptions,
    context: Context,
    fixed: Sequence[Localisation] = (),
    readings: Sequence[Reading] = (),
    read_videos: Collection[str] = (),
) -> stages.LocalisedTask:
    """Place the steps of a script; those that a person placed, or sight alone (``fixed``), stay.

    Of several places of one step, the last counts. The others are placed as if such a step was
    mentioned where it is. In the ``read_videos``,
    ``readings`` stand for mentions, except for steps that were read nowhere: of those, no model was
    asked, or what it did not find is no mention any more.
    """
    unread = {*range(len(script.steps))} - {reading.step for reading in readings}
    manual = {(each.video, each.step): each for each in fixed}
    task, script = _with_mentions_of(task, script, manual.values())
    evidence = [each for each in readings if (each.video, each.step) not in manual]
    evidence += [
        Reading(m.video, index, m.start, m.end, 1, 1)
        for index, step in enumerate(script.steps)
        for m in step.mentions
        if m.video in read_videos and (index in unread or (m.video, index) in manual)
    ]
    found = stages.localise(task, script, features, options, context, evidence, read_videos)
    places = (
        replace(p, evidence=SAID) if p.evidence == READ and p.step in unread else p
        for p in found.localisations
    )
    certain = {where: rounded(each) for where, each in manual.items()}
    located = tuple(certain.get((p.video, p.step), p) for p in places)
    if options.extents == "filled":
        from howsteps.localise.segments import filled  # noqa: PLC0415 - loads Numba

        lengths = {video.id: video.length for video in task.videos}
        wider = filled(located, lengths, features.vectors, seconds=INTERVAL)
        located = tuple(map(rounded, wider))
    return found._replace(localisations=located)


def _with_mentions_of(
    task: Task, script: Script, fixed: Collection[Localisation]
) -> tuple[Task, Script]:
    """Replace the mentions of steps that are fixed by one mention just before the place."""
    if not fixed:
        return task, script
    from howsteps.localise.order import LEAD  # noqa: PLC0415 - loads Numba

    placed = {(each.video, each.step) for each in fixed}
    added: list[Mention] = []
    steps: list[Step] = []
    for index, step in enumerate(script.steps):
        starts = {
            each.video: round(max(0.0, float(each.time) - LEAD), 3)
            for each in fixed
            if each.step == index and each.time is not None
        }
        new = [Mention(v, "", "", step.label, start, start) for v, start in starts.items()]
        kept = [m for m in step.mentions if (m.video, index) not in placed]
        steps.append(replace(step, mentions=(*kept, *new)))
        added += new
    videos = tuple(
        replace(v, mentions=(*v.mentions, *(m for m in added if m.video == v.id)))
        for v in task.videos
    )
    return replace(task, videos=videos), replace(script, steps=tuple(steps))
