"""Which steps can be swapped, and which are optional: what a list in one order does not show.

Both follow from counts. All mentions of a video count, not only those that follow the order of the
script, so that swaps are visible. Two steps can be swapped when at least a third of the videos that
name both, and at least two, name them in reverse order. A step is optional when its support is less
than a third of the highest support. Narrators leave things out, so this holds for what they say,
not always for the work.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from howsteps.task import Relation, Script, Task

SWAP_SHARE, SWAP_VIDEOS = 1 / 3, 2
OPTIONAL_SHARE = 1 / 3


class Swap(NamedTuple):
    """Two steps (counted from 0), and how many videos name them in order and swapped."""

    one: int
    two: int
    in_order: int
    swapped: int


class Freedom(NamedTuple):
    """The pairs of steps that can be swapped, and the optional steps."""

    swaps: tuple[Swap, ...]
    optional: tuple[int, ...]


def freedom(task: Task, script: Script) -> Freedom:
    """The swaps and optional steps of a script, from all mentions of the videos."""
    first = first_named(task, script)
    swaps = []
    for one in range(len(script.steps)):
        for two in range(one + 1, len(script.steps)):
            both = [times for times in first.values() if one in times and two in times]
            swapped = sum(times[two] < times[one] for times in both)
            if swapped >= max(SWAP_VIDEOS, SWAP_SHARE * len(both)):
                swaps.append(Swap(one, two, len(both) - swapped, swapped))
    highest = max((step.support for step in script.steps), default=0)
    optional = tuple(
        k for k, step in enumerate(script.steps) if step.support < OPTIONAL_SHARE * highest
    )
    return Freedom(tuple(swaps), optional)


def first_named(task: Task, script: Script) -> Mapping[str, Mapping[int, float]]:
    """The time at which each video first names each step, by video id and step.

    Only relations that belong to a single step count: the same words in two steps ("tighten the
    nuts", and later again) do not tell which of them is meant.
    """
    steps_of: defaultdict[Relation, set[int]] = defaultdict(set)
    for k, step in enumerate(script.steps):
        for relation, _ in step.relations:
            steps_of[relation].add(k)
    unique = {relation: min(steps) for relation, steps in steps_of.items() if len(steps) == 1}
    first: dict[str, dict[int, float]] = {}
    for video in task.videos:
        times = first.setdefault(video.id, {})
        for mention in video.mentions:
            named = unique.get(mention.relation)
            if named is not None and not mention.negated:
                times[named] = min(times.get(named, mention.start), mention.start)
    return first
