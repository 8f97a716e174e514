"""Discover the script of a task: its steps in order, from the mentions of its videos."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from howsteps.script import selection
from howsteps.script.alignment import Alignment, align, check_mode
from howsteps.script.events import discover_events
from howsteps.script.labels import labelled_step
from howsteps.script.problem import AlignmentError
from howsteps.script.solver import AUTHORS, SEARCH, AlignmentSolver
from howsteps.script.step_count import choose_step_count
from howsteps.script.stop_relations import talk_detector
from howsteps.task import Mention, Relation, Script, Task

MatchFunction = Callable[[Sequence[Relation]], NDArray[np.bool_]]


@dataclass(frozen=True)
class ScriptOptions:
    """Options of script discovery; a mode is a set of them.

    Parameters
    ----------
    model
        ``alignment``: slots of matching relations (the paper). ``events``: clusters of acts, then
        their order (:mod:`howsteps.script.events`); the other options have no effect then.
    vocabulary
        Align only the mentions of this many most frequent relations (authors: 45).
    keep_last
        Align only the last mention of a relation that a narration repeats (authors).
    broad
        After the alignment, let earlier, similar mentions of a narration join its steps (authors).
    senses
        Match words by their first WordNet senses, this many; None: by all (the paper).
    negated
        Align negated mentions too: "don't touch the wire".
    chatter
        Align stop relations too: light verbs, talk about the video, the title of the task.
    solver
        The solver of the alignment.
    """

    model: str = "alignment"
    vocabulary: int | None = None
    keep_last: bool = False
    broad: bool = False
    senses: int | None = None
    negated: bool = True
    chatter: bool = True
    solver: AlignmentSolver = SEARCH


OPTIONS = {
    "paper": ScriptOptions(),
    "authors": ScriptOptions(vocabulary=45, keep_last=True, broad=True, solver=AUTHORS),
    "default": ScriptOptions(model="events", negated=False, chatter=False),
}


def discover(
    task: Task,
    *,
    steps: int | None = None,
    mode: str = "default",
    seed: int = 0,
    seconds: float = 5.0,
    certificate_seconds: float = 0.0,
    match: MatchFunction | None = None,
    options: ScriptOptions | None = None,
) -> Script:
    """Discover the steps of a task from the mentions of its videos.

    In mode ``default``, steps are clusters of acts, which are ordered afterwards
    (:mod:`howsteps.script.events`). In the other modes the mentions of all videos are aligned on
    one template, and the slots with most support are the steps
    (:func:`howsteps.script.selection.keep`).

    Parameters
    ----------
    task
        Videos with mentions (:func:`howsteps.narration.extract_relations`).
    steps
        K, the maximum number of steps. None: chosen automatically, by the scores of the clusters
        in mode ``default`` (:mod:`howsteps.script.step_selection`), by stability in the others
        (:mod:`howsteps.script.step_count`).
    mode
        ``paper``, ``authors`` or ``default``: a set of :class:`ScriptOptions`.
    seconds, certificate_seconds
        As for :func:`howsteps.script.align`.
    match
        From D relations to the D×D matrix of which match; None: by WordNet.
    options
        Used instead of those of the mode.

    Raises
    ------
    HowstepsError
        When no video has a mention, or ``steps`` is less than one.
    """
    check_mode(mode)
    if steps is not None and steps < 1:
        raise AlignmentError(f"a script has at least one step, not {steps}")
    if not any(video.mentions for video in task.videos):
        raise AlignmentError(f"{task.name}: no video has a mention; were its captions read?")
    options = options or OPTIONS[mode]
    if options.model == "events":
        return discover_events(task, steps=steps)
    mentions_by_video = _mentions_to_align(task, options)
    relations = sorted({mention.relation for row in mentions_by_video for mention in row})
    index = {relation: i for i, relation in enumerate(relations)}
    matrix = (match or wordnet_match(options.senses))(relations)
    sequences = [[index[mention.relation] for mention in row] for row in mentions_by_video]
    indices = _aligned_indices(sequences, options)
    aligned = [[row[i] for i in kept] for row, kept in zip(sequences, indices, strict=True)]
    alignment = align(
        aligned,
        matrix,
        seconds=seconds,
        seed=seed,
        solver=options.solver,
        certificate_seconds=certificate_seconds,
    )
    supports = selection.shared_support(alignment.slots)
    if steps is None:
        kept = selection.keep_some(supports, choose_step_count(aligned, matrix, seed=seed))
    else:
        kept = selection.keep(supports, steps)
    step_of = _steps_of_mentions(sequences, indices, alignment, kept)
    if options.broad:
        step_of = selection.broaden(sequences, step_of, matrix, len(kept))
    groups: list[list[Mention]] = [[] for _ in kept]
    for row, steps_of_row in zip(mentions_by_video, step_of, strict=True):
        for mention, step in zip(row, steps_of_row, strict=True):
            if step >= 0:
                groups[step].append(mention)
    return Script(
        steps=tuple(labelled_step(task, group) for group in groups),
        objective=alignment.objective,
        objective_per_token=alignment.objective_per_token,
        bound=alignment.bound,
        seconds=alignment.seconds,
    )


def wordnet_match(senses: int | None = None) -> MatchFunction:
    """Relations match where verbs and nouns each share a synset among their first senses."""
    from howsteps.narration.wordnet import WordNet, match_matrix  # noqa: PLC0415 - takes a while

    database = WordNet.load()
    return lambda relations: match_matrix(relations, database, senses)


def _mentions_to_align(task: Task, options: ScriptOptions) -> list[list[Mention]]:
    is_talk = talk_detector(task.name)
    return [
        [
            mention
            for mention in sorted(video.mentions, key=lambda m: (m.start, m.end))
            if mention.noun
            and (options.negated or not mention.negated)
            and (options.chatter or not is_talk(mention))
        ]
        for video in task.videos
    ]


def _aligned_indices(sequences: list[list[int]], options: ScriptOptions) -> list[list[int]]:
    """The indices of the mentions that are aligned, in each sequence."""
    indices = [list(range(len(row))) for row in sequences]
    if options.vocabulary is not None:
        frequent = selection.most_frequent(sequences, options.vocabulary)
        indices = [
            [i for i in kept if row[i] in frequent]
            for row, kept in zip(sequences, indices, strict=True)
        ]
    if options.keep_last:
        indices = [
            [kept[last] for last in selection.last_occurrences([row[i] for i in kept])]
            for row, kept in zip(sequences, indices, strict=True)
        ]
    return indices


def _steps_of_mentions(
    sequences: list[list[int]], indices: list[list[int]], alignment: Alignment, kept: list[int]
) -> list[list[int]]:
    """The step of every mention; −1: none."""
    step_of_slot = {slot: step for step, slot in enumerate(kept)}
    steps = [[-1] * len(row) for row in sequences]
    for row, aligned, slots in zip(steps, indices, alignment.slots, strict=True):
        for i, slot in zip(aligned, slots, strict=True):
            row[i] = step_of_slot.get(slot, -1)
    return steps
