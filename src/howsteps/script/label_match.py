"""Match labels that a person wrote against the mentions of a task.

Each mention is compared with the acts that a label names: their verbs, their objects, and words of
the label that are places or tools there and the object of the mention ("with the *jack*"). The
distance between the position of the mention in its video and that of the step in the script counts
too, and the probability that the mention is work. A mention goes to its most probable step, or to
none below a threshold. All steps compete, also those that have their mentions already.

The model is a logistic regression; ``training/label_match.py`` learns its weights.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.narration.wordnet import WordNet
from howsteps.script.act_table import Matrix
from howsteps.script.similarity import noun_similarity, opposites, specificity, verb_similarity
from howsteps.script.step_model import logistic
from howsteps.script.verb_classes import are_opposite, classes_of
from howsteps.script.word_vectors import vectors_of
from howsteps.task import Mention

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
MIN_PROBABILITY = 0.2  # of a match; 0.15 has the same F1 with lower precision
CLASS_SIMILARITY = 0.7  # of two verbs of one class
PRIOR_WEIGHT = 4.0  # of the position of a step in the script, in mentions
LEAVING_VERBS = frozenset({"keep", "leave"})  # opposites of removing
MAX_ACTS = 8  # of a step: its most frequent ones


class ActWithContext(NamedTuple):
    """An act of a label or of a narration; ``around`` has the places and tools of a label's act."""

    verb: str
    particle: str
    noun: str
    around: tuple[str, ...]


def match_labels(
    steps: Sequence[Sequence[Mention]],
    is_open: Sequence[bool],
    mentions: Sequence[Mention],
    positions: Sequence[float],
) -> list[list[int]]:
    """Assign mentions to the steps that are open.

    Parameters
    ----------
    steps
        In the order of the script: the acts that each label names, or the mentions of the step.
    is_open
        Which steps look for mentions; the others only compete.
    mentions, positions
        The mentions to assign, and the relative position of each in its video, in [0, 1].

    Returns
    -------
    For every step, indices into ``mentions``; none for a step that is not open.
    """
    matches: list[list[int]] = [[] for _ in steps]
    if not mentions or not any(is_open):
        return matches
    probability = match_probabilities(steps, mentions, np.asarray(positions, dtype=np.float64))
    for mention, step in enumerate(probability.argmax(axis=0)):
        if is_open[step] and probability[step, mention] >= MIN_PROBABILITY:
            matches[step].append(mention)
    return matches


def match_probabilities(
    steps: Sequence[Sequence[Mention]], mentions: Sequence[Mention], positions: Matrix
) -> Matrix:
    """Probability that each mention is of each step (steps × mentions)."""
    acts_by_step = [acts_of(step) for step in steps]
    index: dict[ActWithContext, int] = {}
    act = np.array([index.setdefault(spoken_act(m), len(index)) for m in mentions])
    cues = match_cues([label_act for acts in acts_by_step for label_act in acts], list(index))
    log_odds = step_log_odds(cues, [len(acts) for acts in acts_by_step], WEIGHTS)[:, act]
    work = np.array([mention.work for mention in mentions])
    return step_probabilities(log_odds, work, positions, WEIGHTS)


def step_log_odds(
    cues: Mapping[str, Matrix], act_counts: Sequence[int], weights: Weights
) -> Matrix:
    """Log-odds that each act is of each step, by their words (steps × acts).

    Parameters
    ----------
    cues
        Of :func:`match_cues` (label acts × acts).
    act_counts
        How many acts the label of each step names; the best of them counts.
    """
    total = np.full_like(cues["verb"], weights["bias"])
    for name, values in cues.items():
        total += weights[name] * values
    log_odds = np.full((len(act_counts), total.shape[1]), -np.inf)
    np.maximum.at(log_odds, np.repeat(np.arange(len(act_counts)), act_counts), total)
    return log_odds


def step_probabilities(
    log_odds: Matrix,
    work: Matrix,
    positions: Matrix,
    weights: Weights,
    min_probability: float = MIN_PROBABILITY,
) -> Matrix:
    """Probability that each mention is of each step, by words and position (steps × mentions).

    The position of a step is first that in the script, then re-estimated from its matches.

    Parameters
    ----------
    log_odds
        By words (steps × mentions).
    work, positions
        Of each mention: the probability that it is work, and its position in the video.
    min_probability
        Of the matches that the position of a step is re-estimated from.
    """
    expected = prior = (np.arange(len(log_odds)) + 0.5) / max(len(log_odds), 1)
    probability = np.zeros_like(log_odds)
    for _ in range(2):
        gap = np.abs(positions[None, :] - expected[:, None])
        probability = logistic(log_odds + weights["gap"] * gap + weights["work"] * work)
        is_best = probability == probability.max(axis=0)
        matches = probability * is_best * (probability >= min_probability)
        expected = (matches @ positions + PRIOR_WEIGHT * prior) / (
            matches.sum(axis=1) + PRIOR_WEIGHT
        )
    return probability


