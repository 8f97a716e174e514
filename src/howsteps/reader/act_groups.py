"""The acts of a task, in order of the job, with the mentions of frequent ones in groups.

"Put the eggs in the bowl" and "put the eggs on the plate" are the same act and not the same step,
and neither are two that are done at the beginning and at the end.
"""

import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from howsteps.script.acts import VAGUE_NOUNS, Act, act_of
from howsteps.task import Mention, Script, Task

MIN_VIDEOS = 2  # an act of one narrator cannot be a step
_MAX_ACTS = 200  # besides those of the script
_BY_PLACE, _BY_TIME = 4, 12  # videos of an act that is split by place, and then by time
_MAX_PLACES, _PARTS = 3, 3  # of an act; of a video


class Group(NamedTuple):
    """Mentions of an act at one place, or in one part of the videos.

    ``place`` is empty if they name none; ``videos`` is the number of videos, copies of others not
    counted; ``position`` the median position in the video, from 0 to 1.
    """

    id: str
    mentions: tuple[Mention, ...]
    place: str
    videos: int
    position: float


class ActGroups(NamedTuple):
    """An act, and its mentions in groups; an act that is not split has one group."""

    id: str
    act: Act
    groups: tuple[Group, ...]
    videos: int

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """The mentions of all groups."""
        return tuple(mention for group in self.groups for mention in group.mentions)


def act_groups(task: Task, script: Script, originals: Collection[str]) -> list[ActGroups]:
    """The acts of a script, and others of two videos or more, by their median position.

    Parameters
    ----------
    originals
        The videos that are no copies of others.
    """
    mentions: dict[Act, list[Mention]] = defaultdict(list)
    for video in task.videos:
        for mention in video.mentions:
            if not mention.negated:
                mentions[act_of(mention)].append(mention)
    videos = {act: {m.video for m in own} & {*originals} for act, own in mentions.items()}
    of_script = {act_of(mention) for step in script.steps for mention in step.mentions}
    usual = [a for a, own in videos.items() if len(own) >= MIN_VIDEOS and a.noun not in VAGUE_NOUNS]
    usual = sorted(usual, key=lambda act: (-expected_videos(mentions[act]), act))[:_MAX_ACTS]
    position = relative_positions(task)
    where = {a: statistics.median(position[m] for m in mentions[a]) for a in {*usual, *of_script}}
    found = []
    for number, act in enumerate(sorted(where, key=lambda act: (where[act], act)), 1):
        split = _split(mentions[act], videos[act], position)
        groups = tuple(
            Group(
                f"a{number}.{n}" if len(split) > 1 else f"a{number}",
                tuple(own),
                place,
                _support(own, videos[act]),
                statistics.median(position[m] for m in own),
            )
            for n, (place, own) in enumerate(split, 1)
        )
        found.append(ActGroups(f"a{number}", act, groups, len(videos[act])))
    return found


def _split(
    mentions: Sequence[Mention], originals: Collection[str], position: Mapping[Mention, float]
) -> list[tuple[str, list[Mention]]]:
    """Groups of two videos or more, with their place: by place, else by the part of the video."""
    at: dict[str, set[str]] = defaultdict(set)
    for mention in mentions:
        for place in mention.places:
            at[place.noun].update({mention.video} & {*originals})
    at.pop(act_of(mentions[0]).noun, None)  # the place that is the object
    places = sorted((noun for noun in at if len(at[noun]) >= MIN_VIDEOS), key=lambda p: -len(at[p]))
    places = places[:_MAX_PLACES] if len(originals) >= _BY_PLACE else []
    groups: dict[tuple[str, int], list[Mention]] = defaultdict(list)
    for mention in mentions:
        named = next((place.noun for place in mention.places if place.noun in places), "")
        by_time = not named and len(originals) >= _BY_TIME
        part = min(int(_PARTS * position[mention]), _PARTS - 1) if by_time else 0
        groups[named, part].append(mention)
    rest = max(groups, key=lambda key: (not key[0], len(groups[key])))
    for key in [key for key, own in groups.items() if _support(own, originals) < MIN_VIDEOS]:
        if key != rest:
            groups[rest] += groups.pop(key)
    found = [(place, own) for (place, _), own in groups.items()]
    return sorted(found, key=lambda group: statistics.median(position[m] for m in group[1]))


def relative_positions(task: Task) -> dict[Mention, float]:
    """The start of every mention relative to the length of its video, from 0 to 1."""
    return {
        mention: min(1.0, mention.start / (video.length or 1.0))
        for video in task.videos
        for mention in video.mentions
    }


def expected_videos(mentions: Iterable[Mention]) -> float:
    """Expected number of videos in which an act is work."""
    best: dict[str, float] = {}
    for mention in mentions:
        best[mention.video] = max(best.get(mention.video, 0.0), mention.work)
    return sum(best.values())


def _support(mentions: Iterable[Mention], videos: Collection[str]) -> int:
    """How many of the videos have one of the mentions."""
    return len({mention.video for mention in mentions} & {*videos})
