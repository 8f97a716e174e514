"""Assign acts that were too rare for the question to the step that they are most similar to."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from howsteps.editor.question import Act
from howsteps.script.similarity import noun_similarity, verb_similarity
from howsteps.wordnet import WordNet

MIN_SIMILARITY = 0.6  # product of verb and noun: one of them equal, the other a synonym


def nearest_steps(
    rare: Iterable[Act], steps: Sequence[Sequence[Act]], wordnet: WordNet
) -> dict[Act, int]:
    """The step of each rare act that is similar enough to an act of a step.

    The similarity of two acts is that of their verbs times that of their nouns. Acts without an
    object are left out: they say too little.
    """
    others = sorted({act for act in rare if act.noun})
    step_acts = [(act, index) for index, step in enumerate(steps) for act in step if act.noun]
    if not others or not step_acts:
        return {}
    similarity = _similarity(others, [act for act, _ in step_acts], wordnet)
    best = similarity.argmax(axis=1)
    return {
        act: step_acts[i][1]
        for act, i, value in zip(others, best, similarity.max(axis=1), strict=True)
        if value >= MIN_SIMILARITY
    }


def _similarity(
    rows: Sequence[Act], columns: Sequence[Act], wordnet: WordNet
) -> NDArray[np.float32]:
    """Similarity of two lists of acts (rows × columns), from tables of distinct verbs and nouns."""
    verbs = {verb: n for n, verb in enumerate(sorted({a[:2] for a in (*rows, *columns)}))}
    nouns = {noun: n for n, noun in enumerate(sorted({a.noun for a in (*rows, *columns)}))}
    by_verb = verb_similarity(list(verbs), wordnet)
    by_noun = noun_similarity(list(nouns), wordnet)
    pairs = [
        ([verbs[act[:2]] for act in acts], [nouns[act.noun] for act in acts])
        for acts in (rows, columns)
    ]
    (row_verbs, row_nouns), (column_verbs, column_nouns) = pairs
    return by_verb[np.ix_(row_verbs, column_verbs)] * by_noun[np.ix_(row_nouns, column_nouns)]
