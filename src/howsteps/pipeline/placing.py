"""A person's script: read it, keep what the person placed, and place its steps again.

To place again, narrations come from ``result.json`` and video descriptors from the cache, so an
edit takes seconds, and the video files are read only if their frames are used.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from howsteps.errors import HowstepsError, InputError, Problem
from howsteps.io.files import check_unchanged, fingerprint
from howsteps.narration.labels import plain_act
from howsteps.pipeline import stages
from howsteps.pipeline.cache import Cache, stage_key
from howsteps.pipeline.context import Callback, Context, ignore_event
from howsteps.pipeline.features import unreadable_media, visual_features
from howsteps.pipeline.options import FILE as OPTIONS
from howsteps.pipeline.options import RunOptions, one_or_more, trusted_options
from howsteps.pipeline.selection import LEFT_OUT, check_choices, choices_in, choices_of
from howsteps.pipeline.work_folder import (
    CACHE,
    SCRIPT_TEXT,
    Page,
    check_folders,
    decide,
    read_aside,
    read_decisions,
    root_of,
    write_report,
    write_result,
    write_script,
    writing_to,
)
from howsteps.script.matching import with_videos_searched
from howsteps.script.text_form import TextStep, VideoChoices, parse_script_text, script_text
from howsteps.script.text_mentions import script_of_text, unmentioned, with_matches
from howsteps.store import (
    FILE,
    Choices,
    read_result,
    result_file,
    rounded,
    without_captions,
)
from howsteps.task import (
    BY_HAND,
    LIKE_SEEN,
    READ,
    SAID,
    Localisation,
    Mention,
    Reading,
    Result,
    Script,
    SetAside,
    Step,
    Task,
    Video,
)
from howsteps.vision.features import Features

LABELS = "labels"  # a folder of the cache


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
        Places that a person chose for steps of the new script: each is treated as a mention there,
        and is certain. A localisation without a time means that the step is not in the video.
        None: keep those of the existing result, for steps with the same label or mentions.
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
    keep, drop = one_or_more(keep), one_or_more(drop)
    given = script.absolute() if isinstance(script, Path) else None
    page = Page.of(given or script) if isinstance(script, Path | str) else None
    before, aside = read_result(work), read_aside(work)
    decided, remarks = _decided(before, aside, RunOptions(keep=keep, drop=drop), page)
    problems += remarks
    keep, drop = ([v for v in decided if decided[v] == each] for each in ("keep", "drop"))
    earlier = before
    before, aside = with_videos(before, aside, keep, drop)
    if page:
        new, remarks = read_page(page, before.task, earlier, options, context)
        problems += remarks
    elif isinstance(script, Script | None):
        reader = partial(read_labels, parser=options.parser, context=context)
        new = script or before.script
        if script or keep:
            new = _with_record(with_matches(new, before.task, reader), before.script)
    manual = _still_placed(before, new, BY_HAND) if by_hand is None else tuple(by_hand)
    _check(manual, before.task, new)
    silent = not any(video.mentions for video in before.task.videos)
    fixed = (*(_still_placed(before, new, LIKE_SEEN) if silent else ()), *manual)
    task, features = visual_features(before.task, options, context)
    readings = still_read(before, new)
    new = new.read(readings)
    localised = place(task, new, features, options, context, fixed, readings, before.read_videos)
    problems += [*features.problems, *localised.remarks]
    task = replace(task, videos=tuple(map(without_captions, task.videos)))
    result = replace(
        before,
        task=task,
        script=new,
        localisations=localised.localisations,
        readings=readings,
    )
    with writing_to(root):
        check_unchanged(work / FILE, found)
        decide(work, decided)
        kept = choices_of(options.keep, (), task) | read_decisions(work).videos
        ids = [video.id for video in task.videos if kept.get(video.id) == "keep"]
        choices = VideoChoices(before.set_aside, ids)
        own = own_page(work)
        edited = not (own and own.is_as_found)  # other videos alone are no edit
        edited |= not says(page, earlier.script) if page else _titles(new) != _titles(before.script)
        problems += write_script(
            task, new, work, edited=edited, given=given, continues=page, choices=choices
        )
        write_result(result, work, aside, localised.model)
        if pages:
            problems += write_report(result, work, context, unreadable_media(task, features))
    return replace(result, problems=tuple(problems))


def _decided(
    before: Result, aside: Sequence[Video], asked: RunOptions, page: Page | None
) -> tuple[Choices, list[Problem]]:
    """What a person chose for videos, by options or by lines of a script; and remarks."""
    known = replace(before.task, videos=(*before.task.videos, *aside))
    check_choices([known], asked)
    _, changes, remarks = choices_in(page, known, before) if page else ({}, {}, [])
    return changes | choices_of(asked.keep, asked.drop, known), remarks


def _titles(script: Script) -> list[tuple[str, bool, bool]]:
    return [(step.label, step.optional, step.alternative) for step in script.steps]


def with_videos(
    before: Result, aside: Sequence[Video], keep: Collection[str], drop: Collection[str]
) -> tuple[Result, tuple[Video, ...]]:
    """A result with other videos, and those that are now set aside.

    The narrations of the kept ones are matched with the steps.
    """
    used = {video.id for video in before.task.videos}
    aside = [video for video in aside if video.id not in used]  # two files may disagree
    kept = [video for video in aside if video.id in keep]
    dropped = [v for v in before.task.videos if v.id in drop and v.id not in keep]
    if not (kept or dropped):
        return before, tuple(aside)
    out, back = {video.id for video in dropped}, {video.id for video in kept}
    videos = [video for video in (*before.task.videos, *kept) if video.id not in out]
    if not videos:
        raise HowstepsError("no video would be left")
    videos.sort(key=lambda video: video.id)
    task = replace(before.task, videos=tuple(videos))
    script = before.script.within({video.id for video in videos})
    left = tuple(each for each in before.set_aside if each.video not in back)
    changed = replace(
        before,
        task=task,
        script=with_videos_searched(script, task, back),
        localisations=tuple(p for p in before.localisations if p.video not in out),
        readings=tuple(r for r in before.readings if r.video not in out),
        read_videos=frozenset(before.read_videos) - out,
        set_aside=(*left, *(SetAside(v.id, v.title, LEFT_OUT) for v in dropped)),
    )
    return changed, (*(video for video in aside if video.id not in back), *dropped)


# The script that a person gives


def read_page(
    page: Page, task: Task, before: Result | None, options: RunOptions, context: Context
) -> tuple[Script, list[Problem]]:
    """Read a script as text.

    ``task`` has mentions; ``before`` is the result that the text was made from: its steps stay what
    they are there, and are looked for in the videos that are new. Raises ``InputError`` if it
    cannot be used; the message gives the line.
    """
    known = unchanged(task, before) if before else set()
    old = before.script.within(known) if before else Script(())
    steps = parse_script_text(page.text, page.path)
    reader = partial(read_labels, parser=options.parser, context=context)
    # Where nobody says what is done, that nobody mentions a step is no news.
    spoken = any(video.mentions for video in task.videos)
    remarks: list[Problem] = []
    if before and known and says(page, before.script):
        script = with_matches(old, task, reader) if spoken else old
    else:
        script, remarks = script_of_text(steps, task, old, reader, page.path)
    if known:
        script = with_videos_searched(script, task, {v.id for v in task.videos} - known)
    remarks = [*unmentioned(steps, script, page.path), *remarks]
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


def unchanged(task: Task, before: Result) -> set[str]:
    """The videos that say what they said in an earlier run."""
    known = {video.id: (video.sentences, video.mentions) for video in before.task.videos}
    return {v.id for v in task.videos if known.get(v.id) == (v.sentences, v.mentions)}


def read_labels(
    labels: Sequence[str], parser: str | None, context: Context
) -> list[Sequence[Mention]]:
    """The acts that labels of steps name, as mentions without video and time."""
    return [_acts_of_label(label, parser, context) for label in labels]


def _acts_of_label(label: str, parser: str | None, context: Context) -> Sequence[Mention]:
    if (plain := plain_act(label)) is not None:
        return (plain,)
    key = stage_key("narration", label=label, parser=parser)
    acts = context.cached(LABELS, key, tuple[Mention, ...])
    if acts is None:
        from howsteps.narration.labels import acts_of_labels  # noqa: PLC0415 - loads spaCy

        [found] = acts_of_labels([label], model=parser)
        acts = tuple(found)
        context.cache.put(LABELS, key, acts)
    return acts


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
    task, script = _with_manual_mentions(task, script, manual.values())
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
    certain = {where: rounded(_certain(each)) for where, each in manual.items()}
    located = tuple(certain.get((p.video, p.step), p) for p in places)
    if options.extents == "filled":
        from howsteps.localise.segments import filled  # noqa: PLC0415 - loads Numba

        lengths = {video.id: video.length for video in task.videos}
        located = tuple(map(rounded, filled(located, lengths)))
    return found._replace(localisations=located)


def _certain(manual: Localisation) -> Localisation:
    if manual.evidence == LIKE_SEEN:
        return manual
    if manual.time is None:
        absent = replace(manual, start=None, end=None, confidence=0.0, presence=0.0)
        return replace(absent, evidence=BY_HAND)
    return replace(manual, confidence=1.0, presence=1.0, evidence=BY_HAND)


def _with_manual_mentions(
    task: Task, script: Script, by_hand: Collection[Localisation]
) -> tuple[Task, Script]:
    """Replace the mentions of manually placed steps by one mention just before the place."""
    if not by_hand:
        return task, script
    from howsteps.localise.order import LEAD  # noqa: PLC0415 - loads Numba

    manual = {(each.video, each.step) for each in by_hand}
    added: list[Mention] = []
    steps: list[Step] = []
    for index, step in enumerate(script.steps):
        starts = {
            each.video: round(max(0.0, float(each.time) - LEAD), 3)
            for each in by_hand
            if each.step == index and each.time is not None
        }
        new = [Mention(v, "", "", step.label, start, start) for v, start in starts.items()]
        kept = [m for m in step.mentions if (m.video, index) not in manual]
        steps.append(replace(step, mentions=(*kept, *new)))
        added += new
    videos = tuple(
        replace(v, mentions=(*v.mentions, *(m for m in added if m.video == v.id)))
        for v in task.videos
    )
    return replace(task, videos=videos), replace(script, steps=tuple(steps))


def placed_before(
    before: Result | None, task: Task, script: Script, evidence: str
) -> tuple[Localisation, ...]:
    """The places of an earlier result by this evidence, for steps and videos that still exist."""
    if before is None:
        return ()
    videos = {video.id for video in task.videos}
    return tuple(p for p in _still_placed(before, script, evidence) if p.video in videos)


def _new_indices(before: Result, script: Script) -> list[int | None]:
    """The index of each step of an earlier result in a script; None if it is not there.

    Steps correspond by label or, if renamed, by their mentions; a renamed step without mentions, by
    the step before it.
    """
    by_label = {step.label: index for index, step in enumerate(script.steps)}
    by_mentions = {step.mentions: index for index, step in enumerate(script.steps) if step.mentions}
    old_steps = before.script.steps
    found = [by_label.get(step.label, by_mentions.get(step.mentions)) for step in old_steps]
    for index, step in enumerate(script.steps):
        if index not in found and not step.mentions:
            next_old = (
                found.index(index - 1) + 1 if index - 1 in found else len(found) * (index > 0)
            )
            if (
                next_old < len(found)
                and found[next_old] is None
                and not old_steps[next_old].mentions
            ):
                found[next_old] = index
    return found


def _still_placed(before: Result, script: Script, evidence: str) -> tuple[Localisation, ...]:
    """The localisations of an earlier result by this evidence, for the steps that still exist."""
    new_index = _new_indices(before, script)
    return tuple(
        replace(each, step=index)
        for each in before.localisations
        if each.evidence == evidence and (index := new_index[each.step]) is not None
    )


def still_read(before: Result, script: Script) -> tuple[Reading, ...]:
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


def _check(by_hand: Iterable[Localisation], task: Task, script: Script) -> None:
    videos = {video.id for video in task.videos}
    for each in by_hand:
        if each.video not in videos or each.step not in range(len(script.steps)):
            raise HowstepsError(
                f"there is no step {each.step + 1} of video {each.video!r} to place"
            )
