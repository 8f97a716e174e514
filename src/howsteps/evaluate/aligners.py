"""The aligners of the paper's appendix on the narrations of a task."""

from howsteps.datasets.labelled import Matches
from howsteps.script import align
from howsteps.script.aligners import partial_order, progressive
from howsteps.script.discovery import OPTIONS, wordnet
from howsteps.script.selection import last_occurrences, most_frequent
from howsteps.task import Task

_VOCABULARY = OPTIONS["authors"].vocabulary or 0


def compare_aligners(
    task: Task, *, matches: Matches | None = None, seconds: float = 2.0, seed: int = 0
) -> dict[str, float]:
    """Tr(UᵀBU)/S of partial-order and progressive alignment, Frank-Wolfe, and our search.

    The problem is the one of the authors' program: the most frequent relations, and the last
    mention of each in a narration.
    """
    mentions = [sorted(video.mentions, key=lambda m: (m.start, m.end)) for video in task.videos]
    relations = sorted({mention.relation for row in mentions for mention in row})
    number = {relation: at for at, relation in enumerate(relations)}
    told = [[number[mention.relation] for mention in row] for row in mentions]
    kept = sorted(most_frequent(told, _VOCABULARY))
    again = {relation: at for at, relation in enumerate(kept)}
    told = [[again[relation] for relation in row if relation in again] for row in told]
    sequences = [[row[place] for place in last_occurrences(row)] for row in told]
    match = (matches or wordnet())([relations[relation] for relation in kept])
    search = align(sequences, match, seconds=seconds, seed=seed)
    plain = align(sequences, match, mode="authors", seed=seed)
    return {
        "POA": partial_order(sequences, match, seed=seed).objective_per_token,
        "progressive": progressive(sequences, match, seed=seed).objective_per_token,
        "Frank-Wolfe": plain.objective_per_token,
        "search": search.objective_per_token,
        "bound": search.bound / search.tokens if search.tokens else 0.0,
    }
