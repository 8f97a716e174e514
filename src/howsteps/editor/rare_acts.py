"""Acts that were too rare for the question join the step that they are most similar to."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from howsteps.editor.question import Act
from howsteps.script.similarity import noun_similarity, verb_similarity
from howsteps.wordnet import WordNet

LEAST_SIMILARITY = 0.6  # of verb and noun together: one of them the same, the other a synonym


def nearest_steps(
    rare: Iterable[Act], steps: Sequence[Sequence[Act]], wordnet: WordNet
) -> dict[Act, int]:
    """The step of each rare act that is similar enough to an act of one.

    The similarity of two acts is that of their verbs times that of their nouns. An act without an
    object says too little by itself.
    """
    others = sorted({act for act in rare if act.noun})
    chosen = [(act, number) for number, step in enumerate(steps) for act in step if act.noun]
    if not others or not chosen:
        return {}
    table = _similarity(others, [act for act, _ in chosen], wordnet)
    best = table.argmax(axis=1)
    return {
        act: chosen[at][1]
        for act, at, value in zip(others, best, table.max(axis=1), strict=True)
        if value >= LEAST_SIMILARITY
    }


def _similarity(
    rows: Sequence[Act], columns: Sequence[Act], wordnet: WordNet
) -> NDArray[np.float32]:
    """The similarity of acts to others, from tables of their distinct verbs and nouns."""
    verbs = {verb: n for n, verb in enumerate(sorted({a[:2] for a in (*rows, *columns)}))}
    nouns = {noun: n for n, noun in enumerate(sorted({a.noun for a in (*rows, *columns)}))}
    of_verbs = verb_similarity(list(verbs), wordnet)
    of_nouns = noun_similarity(list(nouns), wordnet)
    pairs = [
        ([verbs[act[:2]] for act in acts], [nouns[act.noun] for act in acts])
        for acts in (rows, columns)
    ]
    (row_verbs, row_nouns), (column_verbs, column_nouns) = pairs
    return of_verbs[np.ix_(row_verbs, column_verbs)] * of_nouns[np.ix_(row_nouns, column_nouns)]
