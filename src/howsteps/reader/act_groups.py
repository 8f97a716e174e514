"""The acts of a task, in order of the job, with the mentions of frequent ones split by context.

"Put the eggs in the bowl" and "put the eggs on the plate" are the same act and not the same step.
"""

import math
import statistics
from bisect import bisect
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.script.acts import VAGUE_NOUNS, Act, act_of
from howsteps.task import Mention, Script, Task

MIN_VIDEOS = 2  # an act of one narrator cannot be a step
NEARBY = 20.0  # seconds: the context of a mention
_MAX_ACTS = 200  # besides those of the script
_SPLIT = (4, 10, 30)  # acts of this many videos are split into two, three, four groups
_OWN_WEIGHT = 3.0  # of its own place and tools, against an act at the same time
_POSITION_WEIGHT = 1.0  # of the position in the video, against the context


class Group(NamedTuple):
    """Mentions of an act in similar contexts.

    ``videos`` is the number of videos, copies of others not counted; ``position`` the median
    position in the video, from 0 to 1.
    """

    id: str
    mentions: tuple[Mention, ...]
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
    contexts = _Contexts(task)
    found = []
    for number, act in enumerate(sorted(where, key=lambda act: (where[act], act)), 1):
        split = contexts.split(mentions[act], videos[act])
        groups = tuple(
            Group(
                f"a{number}.{n}" if len(split) > 1 else f"a{number}",
                tuple(group),
                _support(group, videos[act]),
                statistics.median(position[m] for m in group),
            )
            for n, group in enumerate(split, 1)
        )
        found.append(ActGroups(f"a{number}", act, groups, len(videos[act])))
    return found


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


class _Contexts:
    """The contexts of mentions: place, tools and the acts around them in the video."""

    def __init__(self, task: Task) -> None:
        self._position = relative_positions(task)
        self._by_video = {
            video.id: sorted(video.mentions, key=lambda m: m.start) for video in task.videos
        }
        self._starts = {id_: [m.start for m in own] for id_, own in self._by_video.items()}
        videos_of: dict[str, set[str]] = defaultdict(set)
        for id_, own in self._by_video.items():
            for mention in own:
                for word in (mention.verb, *_things(mention)):
                    videos_of[word].add(id_)
        n_videos = max(len(task.videos), 1)
        self._rarity = {w: math.log(1 + n_videos / len(v)) for w, v in videos_of.items()}

    def split(
        self, mentions: Sequence[Mention], originals: Collection[str]
    ) -> list[Sequence[Mention]]:
        """Split the mentions of an act by context into at most four groups of two videos."""
        most = 1 + sum(len(originals) >= videos for videos in _SPLIT)
        if most == 1:
            return [mentions]
        from scipy.cluster.hierarchy import fcluster, linkage  # noqa: PLC0415 - slow to import

        points = self._points(mentions)
        labels = fcluster(linkage(points, "ward"), most, "maxclust")
        found = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
        large = [g for g in found if _support([mentions[i] for i in g], originals) >= MIN_VIDEOS]
        if len(large) < 2:
            return [mentions]
        centres = np.array([points[group].mean(axis=0) for group in large])
        nearest = ((points[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
        for index, group in enumerate(large):
            nearest[group] = index
        groups = [
            [m for m, own in zip(mentions, nearest, strict=True) if own == n]
            for n in range(len(large))
        ]
        return sorted(groups, key=lambda g: statistics.median(self._position[m] for m in g))

    def _points(self, mentions: Sequence[Mention]) -> NDArray[np.float64]:
        """A vector for each mention: its context, of length one, and its position."""
        index: dict[str, int] = {}
        rows: list[defaultdict[int, float]] = []
        for mention in mentions:
            row: defaultdict[int, float] = defaultdict(float)
            for word, weight in self._context(mention):
                row[index.setdefault(word, len(index))] += weight * self._rarity[word]
            rows.append(row)
        points = np.zeros((len(mentions), len(index) + 1))
        for number, row in enumerate(rows):
            points[number, list(row)] = list(row.values())
        points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-9)
        points[:, -1] = [_POSITION_WEIGHT * self._position[m] for m in mentions]
        return points

    def _context(self, mention: Mention) -> Iterator[tuple[str, float]]:
        own = (mention.verb, mention.relation.noun)
        yield from ((noun, _OWN_WEIGHT) for noun in _things(mention) if noun not in own)
        starts, others = self._starts[mention.video], self._by_video[mention.video]
        first, last = (bisect(starts, mention.start + s) for s in (-NEARBY, NEARBY))
        for other in others[first:last]:
            weight = math.exp(-abs(other.start - mention.start) / (NEARBY / 2))
            words = (other.verb, *_things(other))
            yield from ((word, weight) for word in words if word and word not in own)


def _things(mention: Mention) -> tuple[str, ...]:
    nouns = (mention.noun, *(place.noun for place in mention.places), *mention.tools)
    return tuple(filter(None, nouns))
