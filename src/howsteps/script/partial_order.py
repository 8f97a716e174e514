"""Which steps may change places, and which may be left out: what a list in one order does not say.

Both are counted. A video that names two steps names one of them first; all of its mentions count,
not only those that were put in order, so that a swap can be seen. Two steps swap freely when at
least a third of the videos that name both, and two at least, have them the other way round. A step
is optional when fewer than a third as many videos name it as name the most named step. Narrators
leave things unsaid, so this is true of what they say, not always of the work.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from howsteps.task import Relation, Script, Task

SWAP_SHARE, SWAP_VIDEOS = 1 / 3, 2
OPTIONAL_SHARE = 1 / 3


class Swap(NamedTuple):
    """Two steps (counted from 0), and how many videos name the one or the other first."""

    one: int
    two: int
    in_order: int
    swapped: int


class Freedom(NamedTuple):
    """The pairs of steps that swap freely, and the steps that may be left out."""

    swaps: tuple[Swap, ...]
    optional: tuple[int, ...]


def freedom(task: Task, script: Script) -> Freedom:
    """What the order of the script leaves open, from all that the videos mention."""
    first = first_named(task, script)
    swaps = []
    for one in range(len(script.steps)):
        for two in range(one + 1, len(script.steps)):
            both = [times for times in first.values() if one in times and two in times]
            swapped = sum(times[two] < times[one] for times in both)
            if swapped >= max(SWAP_VIDEOS, SWAP_SHARE * len(both)):
                swaps.append(Swap(one, two, len(both) - swapped, swapped))
    most = max((step.support for step in script.steps), default=0)
    optional = tuple(
        place for place, step in enumerate(script.steps) if step.support < OPTIONAL_SHARE * most
    )
    return Freedom(tuple(swaps), optional)


def first_named(task: Task, script: Script) -> Mapping[str, Mapping[int, float]]:
    """When every video first names each step: by video, by step.

    A mention names the step that alone holds its relation. The same words in two steps ("tighten
    the nuts", and later again) say nothing of their order.
    """
    counts: defaultdict[Relation, dict[int, int]] = defaultdict(dict)
    for place, step in enumerate(script.steps):
        for relation, count in step.relations:
            counts[relation][place] = count
    sure = {relation: next(iter(own)) for relation, own in counts.items() if len(own) == 1}
    first: dict[str, dict[int, float]] = {}
    for video in task.videos:
        times = first.setdefault(video.id, {})
        for mention in video.mentions:
            place_of = sure.get(mention.relation)
            if place_of is not None and not mention.negated:
                times[place_of] = min(times.get(place_of, mention.start), mention.start)
    return first
