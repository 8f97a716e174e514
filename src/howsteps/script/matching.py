"""Match steps that are known, by their acts, with the mentions of narrations.

Steps that a person wrote, steps learnt from other videos, and mentions that a script left out: each
mention is compared with the acts of a step, or those that its label names: their verbs, their
objects, and words of the label that are places or tools there and the object of the mention ("with
the *jack*"). The distance between the position of the mention in its video and that of the step in
the script counts too, and the probability that the mention is work. A mention goes to its most
probable step, or to none below a threshold. All steps compete, also those that have their mentions
already. What is done on the left is not done on the right.

The model is a logistic regression; ``training/label_match.py`` learns its weights.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.narration.wordnet import WordNet
from howsteps.script.acts import Matrix, candidate_mentions, positions_of
from howsteps.script.order import keep_in_order
from howsteps.script.similarity import (
    are_opposite,
    classes_of,
    noun_similarity,
    specificity,
    vectors_of,
    verb_similarity,
)
from howsteps.script.step_model import CLASS_SIMILARITY, logistic
from howsteps.task import Mention, Script, Task

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
# The same where a step is known by its mentions, which have more acts than a label. Of what matches
# in other videos, 55 % is of the step at 0.2 and 79 % at 0.4, which finds 71 % instead of 75 %.
MIN_KNOWN_PROBABILITY = 0.4
PRIOR_WEIGHT = 4.0  # of the position of a step in the script, in mentions
# What is done on one of these sides is not done on another.
_SIDES = tuple(
    frozenset(words.split())
    for words in ("left right", "top bottom", "front back rear", "upper lower", "inside outside",
                  "first second third last")
)  # fmt: skip
_EVERY_SIDE = frozenset().union(*_SIDES)
MAX_ACTS = 8  # of a step: its most frequent ones
MIN_NEAR_PROBABILITY = 0.1
# The weight of a likely near-mention; a mention of the script has 1. In annotated videos 46 % of
# the mentions of a script lie inside the step, and 22 % of the likely near-mentions, however
# likely: an act mentioned again is as often a preview, a recap or another attempt.
NEAR_WEIGHT = 0.4


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
    positions: Matrix,
    min_probability: float = MIN_PROBABILITY,
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
    min_probability
        Of a match.

    Returns
    -------
    For every step, indices into ``mentions``; none for a step that is not open.
    """
    matches: list[list[int]] = [[] for _ in steps]
    if not mentions or not any(is_open):
        return matches
    sides = [set[str]().union(*map(sides_of, step)) for step in steps]
    probability = match_probabilities(steps, mentions, positions)
    for mention, words in enumerate(map(sides_of, mentions)):
        for step, own in enumerate(sides if words else ()):
            if any(words & side and own & side and not words & own & side for side in _SIDES):
                probability[step, mention] = 0.0
    for mention, step in enumerate(probability.argmax(axis=0)):
        if is_open[step] and probability[step, mention] >= min_probability:
            matches[step].append(mention)
    return matches


def sides_of(mention: Mention) -> set[str]:
    """The sides that a mention names; a particle is none: "put the left wheel *back*"."""
    return {*mention.phrase.split()} & _EVERY_SIDE - {mention.particle}


def match_probabilities(
    steps: Sequence[Sequence[Mention]], mentions: Sequence[Mention], positions: Matrix
) -> Matrix:
    """Probability that each mention is of each step (steps × mentions)."""
    acts_by_step = [acts_of(step) for step in steps]
    index: dict[ActWithContext, int] = {}
    act = np.array([index.setdefault(spoken_act(m), len(index)) for m in mentions])
    features = match_features(
        [label_act for acts in acts_by_step for label_act in acts], list(index)
    )
    log_odds = step_log_odds(features, [len(acts) for acts in acts_by_step], WEIGHTS)[:, act]
    work = np.array([mention.work for mention in mentions])
    return step_probabilities(log_odds, work, positions, WEIGHTS)


def step_log_odds(
    features: Mapping[str, Matrix], act_counts: Sequence[int], weights: Weights
) -> Matrix:
    """Log-odds that each act is of each step, by their words (steps × acts).

    Parameters
    ----------
    features
        Of :func:`match_features` (label acts × acts).
    act_counts
        How many acts the label of each step names; the best of them counts.
    """
    total = np.full_like(features["verb"], weights["bias"])
    for name, values in features.items():
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


