"""The distinct acts of a job, and who says each of them when.

Everything that compares acts works on this table: a few hundred distinct acts, however many
narrators there are.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.script import background
from howsteps.task import Mention

MOST_ACTS = 150
SHORTEST = 60.0  # seconds: shorter videos say nothing about what is said close together
NEAR = 15.0  # seconds
# An act of a single video is taken in when both of its words are said by this many narrators.
FAMILIAR = 3

Matrix = NDArray[np.float64]


class Act(NamedTuple):
    """A verb with its particle, and what it is done to (or, without an object, where)."""

    verb: str
    particle: str
    noun: str


@dataclass(frozen=True, eq=False)
class ActTable:
    """Acts and their mentions.

    ``act`` (−1: not in the table), ``video``, ``time`` (seconds) and ``place`` (from 0 to 1) have
    one value for every mention; ``lengths`` are those of the videos in seconds.
    """

    acts: tuple[Act, ...]
    act: NDArray[np.int64]
    video: NDArray[np.int64]
    time: Matrix
    place: Matrix
    lengths: Matrix

    @cached_property
    def counts(self) -> Matrix:
        """How often each act is said in each video (acts × videos)."""
        found = np.zeros((len(self.acts), len(self.lengths)))
        known = self.act >= 0
        np.add.at(found, (self.act[known], self.video[known]), 1.0)
        return found

    @cached_property
    def videos(self) -> Matrix:
        """How many videos say each act."""
        return np.asarray((self.counts > 0).sum(axis=1), dtype=np.float64)

    def narrators(self, acts: Sequence[int]) -> int:
        """How many videos say any of some acts."""
        return int((self.counts[list(acts)] > 0).any(axis=0).sum())

    @cached_property
    def members(self) -> list[NDArray[np.int64]]:
        """The mentions of each act."""
        order = np.argsort(self.act, kind="stable")
        bounds = np.searchsorted(self.act[order], np.arange(len(self.acts) + 1))
        return [order[a:b] for a, b in pairwise(bounds)]

    @cached_property
    def near(self) -> Matrix:
        """How many videos say two acts within 15 seconds of one another."""
        known = np.flatnonzero(self.act >= 0)
        order = known[np.lexsort((self.time[known], self.video[known]))]
        found: set[tuple[int, int, int]] = set()
        for at, one in enumerate(order):
            for two in order[at + 1 :]:
                if self.video[two] != self.video[one] or self.time[two] - self.time[one] > NEAR:
                    break
                a, b = sorted((int(self.act[one]), int(self.act[two])))
                if a != b:
                    found.add((a, b, int(self.video[one])))
        near = np.zeros((len(self.acts), len(self.acts)))
        for a, b, _ in found:
            near[a, b] += 1.0
            near[b, a] += 1.0
        return near

    @cached_property
    def near_by_chance(self) -> Matrix:
        """How many would, if every mention came at any time of its video."""
        chance = np.minimum(1.0, 2 * NEAR / np.maximum(self.lengths, SHORTEST))
        expected = np.zeros((len(self.acts), len(self.acts)))
        for video, missed in enumerate(np.log1p(-np.minimum(chance, 1 - 1e-9))):
            said = np.flatnonzero(self.counts[:, video])
            own = self.counts[said, video]
            expected[np.ix_(said, said)] += -np.expm1(missed * np.outer(own, own))
        return expected


def table_of(heard: Sequence[Sequence[Mention]], lengths: Sequence[float]) -> ActTable:
    """The table of the mentions of each video, in the order in which they come.

    The acts of most videos are taken; one that a single narrator says comes in where both of its
    words are familiar.
    """
    mentions = [mention for row in heard for mention in row]
    video = np.repeat(np.arange(len(heard)), [len(row) for row in heard]).astype(np.int64)
    size = np.array([max(length, 1.0) for length in lengths])
    said: defaultdict[Act, set[int]] = defaultdict(set)
    for mention, owner in zip(mentions, video, strict=True):
        said[act_of(mention)].add(int(owner))
    acts = _frequent({act: len(videos) for act, videos in said.items() if act.noun})
    number = {act: place for place, act in enumerate(acts)}
    time = np.array([mention.start for mention in mentions], dtype=np.float64)
    return ActTable(
        tuple(acts),
        np.array([number.get(act_of(mention), -1) for mention in mentions], dtype=np.int64),
        video,
        time,
        np.minimum(1.0, time / size[video]) if mentions else time,
        size,
    )


def act_of(mention: Mention) -> Act:
    """What is done, without when and by whom."""
    return Act(mention.verb, mention.particle, mention.relation.noun)


def _frequent(videos: dict[Act, int]) -> list[Act]:
    verbs: Counter[str] = Counter()
    nouns: Counter[str] = Counter()
    for act, many in videos.items():
        verbs[act.verb] += many
        nouns[act.noun] += many

    def rank(act: Act) -> tuple[float, Act]:
        # Of equally frequent acts those of telling words come first.
        telling = 0.02 * min(verbs[act.verb], 20) * (1.0 - background.share(act.verb))
        return -(videos[act] + telling + 0.01 * min(nouns[act.noun], 20)), act

    known = [
        act
        for act, many in videos.items()
        if many > 1 or min(verbs[act.verb], nouns[act.noun]) >= FAMILIAR
    ]
    return sorted(known or videos, key=rank)[:MOST_ACTS]
