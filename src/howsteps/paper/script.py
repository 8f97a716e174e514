"""The script in modes ``paper`` and ``authors``: align the mentions, keep the slots with support.

The mentions of all videos are aligned on one template (:mod:`.alignment`); the slots with most
support are the steps (Section 4.1, "the K action steps").
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.errors import HowstepsError, unknown_name
from howsteps.narration.relations import usual_phrase
from howsteps.narration.wordnet import WordNet, match_matrix
from howsteps.paper.alignment import AUTHORS, FrankWolfe, align
from howsteps.script.discovery import check_mentions
from howsteps.script.names import examples
from howsteps.task import Mention, Relation, Script, Step, Task

MatchFunction = Callable[[Sequence[Relation]], NDArray[np.bool_]]
Sequences = Sequence[Sequence[int]]

BROAD_SIMILARITY = 0.9
USUAL_STEPS = 10  # as in the paper


@dataclass(frozen=True)
class ScriptOptions:
    """Options of script discovery by alignment; a mode is a set of them.

    Parameters
    ----------
    vocabulary
        Align only the mentions of this many most frequent relations (authors: 45).
    keep_last
        Align only the last mention of a relation that a narration repeats (authors).
    broad
        After the alignment, let earlier, similar mentions of a narration join its steps (authors).
    solver
        Of the alignment. None: the search, which has the lowest objective; ``AUTHORS`` is for
        those who reproduce the released program.
    """

    vocabulary: int | None = None
    keep_last: bool = False
    broad: bool = False
    solver: FrankWolfe | None = None


OPTIONS: Mapping[str, ScriptOptions] = {
    "paper": ScriptOptions(),
    "authors": ScriptOptions(vocabulary=45, keep_last=True, broad=True, solver=AUTHORS),
}


def discover(
    task: Task,
    *,
    steps: int | None = None,
    mode: str = "paper",
    seed: int = 0,
    seconds: float = 5.0,
    match: MatchFunction | None = None,
    options: ScriptOptions | None = None,
) -> Script:
    """Discover the steps of a task by aligning the mentions of its videos.

    Parameters
    ----------
    steps
        K, the maximum number of steps. None: ten, and more if more tie at the top.
    mode
        ``paper`` or ``authors``: a set of :class:`ScriptOptions`.
    seconds
        Effort of the search, as for :func:`howsteps.paper.alignment.align`.
    match
        From D relations to the D×D matrix of which match; None: by WordNet.
    options
        Used instead of those of the mode.
    """
    if mode not in OPTIONS:
        raise HowstepsError(unknown_name("mode", mode, OPTIONS))
    check_mentions(task, steps)
    options = options or OPTIONS[mode]
    mentions_by_video, relations, sequences = narrations(task)
    matrix = (match or wordnet_match)(relations)
    indices = aligned_indices(sequences, options)
    aligned = [[row[i] for i in kept] for row, kept in zip(sequences, indices, strict=True)]
    alignment = align(aligned, matrix, seconds=seconds, seed=seed, solver=options.solver)
    supports = shared_support(alignment.slots)
    if steps is None:  # a K that nobody asked for must not empty the script
        steps = max(USUAL_STEPS, int((supports == supports.max(initial=0)).sum()))
    kept = keep(supports, steps)
    step_of_slot = {slot: step for step, slot in enumerate(kept)}
    step_of = [[-1] * len(row) for row in sequences]  # −1: no step
    for row, places, slots in zip(step_of, indices, alignment.slots, strict=True):
        for i, slot in zip(places, slots, strict=True):
            row[i] = step_of_slot.get(slot, -1)
    if options.broad:
        step_of = broaden(sequences, step_of, matrix, len(kept))
    groups: list[list[Mention]] = [[] for _ in kept]
    for mentions, steps_of_row in zip(mentions_by_video, step_of, strict=True):
        for mention, step in zip(mentions, steps_of_row, strict=True):
            if step >= 0:
                groups[step].append(mention)
    return Script(
        steps=tuple(_labelled_step(task, group) for group in groups),
        objective=alignment.objective,
        objective_per_token=alignment.objective_per_token,
        bound=alignment.bound,
    )


class Narrations(NamedTuple):
    """The mentions of each video in order of time, all relations (D), and their indices."""

    mentions: list[list[Mention]]
    relations: list[Relation]
    sequences: list[list[int]]


def narrations(task: Task) -> Narrations:
    """dⁿ of every video: the mentions that have a noun, as relations."""
    mentions = [
        sorted((m for m in video.mentions if m.noun), key=lambda m: (m.start, m.end))
        for video in task.videos
    ]
    relations = sorted({mention.relation for row in mentions for mention in row})
    index = {relation: i for i, relation in enumerate(relations)}
    return Narrations(mentions, relations, [[index[m.relation] for m in row] for row in mentions])


def wordnet_match(relations: Sequence[Relation]) -> NDArray[np.bool_]:
    """Relations match where verbs and nouns each share a synset."""
    return match_matrix(relations, WordNet.load())


def aligned_indices(sequences: Sequences, options: ScriptOptions) -> list[list[int]]:
    """The indices of the mentions that are aligned, in each sequence of relations.

    With ``vocabulary``, those of the most frequent relations (ties go to the lower index); with
    ``keep_last``, the last mention of each relation.
    """
    indices = [list(range(len(row))) for row in sequences]
    if options.vocabulary is not None:
        counts = Counter(relation for row in sequences for relation in row)
        by_frequency = sorted(counts, key=lambda relation: (-counts[relation], relation))
        frequent = set(by_frequency[: options.vocabulary])
        indices = [[i for i, d in enumerate(row) if d in frequent] for row in sequences]
    if options.keep_last:
        last = [{row[i]: i for i in kept} for row, kept in zip(sequences, indices, strict=True)]
        indices = [sorted(row.values()) for row in last]
    return indices


def _labelled_step(task: Task, mentions: Sequence[Mention]) -> Step:
    """Make a step of mentions, labelled by its most frequent relation."""
    step = Step(label="", mentions=tuple(mentions))
    usual = step.relations[0][0]
    naming = [mention for mention in mentions if mention.relation == usual]
    return replace(step, label=usual_phrase(naming), examples=examples(task, naming))


def shared_support(slots: Sequences) -> NDArray[np.int64]:
    """Count the mentions in every slot; zero if only one of several narrations fills it."""
    supports = np.bincount([slot for row in slots for slot in row]).astype(np.int64)
    several = sum(1 for row in slots if row) > 1
    return np.where(supports > 1, supports, 0) if several else supports


def threshold(supports: ArrayLike, steps: int) -> int:
    """Return s*, the smallest support that leaves at most K slots: ties are never split.

    s* = min {s ≥ 1 : #{l : support_l ≥ s} ≤ K}
    """
    falling = np.sort(np.asarray(supports, dtype=np.int64))[::-1]
    return 1 if len(falling) <= steps else max(1, int(falling[steps]) + 1)


def keep(supports: ArrayLike, steps: int) -> list[int]:
    """Return the slots that become steps, in order."""
    return np.flatnonzero(np.asarray(supports) >= threshold(supports, steps)).tolist()


def broaden(
    sequences: Sequences, step_of: Sequences, match: ArrayLike, steps: int
) -> list[list[int]]:
    """Let earlier mentions join the steps of their narration (the authors' "broad" constraints).

    A mention without a step (−1 in ``step_of``) joins the first step k that its narration names
    later on, if its mean similarity (``match``, D×D) to the relations aligned in step k exceeds
    0.9.
    """
    similarity = np.asarray(match, dtype=np.float64)
    aligned: list[list[int]] = [[] for _ in range(steps)]
    for row, steps_of_row in zip(sequences, step_of, strict=True):
        for relation, step in zip(row, steps_of_row, strict=True):
            if step >= 0:
                aligned[step].append(relation)
    broadened = [list(row) for row in step_of]
    for n, (row, steps_of_row) in enumerate(zip(sequences, step_of, strict=True)):
        for step in range(steps):
            if step not in steps_of_row:
                continue
            for i in range(list(steps_of_row).index(step)):
                mean = similarity[row[i], aligned[step]].mean()
                if broadened[n][i] < 0 and mean > BROAD_SIMILARITY:
                    broadened[n][i] = step
    return broadened
