"""Acts: the distinct acts that the narrators of a task mention, in a table, without talk.

Acts are compared and clustered on the table, which has at most 150 rows, however many narrations
there are. Three kinds of mentions are talk and never a step: light verbs ("have a look", "want
one"), vague nouns ("watch the video"), and the title of the task ("change a tyre" is all of the
steps together).
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.task import Mention, Relation, Task, Video

Matrix = NDArray[np.float64]
MAX_ACTS = 150
NEAR = 15.0  # seconds: the window of a co-occurrence
MIN_DURATION = 60.0  # seconds: in shorter videos nearly everything co-occurs
# An act of a single video is kept if its verb and its noun each have this many (act, video) pairs.
MIN_WORD_COUNT = 3
OTHERS_SHARE = 0.3  # of the videos that mention an act
_TABLE = Path(__file__).with_name("background.json")
LIGHT_VERBS = frozenset(
    "be have do go want need let know see say think like love guess hope mean call tell talk thank "
    "watch hear feel seem happen recommend prefer decide try start begin finish enjoy wish care "
    "wonder remember forget notice learn understand appreciate suggest consider expect explain "
    "mention figure depend matter cause require involve include become own believe "
    "use get make keep find show buy give leave protect prevent ensure avoid cause help "
    "allow kill grow eat absorb attract produce scratch damage hurt".split()
)
# Light verbs that are work if they have a particle: "let the air out", "get out the jack".
WORK_WITH_PARTICLE = frozenset("let get keep leave give use make".split())
VAGUE_NOUNS = frozenset(
    "video channel comment subscriber subscription link tutorial guy folk people friend "
    "viewer thing something anything everything nothing stuff way lot bit kind sort time minute "
    "second hour day job question problem idea point reason example look chance fun luck fact case "
    "demonstration rest one other money care difference try shot go tip step process camera "
    "room life trick method version result number amount technique effect size recipe "
    "information amount area excess part position spot surface".split()
)


class Act(NamedTuple):
    """A verb with its particle, and its object (without an object, the noun of its place)."""

    verb: str
    particle: str
    noun: str


@dataclass(frozen=True, eq=False)
class ActTable:
    """Acts and their mentions.

    Attributes
    ----------
    acts
        The n acts of the table.
    act, video, time, position
        One value per mention: the index of its act (−1: not in the table), the index of its video,
        its start in seconds, and its start relative to the video's duration, in [0, 1].
    durations
        Of the videos, in seconds.
    """

    acts: tuple[Act, ...]
    act: NDArray[np.int64]
    video: NDArray[np.int64]
    time: Matrix
    position: Matrix
    durations: Matrix

    @cached_property
    def counts(self) -> Matrix:
        """Number of mentions of each act in each video (acts × videos)."""
        counts = np.zeros((len(self.acts), len(self.durations)))
        known = self.act >= 0
        np.add.at(counts, (self.act[known], self.video[known]), 1.0)
        return counts

    @cached_property
    def video_counts(self) -> Matrix:
        """Number of videos that mention each act."""
        return np.asarray((self.counts > 0).sum(axis=1), dtype=np.float64)

    def support(self, acts: Sequence[int]) -> int:
        """Number of videos that mention at least one of the given acts."""
        return int((self.counts[list(acts)] > 0).any(axis=0).sum())

    @cached_property
    def members(self) -> list[NDArray[np.int64]]:
        """The indices of the mentions of each act, ascending."""
        order = np.argsort(self.act, kind="stable")
        bounds = np.searchsorted(self.act[order], np.arange(len(self.acts) + 1))
        return [order[a:b] for a, b in pairwise(bounds)]

    @cached_property
    def near(self) -> Matrix:
        """Number of videos in which two acts co-occur within 15 seconds (n×n)."""
        known = np.flatnonzero(self.act >= 0)
        order = known[np.lexsort((self.time[known], self.video[known]))]
        near = np.zeros((len(self.acts), len(self.acts)))
        for own in np.split(order, np.flatnonzero(np.diff(self.video[order])) + 1):
            # With the last mention of each other act: all pairs would be too many to look at.
            last, met = np.full(len(near), -np.inf), np.zeros(near.shape, bool)
            for act, time in zip(self.act[own], self.time[own], strict=True):
                met[act] |= time - last <= NEAR
                last[act] = time
            near += met | met.T
        np.fill_diagonal(near, 0.0)
        return near

    @cached_property
    def near_by_chance(self) -> Matrix:
        """Expected value of :attr:`near` if mentions were uniform in time (n×n)."""
        chance = np.minimum(1.0, 2 * NEAR / np.maximum(self.durations, MIN_DURATION))
        expected = np.zeros((len(self.acts), len(self.acts)))
        for video, log_missed in enumerate(np.log1p(-np.minimum(chance, 1 - 1e-9))):
            present = np.flatnonzero(self.counts[:, video])
            count = self.counts[present, video]
            expected[np.ix_(present, present)] += -np.expm1(log_missed * np.outer(count, count))
        return expected


_NONE: Mapping[Mention, str] = MappingProxyType({})


def build_act_table(
    mentions_by_video: Sequence[Sequence[Mention]],
    durations: Sequence[float],
    implied: Mapping[Mention, str] = _NONE,
    acts: Sequence[Act] = (),
) -> ActTable:
    """Build the table of the most frequent acts, or of the given ones.

    Parameters
    ----------
    mentions_by_video
        The mentions of each video; those of the table are in this order, video by video.
    durations
        Of the videos, in seconds.
    implied
        The objects of mentions that name none, or a misheard one.
    acts
        By default the most frequent ones.
    """
    mentions = [mention for row in mentions_by_video for mention in row]
    lengths = [len(row) for row in mentions_by_video]
    video = np.repeat(np.arange(len(mentions_by_video)), lengths).astype(np.int64)
    seconds = np.array([max(duration, 1.0) for duration in durations])
    act_of_mention = [act_of(mention, implied) for mention in mentions]
    if not acts:
        by_video = {*zip(act_of_mention, video.tolist(), strict=True)}
        acts = _most_frequent(Counter(act for act, _ in by_video if act.noun))
    index = {act: i for i, act in enumerate(acts)}
    time = np.array([mention.start for mention in mentions], dtype=np.float64)
    return ActTable(
        tuple(acts),
        np.array([index.get(act, -1) for act in act_of_mention], np.int64),
        video,
        time,
        np.minimum(1.0, time / seconds[video]) if mentions else time,
        seconds,
    )


def act_of(mention: Mention, implied: Mapping[Mention, str] = _NONE) -> Act:
    """The act that a mention is an occurrence of; ``implied`` has objects that are not heard."""
    noun = implied.get(mention) or mention.relation.noun
    return Act(mention.verb, mention.particle, noun)


def _most_frequent(video_counts: Mapping[Act, int]) -> list[Act]:
    """The acts of most videos; an act of a single video needs familiar words."""
    verbs: Counter[str] = Counter()
    nouns: Counter[str] = Counter()
    for act, count in video_counts.items():
        verbs[act.verb] += count
        nouns[act.noun] += count

    def rank(act: Act) -> tuple[float, Act]:
        # Ties go to verbs that are frequent here and rare elsewhere, then to frequent nouns.
        specific = 0.02 * min(verbs[act.verb], 20) * (1.0 - background_share(act.verb))
        return -(video_counts[act] + specific + 0.01 * min(nouns[act.noun], 20)), act

    kept = [
        act
        for act, count in video_counts.items()
        if count > 1 or min(verbs[act.verb], nouns[act.noun]) >= MIN_WORD_COUNT
    ]
    return sorted(kept or video_counts, key=rank)[:MAX_ACTS]


def positions_of(video: Video, mentions: Sequence[Mention]) -> Matrix:
    """The start of each mention relative to the duration of its video, in [0, 1]."""
    length = max(video.length, 1.0)
    return np.array([min(1.0, mention.start / length) for mention in mentions], dtype=np.float64)


def background_share(verb: str) -> float:
    """The share of how-to videos that use a verb with an object; 0 if it is not in the table.

    The table has counts over 16 tasks and 782 videos; ``training/background.py`` makes it.
    """
    return _background_counts().get(verb, 0) / 1000


@cache
def _background_counts() -> dict[str, float]:
    counts: dict[str, float] = json.loads(_TABLE.read_text("utf-8"))["verbs"]
    return counts


def title_words(title: str) -> frozenset[str]:
    """The words of a title in lower case, with and without a final s."""
    words = set(re.findall(r"[a-z]+", title.lower().replace("_", " ")))
    return frozenset(words | {word.removesuffix("s") for word in words})


def talk_detector(title: str) -> Callable[[Mention], bool]:
    """Return a predicate: whether a mention is talk in videos of the task called ``title``."""
    words = title_words(title)
    left_out = VAGUE_NOUNS | title_words(title.replace("_", " ").partition(" without ")[2])
    job, *_ = (*re.findall(r"[a-z]+", re.sub(r"^how[ _]to[ _]", "", title.lower())), "")

    def is_talk(mention: Mention) -> bool:
        is_work = bool(mention.particle) and mention.verb in WORK_WITH_PARTICLE
        return (
            (mention.verb in LIGHT_VERBS and not is_work)
            or mention.noun in left_out
            or (mention.verb in words and mention.noun in words)
            or (mention.verb == job and not mention.noun and not mention.places)
        )

    return is_talk


def candidate_mentions(task: Task) -> list[list[Mention]]:
    """The mentions of each video that may belong to a step, in order of time.

    What is negated, talk, or done by things and others (``work`` is 0) is not.
    """
    is_talk = talk_detector(task.name)
    return [
        [
            mention
            for mention in sorted(video.mentions, key=lambda m: (m.start, m.end))
            if mention.work > 0 and not mention.negated and not is_talk(mention)
        ]
        for video in task.videos
    ]


def done_by_others(videos: Sequence[Video]) -> set[Relation]:
    """What things and others do (``work`` is 0) in enough of the videos that mention it.

    "To build a nest" is no step where wasps are often said to build nests.
    """
    done = {
        (mention.relation, video.id, mention.work > 0)
        for video in videos
        for mention in video.mentions
        if mention.noun and not mention.negated
    }
    narrators = Counter(relation for relation, _, own in done if own)
    others = Counter(relation for relation, _, own in done if not own)
    return {
        relation
        for relation, count in others.items()
        if count >= max(2, OTHERS_SHARE * (count + narrators[relation]))
    }