def match_cues(
    labels: Sequence[ActWithContext], acts: Sequence[ActWithContext]
) -> dict[str, Matrix]:
    """Cues that an act is one that a label names (labels × acts).

    All are zero where one verb undoes the other, whatever the nouns: adding is not removing.
    """
    wordnet = WordNet.load()
    verb, verb_cosine, undo = _verb_cues(
        [act[:2] for act in labels], [act[:2] for act in acts], wordnet
    )
    specific = np.minimum.outer(_specificities(labels), _specificities(acts))
    nouns = sorted({noun for act in (*labels, *acts) for noun in (act.noun, *act.around)})
    index = {noun: i for i, noun in enumerate(nouns)}
    similarity = np.asarray(noun_similarity(nouns, wordnet), dtype=np.float64)
    if "" in index:
        similarity[index[""], :] = similarity[:, index[""]] = 0.0
    rows, columns = ([index[act.noun] for act in side] for side in (labels, acts))
    noun = similarity[np.ix_(rows, columns)]
    elsewhere = np.zeros_like(noun)
    for i, act in enumerate(labels):
        for other in act.around:
            elsewhere[i] = np.maximum(elsewhere[i], similarity[index[other], columns])
    vectors = vectors_of(nouns)
    cues = {
        "verb": verb,
        "telling verb": verb * specific,
        "noun": noun,
        "verb and noun": verb * noun,
        "cosines": verb_cosine * (vectors[rows] @ vectors[columns].T),
        "elsewhere": elsewhere,
    }
    return {name: np.where(undo, 0.0, cue) for name, cue in cues.items()}


def _verb_cues(
    labels: Sequence[tuple[str, str]], acts: Sequence[tuple[str, str]], wordnet: WordNet
) -> tuple[Matrix, Matrix, NDArray[np.bool_]]:
    """Similarity of verbs, cosine of their vectors, and whether one undoes the other.

    Verbs are (verb, particle); all arrays are labels × acts.
    """
    verbs = sorted({*labels, *acts})
    index = {verb: i for i, verb in enumerate(verbs)}
    label_indices, act_indices = ([index[verb] for verb in side] for side in (labels, acts))
    rows = sorted(set(label_indices))
    row_of = {i: row for row, i in enumerate(rows)}
    similarity = np.asarray(verb_similarity(verbs, wordnet), dtype=np.float64)[rows]
    undo: NDArray[np.bool_] = opposites([verb for verb, _ in verbs], wordnet)[rows]
    for row, i in enumerate(rows):
        classes = classes_of(*verbs[i])
        for column, verb in enumerate(verbs):
            others = classes_of(*verb)
            shared = len(classes & others) / max(1, min(len(classes), len(others)))
            similarity[row, column] = max(similarity[row, column], CLASS_SIMILARITY * shared)
            undo[row, column] |= are_opposite(verbs[i], verb) or _leave_or_remove(verbs[i], verb)
    vectors = vectors_of([verb for verb, _ in verbs])
    pick = np.ix_([row_of[i] for i in label_indices], act_indices)
    return similarity[pick], vectors[label_indices] @ vectors[act_indices].T, undo[pick]


def _leave_or_remove(one: tuple[str, str], two: tuple[str, str]) -> bool:
    """Whether one verb leaves a thing in place and the other removes it."""
    pairs = ((one, two), (two, one))
    return any(a[0] in LEAVING_VERBS and "remove" in classes_of(*b) for a, b in pairs)


def _specificities(acts: Sequence[ActWithContext]) -> Matrix:
    return np.array([specificity(act.verb) for act in acts], dtype=np.float64)


def acts_of(mentions: Sequence[Mention]) -> list[ActWithContext]:
    """The most frequent acts among the mentions of a step, or among those that its label names."""
    counts = Counter(_label_act(mention) for mention in mentions)
    return sorted(counts, key=lambda act: (-counts[act], act))[:MAX_ACTS]


def spoken_act(mention: Mention) -> ActWithContext:
    """The act of a mention; without an object, its place stands in: "go around the *wrist*"."""
    return ActWithContext(mention.verb, mention.particle, mention.relation.noun, ())


def _label_act(mention: Mention) -> ActWithContext:
    around = {*(place.noun for place in mention.places), *mention.tools} - {""}
    return ActWithContext(mention.verb, mention.particle, mention.noun, tuple(sorted(around)))