def match_features(
    labels: Sequence[ActWithContext], acts: Sequence[ActWithContext]
) -> dict[str, Matrix]:
    """Features: that an act is one that a label names (labels × acts).

    All are zero where one verb undoes the other, whatever the nouns: adding is not removing.
    """
    wordnet = WordNet.load()
    verb, verb_cosine, undo = _verb_features(
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
    features = {
        "verb": verb,
        "telling verb": verb * specific,
        "noun": noun,
        "verb and noun": verb * noun,
        "cosines": verb_cosine * (vectors[rows] @ vectors[columns].T),
        "elsewhere": elsewhere,
    }
    return {name: np.where(undo, 0.0, feature) for name, feature in features.items()}


def _verb_features(
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
    undo = np.zeros(similarity.shape, dtype=np.bool_)
    for row, i in enumerate(rows):
        classes = classes_of(*verbs[i])
        for column, verb in enumerate(verbs):
            others = classes_of(*verb)
            shared = len(classes & others) / max(1, min(len(classes), len(others)))
            similarity[row, column] = max(similarity[row, column], CLASS_SIMILARITY * shared)
            undo[row, column] = are_opposite(verbs[i], verb)
    vectors = vectors_of([verb for verb, _ in verbs])
    pick = np.ix_([row_of[i] for i in label_indices], act_indices)
    return similarity[pick], vectors[label_indices] @ vectors[act_indices].T, undo[pick]


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


def find_known_steps(steps: Sequence[Sequence[Mention]], task: Task) -> list[tuple[Mention, ...]]:
    """The mentions of each step in the videos of a task; each video is treated independently.

    Parameters
    ----------
    steps
        The acts of every step, in the order of the script; a step without acts has no matches.
    """
    found: list[tuple[Mention, ...]] = [() for _ in steps]
    for video, mentions in zip(task.videos, candidate_mentions(task), strict=True):
        positions = positions_of(video, mentions)
        is_known = [bool(acts) for acts in steps]
        matches = match_labels(steps, is_known, mentions, positions, MIN_KNOWN_PROBABILITY)
        matched = [step for step, indices in enumerate(matches) if indices]
        if not matched:
            continue
        kept = keep_in_order(
            [np.array(matches[step], np.int64) for step in matched],
            np.zeros(len(mentions), np.int64),
            positions,
            work=np.array([mention.work for mention in mentions]),
        )
        for step, indices in zip(matched, kept, strict=True):
            found[step] += tuple(mentions[i] for i in indices)
    return found


def with_videos_searched(script: Script, task: Task, videos: Collection[str]) -> Script:
    """The script of a task with what is said of its steps in these videos too."""
    # Places that are fixed have no words.
    said = [[m for m in step.mentions if m.verb] for step in script.steps]
    searched = tuple(video for video in task.videos if video.id in videos)
    found = find_known_steps(said, replace(task, videos=searched))
    taken = {mention for step in script.steps for mention in step.mentions}
    order = {video.id: index for index, video in enumerate(task.videos)}
    steps = []
    for step, own in zip(script.steps, found, strict=True):
        mentions = (*step.mentions, *(m for m in own if m not in taken))
        in_order = sorted(mentions, key=lambda m: (order[m.video], m.start, m.end, m.phrase))
        steps.append(replace(step, mentions=tuple(in_order)))
    return replace(script, steps=tuple(steps))


class NearMention(NamedTuple):
    """A mention that is probably of a step that does not have it; its weight is in [0, 1]."""

    mention: Mention
    step: int
    weight: float


def near_mentions(task: Task, script: Script) -> list[NearMention]:
    """Mentions of a step that the script leaves out because of their order or their words.

    A script keeps the mentions that follow its order, of the acts that it selected. To decide where
    a narrator speaks of a step, and whether at all, similar mentions count too, each for the step
    that it matches best.
    """
    in_script = {(m.video, m.start, m.end) for step in script.steps for m in step.mentions}
    mentions: list[Mention] = []
    positions: list[float] = []
    for video, candidates in zip(task.videos, candidate_mentions(task), strict=True):
        mentions += candidates
        positions += positions_of(video, candidates).tolist()
    if not mentions or not in_script:
        return []
    acts = [step.mentions for step in script.steps]
    by_mention = match_probabilities(acts, mentions, np.array(positions)).T
    found = []
    for mention, probabilities in zip(mentions, by_mention, strict=True):
        step = int(probabilities.argmax())
        probability = float(probabilities[step])
        is_new = (mention.video, mention.start, mention.end) not in in_script
        if probability >= MIN_NEAR_PROBABILITY and is_new:
            weight = NEAR_WEIGHT if probability >= MIN_PROBABILITY else probability
            found.append(NearMention(mention, step, weight))
    return found


def spoken_by_video(
    task: Task, weighted_mentions: Iterable[tuple[Mention, int, float]]
) -> list[NDArray[np.float64]]:
    """The mentions of steps in every video, as S×4 arrays sorted by time.

    Columns: start, end, step, and weight times the probability that the mention is work.

    Parameters
    ----------
    weighted_mentions
        (mention, step, weight); mentions of other videos are ignored.
    """
    rows: dict[str, list[tuple[float, float, int, float]]] = {v.id: [] for v in task.videos}
    for mention, step, weight in weighted_mentions:
        if mention.video in rows:
            rows[mention.video].append((mention.start, mention.end, step, weight * mention.work))
    return [np.array(sorted(rows[v.id])).reshape(-1, 4) for v in task.videos]
