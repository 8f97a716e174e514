"""The relations that the narrators of a task have in common."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from howsteps.task import Mention, Relation, Task


@dataclass(frozen=True, slots=True)
class CommonRelation:
    """A relation with its usual phrase, the numbers of its videos and mentions, and an example."""

    relation: Relation
    phrase: str
    videos: int
    mentions: int
    example: Mention


def common_relations(task: Task) -> list[CommonRelation]:
    """Return the relations of a task, sorted by the number of videos that mention them.

    Negated mentions ("don't remove the nuts") do not count.
    """
    groups: dict[Relation, list[Mention]] = defaultdict(list)
    for video in task.videos:
        for mention in video.mentions:
            if not mention.negated:
                groups[mention.relation].append(mention)
    common = [
        CommonRelation(
            relation,
            usual_phrase(mentions),
            len({mention.video for mention in mentions}),
            len(mentions),
            _clearest(mentions),
        )
        for relation, mentions in groups.items()
    ]
    return sorted(common, key=lambda entry: (-entry.videos, -entry.mentions, entry.relation))


def usual_phrase(mentions: Iterable[Mention]) -> str:
    """Return the most frequent phrase; of equally frequent ones, the shortest."""
    counts = Counter(mention.phrase for mention in mentions)
    return min(counts, key=lambda phrase: (-counts[phrase], len(phrase), phrase))


def _clearest(mentions: list[Mention]) -> Mention:
    """The first mention, preferably with an explicit object, active, and without a modal."""
    return min(mentions, key=lambda m: (m.resolved, m.passive, bool(m.modal), m.video, m.start))
