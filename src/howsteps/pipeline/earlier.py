"""What stays of an earlier result: its videos, what was said and read there, and the decisions.

A *whole* result has all videos, also those that were set aside: what is known of them is part of
its task, of its steps and readings, as if they were used, and ``set_aside`` names them. To leave a
video out, or to take it back, is another view of the whole, and nothing is lost by it.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from howsteps.errors import HowstepsError, InputError
from howsteps.script.matching import with_videos_searched
from howsteps.store import Choices, PlacedByHand, read_result, rounded
from howsteps.task import BY_HAND, Localisation, Reading, Result, Script, SetAside, Task

ASIDE = "set-aside.json"  # the part of a result that is about the videos that were set aside
LEFT_OUT = "you left it out"

OfStep = TypeVar("OfStep", Localisation, Reading)

NOTHING = Result(Task("", ()), Script(()), ())  # where there is no earlier result


def read_whole(work: Path) -> Result:
    """The whole result of a work folder, or in a file that has all of it."""
    return with_aside(read_result(work), work)


def with_aside(used: Result, work: Path) -> Result:
    """The result of a work folder with the videos that were set aside there."""
    path = work / ASIDE
    if not path.exists():
        return used
    aside = read_result(path)
    # A run that was killed may have left a video in both files.
    aside = aside.within(ids(aside.task) - ids(used.task))
    index = steps_now(aside.script, used.script)
    return replace(
        used,
        task=with_videos(used.task, aside.task),
        script=with_mentions(used.script, aside.script, index, ids(aside.task)),
        localisations=(*used.localisations, *moved(aside.localisations, index)),
        readings=(*used.readings, *moved(aside.readings, index)),
        read_videos=used.read_videos | aside.read_videos,
    )


class Parts(NamedTuple):
    """The parts of a whole result: of the videos that are used, and of those set aside."""

    used: Result
    aside: Result


def parts_of(whole: Result) -> Parts:
    """Divide a whole result."""
    aside = {each.video for each in whole.set_aside}
    part = replace(whole.within(aside), set_aside=())
    return Parts(whole.within(ids(whole.task) - aside), part)


def ids(task: Task) -> set[str]:
    """The ids of the videos of a task."""
    return {video.id for video in task.videos}


def with_videos(task: Task, more: Task) -> Task:
    """A task with the videos of another one too, in the order of their ids."""
    videos = sorted((*task.videos, *more.videos), key=lambda video: video.id)
    return replace(task, videos=tuple(videos))


def without(task: Task, videos: Collection[str]) -> Task:
    """A task without some videos."""
    return replace(task, videos=tuple(video for video in task.videos if video.id not in videos))


def in_script(whole: Result) -> set[str]:
    """The videos in which the steps were looked for: those that are used, or were before."""
    used = ids(whole.task) - {each.video for each in whole.set_aside}
    return used | mentioned(whole.script)


def mentioned(script: Script) -> set[str]:
    """The videos that a script has mentions of."""
    return {mention.video for step in script.steps for mention in step.mentions}


def unchanged(task: Task, before: Result) -> set[str]:
    """The videos that say what they said in an earlier result, and were in its script."""
    known = {video.id: (video.sentences, video.mentions) for video in before.task.videos}
    same = {v.id for v in task.videos if known.get(v.id) == (v.sentences, v.mentions)}
    return same & in_script(before)


def with_choices(whole: Result, chosen: Choices) -> Result:
    """A whole result with videos kept or dropped."""
    aside = {each.video: each for each in whole.set_aside if chosen.get(each.video) != "keep"}
    for video in whole.task.videos:
        if chosen.get(video.id) == "drop":
            aside.setdefault(video.id, SetAside(video.id, video.title, LEFT_OUT))
    if ids(whole.task) <= aside.keys():
        raise HowstepsError("no video would be left")
    return replace(whole, set_aside=tuple(aside.values()))


def searched(script: Script, task: Task, videos: Collection[str]) -> Script:
    """A script with its steps looked for in those of some videos that it does not mention yet."""
    new = {*videos} - mentioned(script)
    return with_videos_searched(script, task, new) if new else script


def as_if_silent(task: Task, others: Collection[str]) -> Task:
    """A task in which nobody says anything but in these videos."""
    videos = (v if v.id in others else replace(v, mentions=()) for v in task.videos)
    return replace(task, videos=tuple(videos))


# The steps of an earlier script in another one


def steps_now(before: Script, script: Script) -> list[int | None]:
    """The index that each step of an earlier script has in another one; None if it is gone.

    It is the step with the same label or, if it was renamed or joined to another, the one that has
    most of its mentions; if nobody mentions it, the one after the step that was before it.
    """
    by_label = {step.label: index for index, step in enumerate(script.steps)}
    owner = {mention: index for index, step in enumerate(script.steps) for mention in step.mentions}
    found: list[int | None] = []
    for step in before.steps:
        [(index, count)] = Counter(map(owner.get, step.mentions)).most_common(1) or [(None, 0)]
        found.append(by_label.get(step.label, index if 2 * count > len(step.mentions) else None))
    for index, step in enumerate(script.steps):
        if index not in found and not step.mentions:
            old = found.index(index - 1) + 1 if index - 1 in found else len(found) * (index > 0)
            if old < len(found) and found[old] is None and not before.steps[old].mentions:
                found[old] = index
    return found


def moved(items: Iterable[OfStep], index: Sequence[int | None]) -> tuple[OfStep, ...]:
    """Places or readings of steps that are now elsewhere; those of steps that are gone are not."""
    return tuple(replace(each, step=now) for each in items if (now := index[each.step]) is not None)


def with_mentions(
    script: Script, before: Script, index: Sequence[int | None], videos: Collection[str]
) -> Script:
    """A script with what an earlier one says of its steps in these videos, if it is still free."""
    taken = {mention for step in script.steps for mention in step.mentions}
    mentions = [list(step.mentions) for step in script.steps]
    for step, now in zip(before.steps, index, strict=True):
        if now is not None:
            mentions[now] += [m for m in step.mentions if m.video in videos and m not in taken]
    steps = (
        replace(step, mentions=tuple(sorted(own, key=lambda mention: mention.video)))
        for step, own in zip(script.steps, mentions, strict=True)
    )
    return replace(script, steps=tuple(steps))


def with_what_stays(
    result: Result, before: Result, every: Task, index: Sequence[int | None], *, was_asked: bool
) -> Result:
    """Make a result whole: with the videos that are set aside, and what was known of them before.

    What a language model read is known only if it ``was_asked`` before.
    """
    aside = without(every, ids(every) - {each.video for each in result.set_aside})
    stays = before.within(unchanged(aside, before))
    was_read = stays if was_asked else NOTHING
    return replace(
        result,
        task=with_videos(result.task, aside),
        localisations=(*result.localisations, *moved(stays.localisations, index)),
        readings=(*result.readings, *moved(was_read.readings, index)),
        read_videos=result.read_videos | was_read.read_videos,
    )


# The places that a person chose


def places_now(
    known: Iterable[PlacedByHand], before: Script, script: Script, index: Sequence[int | None]
) -> list[PlacedByHand]:
    """The places that a person chose, under the labels that their steps have now.

    Those of steps that are gone stay as they are: the steps may come back. Where a step was joined
    to another, a place of that one wins.
    """
    labels = {step.label: now for step, now in zip(before.steps, index, strict=True)}
    found: list[tuple[int, PlacedByHand]] = []
    for each in known:
        now = labels.get(each.step)
        if now is None:
            found.append((0, each))
        else:
            label = script.steps[now].label
            found.append((1 + (label == each.step), msgspec.structs.replace(each, step=label)))
    by_step = {(each.video, each.step): each for _, each in sorted(found, key=itemgetter(0))}
    return sorted(by_step.values(), key=lambda each: (each.video, each.step))


def localised_by_hand(
    places: Iterable[PlacedByHand], script: Script, task: Task
) -> tuple[Localisation, ...]:
    """The places that a person chose for the steps and videos of a task: each is certain."""
    videos = ids(task)
    index = {step.label: k for k, step in enumerate(script.steps)}
    return tuple(
        Localisation(each.video, index[each.step], None, evidence=BY_HAND)
        if each.time is None
        else Localisation(
            each.video, index[each.step], each.time, each.start, each.end, 1.0, BY_HAND, 1.0
        )
        for each in places
        if each.step in index and each.video in videos
    )


def decided_by_hand(places: Iterable[Localisation], script: Script) -> list[PlacedByHand]:
    """Places that a person chose for the steps of a script, as decisions."""
    return [
        PlacedByHand(p.video, script.steps[p.step].label, p.time, p.start, p.end)
        for p in map(rounded, places)
    ]


def read_earlier(path: Path) -> Result:
    """The whole result at a path; an empty one if there is none that can be read."""
    try:
        return read_whole(path)
    except InputError:
        return NOTHING
