"""Which relations a task's narrators have in common."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from howsteps.task import Mention, Relation, Task


@dataclass(frozen=True, slots=True)
class Common:
    """A relation, how widely it is used, and one mention that shows it well."""

    relation: Relation
    phrase: str
    videos: int
    mentions: int
    example: Mention


def common_relations(task: Task) -> list[Common]:
    """The relations of a task by the number of videos that name them.

    A negated mention ("don't remove the nuts") is not a naming of the act, and is left out.
    """
    groups: dict[Relation, list[Mention]] = defaultdict(list)
    for video in task.videos:
        for mention in video.mentions:
            if not mention.negated:
                groups[mention.relation].append(mention)
    found = [
        Common(
            relation,
            usual_phrase(mentions),
            len({mention.video for mention in mentions}),
            len(mentions),
            _clearest(mentions),
        )
        for relation, mentions in groups.items()
    ]
    return sorted(found, key=lambda common: (-common.videos, -common.mentions, common.relation))


def usual_phrase(mentions: Iterable[Mention]) -> str:
    """The phrase used most often; of equals, the shortest."""
    counts = Counter(mention.phrase for mention in mentions)
    return min(counts, key=lambda phrase: (-counts[phrase], len(phrase), phrase))


def _clearest(mentions: list[Mention]) -> Mention:
    """A plain, active, unresolved mention where there is one; the first of those."""
    return min(mentions, key=lambda m: (m.resolved, m.passive, bool(m.modal), m.video, m.start))
