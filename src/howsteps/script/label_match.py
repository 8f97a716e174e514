"""Which mentions are of a step that a person wrote down: its label against all that is said.

A mention is compared with every act that a label names: the verbs, what is done to what, and the
words of the one that stand at another place in the other ("with the *jack*"). How far the mention
is from where the step stands in the script, and whether it is work at all, counts too. A mention
goes to the step that it is most probably of, and to none where no step is near. All steps compete,
also those that have their mentions already.

The model is logistic; ``training/label_match.py`` learns its weights.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.script.act_table import Matrix
from howsteps.script.similarity import noun_similarity, opposites, tells, verb_similarity
from howsteps.script.step_model import logistic
from howsteps.script.verb_classes import are_opposite, classes_of
from howsteps.script.word_vectors import vectors_of
from howsteps.task import Mention
from howsteps.wordnet import WordNet

Weights: TypeAlias = Mapping[str, float]

WEIGHTS: Weights = {
    "bias": -3.25,
    "verb": 0.65,
    "telling verb": 1.8,
    "noun": 0.55,
    "verb and noun": 1.7,
    "cosines": 2.9,
    "elsewhere": 1.5,
    "gap": -2.0,
    "work": 1.25,
}
LEAST = 0.2  # probability at which a mention is of a step; 0.15 does as well, less precisely
CLASS = 0.7  # the similarity of two verbs of one class
USUAL_PLACE = 4.0  # mentions that the place of a step in the script counts as much as
LEAVING = frozenset({"keep", "leave"})  # verbs that leave where it is what a remover takes away
MOST_ACTS = 8  # of a step that has its mentions: its most frequent ones


class Said(NamedTuple):
    """An act of a label or a narration; around that of a label stand its places and tools."""

    verb: str
    particle: str
    noun: str
    around: tuple[str, ...]


def match_labels(
    steps: Sequence[Sequence[Mention]],
    is_open: Sequence[bool],
    heard: Sequence[Mention],
    places: Sequence[float],
) -> list[list[int]]:
    """The mentions that are of each step that is open.

    Parameters
    ----------
    steps
        In the order of the script: the acts of each label, or the mentions that a step has.
    is_open
        Which steps look for mentions; the others only compete.
    heard, places
        The mentions that are to be had, and where in its video each stands, from 0 to 1.

    Returns
    -------
    For every step indices into ``heard``; none for a step that is not open.
    """
    found: list[list[int]] = [[] for _ in steps]
    if not heard or not any(is_open):
        return found
    probable = probabilities(steps, heard, np.asarray(places, dtype=np.float64))
    best = probable.argmax(axis=0)
    for mention, step in enumerate(best):
        if is_open[step] and probable[step, mention] >= LEAST:
            found[step].append(mention)
    return found


def probabilities(
    steps: Sequence[Sequence[Mention]], heard: Sequence[Mention], places: Matrix
) -> Matrix:
    """How probable it is that each mention is of each step (steps × mentions)."""
    acts = [acts_of(own) for own in steps]
    number: dict[Said, int] = {}
    act = np.array([number.setdefault(spoken(m), len(number)) for m in heard])
    signs = signs_of([one for own in acts for one in own], list(number))
    words = weigh(signs, [len(own) for own in acts], WEIGHTS)[:, act]
    work = np.array([mention.work for mention in heard])
    return with_order(words, work, places, WEIGHTS)


def weigh(signs: Mapping[str, Matrix], many: Sequence[int], weights: Weights) -> Matrix:
    """What signs say of each step, as log-odds (steps × acts).

    ``many`` is how many acts the label of each step names; the one that says most counts.
    """
    total = np.full_like(signs["verb"], weights["bias"])
    for name, values in signs.items():
        total += weights[name] * values
    found = np.full((len(many), total.shape[1]), -np.inf)
    np.maximum.at(found, np.repeat(np.arange(len(many)), many), total)
    return found


def with_order(
    words: Matrix, work: Matrix, places: Matrix, weights: Weights, least: float = LEAST
) -> Matrix:
    """The probabilities (steps × mentions), from what the words of each mention say of each step.

    A step is first looked for where the script has it, then where it is said.
    """
    order = usual = (np.arange(len(words)) + 0.5) / max(len(words), 1)
    probable = np.zeros_like(words)
    for _ in range(2):
        gap = np.abs(places[None, :] - order[:, None])
        probable = logistic(words + weights["gap"] * gap + weights["work"] * work)
        own = probable * (probable == probable.max(axis=0)) * (probable >= least)
        order = (own @ places + USUAL_PLACE * usual) / (own.sum(axis=1) + USUAL_PLACE)
    return probable


def signs_of(labels: Sequence[Said], acts: Sequence[Said]) -> dict[str, Matrix]:
    """The signs that an act is one that a label names (labels × acts).

    There is none where one verb undoes the other, whatever the nouns: adding is no removing.
    """
    wordnet = WordNet.load()
    verb, cosine, undoes = _verbs([one[:2] for one in labels], [one[:2] for one in acts], wordnet)
    telling = np.minimum.outer(_telling(labels), _telling(acts))
    nouns = sorted({n for one in (*labels, *acts) for n in (one.noun, *one.around)})
    place = {noun: at for at, noun in enumerate(nouns)}
    alike = np.asarray(noun_similarity(nouns, wordnet), dtype=np.float64)
    if "" in place:
        alike[place[""], :] = alike[:, place[""]] = 0.0
    own, others = ([place[one.noun] for one in both] for both in (labels, acts))
    noun = alike[np.ix_(own, others)]
    elsewhere = np.zeros_like(noun)
    for at, one in enumerate(labels):
        for other in one.around:
            elsewhere[at] = np.maximum(elsewhere[at], alike[place[other], others])
    rows = vectors_of(nouns)
    signs = {
        "verb": verb,
        "telling verb": verb * telling,
        "noun": noun,
        "verb and noun": verb * noun,
        "cosines": cosine * (rows[own] @ rows[others].T),
        "elsewhere": elsewhere,
    }
    return {name: np.where(undoes, 0.0, sign) for name, sign in signs.items()}


def _verbs(
    labels: Sequence[tuple[str, str]], acts: Sequence[tuple[str, str]], wordnet: WordNet
) -> tuple[Matrix, Matrix, NDArray[np.bool_]]:
    """How alike verbs are, by what they do and by the cosine of their vectors; which undo which."""
    verbs = sorted({*labels, *acts})
    place = {verb: at for at, verb in enumerate(verbs)}
    own, others = ([place[verb] for verb in both] for both in (labels, acts))
    rows = sorted(set(own))
    wanted = {at: row for row, at in enumerate(rows)}
    alike = np.asarray(verb_similarity(verbs, wordnet), dtype=np.float64)[rows]
    undo: NDArray[np.bool_] = opposites([verb for verb, _ in verbs], wordnet)[rows]
    for row, at in enumerate(rows):
        classes = classes_of(*verbs[at])
        for column, verb in enumerate(verbs):
            theirs = classes_of(*verb)
            shared = len(classes & theirs) / max(1, min(len(classes), len(theirs)))
            alike[row, column] = max(alike[row, column], CLASS * shared)
            undo[row, column] |= are_opposite(verbs[at], verb) or _leaves(verbs[at], verb)
    vectors = vectors_of([verb for verb, _ in verbs])
    pick = np.ix_([wanted[at] for at in own], others)
    return alike[pick], vectors[own] @ vectors[others].T, undo[pick]


def _leaves(one: tuple[str, str], two: tuple[str, str]) -> bool:
    """Whether one verb leaves where it is what the other takes away."""
    pairs = ((one, two), (two, one))
    return any(a[0] in LEAVING and "remove" in classes_of(*b) for a, b in pairs)


def _telling(acts: Sequence[Said]) -> Matrix:
    return np.array([tells(act.verb) for act in acts], dtype=np.float64)


def acts_of(mentions: Sequence[Mention]) -> list[Said]:
    """The acts of a step: all that a label names, or the most frequent that narrators do."""
    counts = Counter(_written(mention) for mention in mentions)
    return sorted(counts, key=lambda act: (-counts[act], act))[:MOST_ACTS]


def spoken(mention: Mention) -> Said:
    """An act of a narration; without an object it goes by its place: "go around the *wrist*"."""
    return Said(mention.verb, mention.particle, mention.relation.noun, ())


def _written(mention: Mention) -> Said:
    around = {*(place.noun for place in mention.places), *mention.tools} - {""}
    return Said(mention.verb, mention.particle, mention.noun, tuple(sorted(around)))
