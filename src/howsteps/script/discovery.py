"""Discover the script of a task: its steps in order, from what the narrators mention."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from howsteps.script import selection
from howsteps.script.alignment import Alignment, align, check_mode
from howsteps.script.events import discover_events
from howsteps.script.labels import shown
from howsteps.script.problem import AlignmentError
from howsteps.script.solver import AUTHORS, SEARCH, AlignmentSolver
from howsteps.script.stability import stable_steps
from howsteps.script.stop_relations import talk_detector
from howsteps.task import Mention, Relation, Script, Task

MatchFunction = Callable[[Sequence[Relation]], NDArray[np.bool_]]


@dataclass(frozen=True)
class ScriptOptions:
    """What is aligned, and what joins a step afterwards; each field is one switch.

    Parameters
    ----------
    model
        ``alignment``: slots of matching relations (the paper). ``events``: clusters of acts, then
        their order (:mod:`howsteps.script.events`), which has no use for the other switches.
    vocabulary
        Align the mentions of this many most frequent relations only (authors: 45).
    keep_last
        Of a relation repeated in one narration, align the last mention only (authors).
    broad
        Let earlier, similar mentions of a narration join its steps (authors).
    senses
        Match words by this many first senses; None: by all (the paper).
    negated
        Align "don't touch the wire" too.
    chatter
        Align light verbs, talk about the video, and the title of the job too.
    solver
        How the alignment is looked for.
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
    """Find the steps of a job in what its narrators say.

    The mentions of every video are aligned on one template; the slots with most support are the
    steps (:func:`howsteps.script.selection.keep`). In mode ``default`` steps are clusters of acts
    instead, ordered afterwards (:mod:`howsteps.script.events`).

    Parameters
    ----------
    task
        Videos with mentions (:func:`howsteps.narration.extract_relations`).
    steps
        K, the most steps to keep. None: chosen, by what a further step is worth
        (:mod:`howsteps.script.step_selection`) in mode ``default``, by stability
        (:mod:`howsteps.script.stability`) in the others.
    mode
        ``paper``, ``authors`` or ``default``: a set of :class:`ScriptOptions`.
    seconds, certificate_seconds
        As for :func:`howsteps.script.align`.
    match
        Which relations match; WordNet where it is not given.
    options
        Switches to use instead of those of the mode.

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
    heard = _wanted(task, options)
    relations = sorted({mention.relation for row in heard for mention in row})
    number = {relation: place for place, relation in enumerate(relations)}
    matrix = (match or wordnet(options.senses))(relations)
    sequences = [[number[mention.relation] for mention in row] for row in heard]
    places = _aligned_places(sequences, options)
    short = [[row[place] for place in kept] for row, kept in zip(sequences, places, strict=True)]
    alignment = align(
        short,
        matrix,
        seconds=seconds,
        seed=seed,
        solver=options.solver,
        certificate_seconds=certificate_seconds,
    )
    supports = selection.shared_support(alignment.slots)
    if steps is None:
        kept = selection.keep_some(supports, stable_steps(short, matrix, seed=seed))
    else:
        kept = selection.keep(supports, steps)
    members = _members(sequences, places, alignment, kept)
    if options.broad:
        members = selection.broaden(sequences, members, matrix, len(kept))
    groups: list[list[Mention]] = [[] for _ in kept]
    for row, belongs in zip(heard, members, strict=True):
        for mention, step in zip(row, belongs, strict=True):
            if step >= 0:
                groups[step].append(mention)
    return Script(
        steps=tuple(shown(task, group) for group in groups),
        objective=alignment.objective,
        objective_per_token=alignment.objective_per_token,
        bound=alignment.bound,
        seconds=alignment.seconds,
    )


def wordnet(senses: int | None = None) -> MatchFunction:
    """Match by WordNet: verbs and nouns share a synset each, among their first senses."""
    from howsteps.wordnet import WordNet, match_matrix  # noqa: PLC0415 - takes a while

    database = WordNet.load()
    return lambda relations: match_matrix(relations, database, senses)


def _wanted(task: Task, options: ScriptOptions) -> list[list[Mention]]:
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


def _aligned_places(sequences: list[list[int]], options: ScriptOptions) -> list[list[int]]:
    """The places of the mentions that are aligned, for every sequence."""
    places = [list(range(len(row))) for row in sequences]
    if options.vocabulary is not None:
        frequent = selection.most_frequent(sequences, options.vocabulary)
        places = [
            [place for place in kept if row[place] in frequent]
            for row, kept in zip(sequences, places, strict=True)
        ]
    if options.keep_last:
        places = [
            [kept[last] for last in selection.last_occurrences([row[place] for place in kept])]
            for row, kept in zip(sequences, places, strict=True)
        ]
    return places


def _members(
    sequences: list[list[int]], places: list[list[int]], alignment: Alignment, kept: list[int]
) -> list[list[int]]:
    """The step of every mention; −1 where it has none."""
    number = {slot: step for step, slot in enumerate(kept)}
    members = [[-1] * len(row) for row in sequences]
    for belongs, used, slots in zip(members, places, alignment.slots, strict=True):
        for place, slot in zip(used, slots, strict=True):
            belongs[place] = number.get(slot, -1)
    return members
