"""The step model: two logistic regressions, trained across tasks.

One gives the probability that two acts are the same step, the other that an act is a step at all.
Features of a pair: similarity of the verbs and of the nouns (:mod:`.similarity`), how specific the
words are, and statistics of the task: co-occurrence within seconds against chance, shared
neighbours, shared videos, position in the video, the same place ("in the pan"). Features of an
act: how many videos mention it, and in which form.

``step_model.json`` holds the weight of each feature by name, and verbs with their log-odds of work
against talk; ``training/step_model.py`` learns them.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from howsteps.narration.wordnet import WordNet
from howsteps.script.acts import ActTable, Matrix, background_share, title_words
from howsteps.script.similarity import (
    are_opposite,
    is_helper,
    noun_similarity,
    shared_class,
    specificity,
    vectors_of,
    verb_similarity,
)
from howsteps.task import Mention

CLASS_SIMILARITY = 0.7  # of two verbs of one class
# Prior of the spread of an act's positions: its value, and its weight in mentions.
PRIOR_SPREAD, PRIOR_WEIGHT = 0.25, 3
DECAY = 8.0  # of closeness with the gap between two positions
_FILE = Path(__file__).with_name("step_model.json")


@dataclass(frozen=True)
class StepModel:
    """Weights of the features, and log-odds of work against talk by verb."""

    pair_weights: Mapping[str, float]
    pair_bias: float
    act_weights: Mapping[str, float]
    act_bias: float
    odds: Mapping[str, float]

    def same_step(self, table: ActTable, mentions: Sequence[Mention], wordnet: WordNet) -> Matrix:
        """Probability that two acts are the same step (n×n, symmetric, 1 on the diagonal)."""
        features = pair_features(table, mentions, wordnet)
        probability = logistic(_weighted_sum(features, self.pair_weights) + self.pair_bias)
        np.fill_diagonal(probability, 1.0)
        return (probability + probability.T) / 2

    def is_step(self, table: ActTable, mentions: Sequence[Mention], title: str) -> Matrix:
        """Probability that each act belongs to a step of the task."""
        features = act_features(table, mentions, title_words(title), self.odds)
        return logistic(_weighted_sum(features, self.act_weights) + self.act_bias)


@cache
def shipped() -> StepModel:
    """The model that comes with howsteps."""
    raw = json.loads(_FILE.read_text("utf-8"))
    return StepModel(
        raw["pairs"]["weights"],
        raw["pairs"]["bias"],
        raw["acts"]["weights"],
        raw["acts"]["bias"],
        raw["odds"],
    )


def logistic(x: Matrix) -> Matrix:
    """1 / (1 + exp(−x)), without overflow."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def _weighted_sum(features: Mapping[str, Matrix], weights: Mapping[str, float]) -> Matrix:
    total = np.zeros_like(next(iter(features.values())), dtype=np.float64)
    for name, weight in weights.items():
        total += weight * features[name]
    return total


def which_undo(verbs: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
    """Which pairs of verbs undo each other: their acts are never one step (n×n)."""
    distinct = sorted(set(verbs))
    rows = [distinct.index(verb) for verb in verbs]
    undo = np.array([[are_opposite(a, b) for b in distinct] for a in distinct], dtype=np.bool_)
    return undo.reshape(len(distinct), len(distinct))[np.ix_(rows, rows)]


def pair_features(
    table: ActTable, mentions: Sequence[Mention], wordnet: WordNet
) -> dict[str, Matrix]:
    """The features of all pairs of acts by name, each n×n and symmetric."""
    verbs = [(act.verb, act.particle) for act in table.acts]
    nouns = [act.noun for act in table.acts]
    features = _word_features(verbs, nouns, wordnet) | _co_occurrence_features(table, mentions)
    shared = Counter(nouns)
    same_verb, telling = features["same verb"], features["telling"]
    class_, noun = features["same class"], features["noun"]
    same_noun = (np.array(nouns)[:, None] == np.array(nouns)[None, :]).astype(np.float64)
    near, close = np.clip(features["near lift"], -1.0, 2.0), np.exp(-DECAY * features["gap"])
    undo = which_undo(verbs).astype(np.float64)
    verb = np.maximum(features["synonyms"], CLASS_SIMILARITY * class_) * (1 - undo)
    share = np.array([shared[act.noun] / len(nouns) for act in table.acts])
    return features | {
        "undo": undo,
        "close": close,
        "same noun": same_noun,
        "other class × same noun": features["other class"] * same_noun,
        "verb × noun": verb * noun,
        "verb × telling": verb * telling,
        "class × same noun": class_ * same_noun,
        "class × telling": class_ * telling,
        "same noun, common": same_noun * _outer(np.maximum, share),
        "helper × same noun": features["helper"] * same_noun,
        "helper × near": features["helper"] * near,
        "same verb × telling": same_verb * telling,
        "same common verb, other noun": same_verb * (1 - telling) * (1 - noun),
        "same noun × close": same_noun * close,
        "phrase cosine × near": features["phrase cosine"] * near,
        "verb × noun cosine": verb * features["noun cosine"],
    }


def _word_features(
    verbs: Sequence[tuple[str, str]], nouns: Sequence[str], wordnet: WordNet
) -> dict[str, Matrix]:
    """Features from the words alone, whatever the narrations."""
    bare = np.array([verb for verb, _ in verbs])
    particle = np.array([particle for _, particle in verbs])
    has = particle != ""
    same_particle = has[:, None] & (particle[:, None] == particle[None, :])
    class_ = shared_class(verbs)
    listed = class_.diagonal() > 0
    usage = np.array([background_share(verb) for verb, _ in verbs])
    verb_vectors, noun_vectors = vectors_of([verb for verb, _ in verbs]), vectors_of(nouns)
    return {
        "verb cosine": verb_vectors @ verb_vectors.T,
        "noun cosine": noun_vectors @ noun_vectors.T,
        "phrase cosine": cosines(verb_vectors + noun_vectors),
        "synonyms": np.asarray(verb_similarity(verbs, wordnet), dtype=np.float64),
        "same verb": (bare[:, None] == bare[None, :]).astype(np.float64),
        "noun": np.asarray(noun_similarity(nouns, wordnet), dtype=np.float64),
        "same particle": same_particle.astype(np.float64),
        "other particle": (has[:, None] & has[None, :] & ~same_particle).astype(np.float64),
        "one particle": (has[:, None] != has[None, :]).astype(np.float64),
        "same class": class_,
        "other class": (listed[:, None] & listed[None, :] & (class_ == 0)).astype(np.float64),
        "helper": _outer(np.maximum, np.array([is_helper(*verb) for verb in verbs], float)),
        "telling": _outer(np.minimum, np.array([specificity(verb) for verb, _ in verbs])),
        "rarer verb": _outer(np.minimum, usage),
        "commoner verb": _outer(np.maximum, usage),
    }


def _co_occurrence_features(table: ActTable, mentions: Sequence[Mention]) -> dict[str, Matrix]:
    """Features from where and how often the narrations of the task mention two acts."""
    n_videos = max(len(table.durations), 1)
    present = (table.counts > 0).astype(np.float64)
    both = present @ present.T
    fewer = np.maximum(_outer(np.minimum, table.video_counts), 1.0)
    neighbours = np.log1p(table.near / (table.near_by_chance + 0.5))
    np.fill_diagonal(neighbours, 0.0)
    median = np.array([np.median(table.position[members]) for members in table.members])
    spread = np.array([spread_of(table.position[members]) for members in table.members])
    by_chance = np.outer(table.video_counts, table.video_counts) / n_videos
    return {
        "near lift": np.log((table.near + 0.5) / (table.near_by_chance + 0.5)),
        "near, of both": table.near / (both + 1.0),
        "near, of fewer": table.near / fewer,
        "together": np.log((both + 0.5) / (by_chance + 0.5)),
        "both": np.log1p(both),
        "company": cosines(neighbours),
        "gap": np.abs(median[:, None] - median[None, :]),
        "narrower": _outer(np.minimum, spread),
        "wider": _outer(np.maximum, spread),
        "rarer": _outer(np.minimum, np.log(np.maximum(table.video_counts, 1.0) / n_videos)),
        "same spot": cosines(_place_counts(table, mentions)),
    }


def _place_counts(table: ActTable, mentions: Sequence[Mention]) -> Matrix:
    """How often each act is done at each place or with each tool (acts × nouns)."""
    index: dict[str, int] = {}
    occurrences: list[tuple[int, int]] = []
    for act, members in enumerate(table.members):
        for i in members:
            mention = mentions[i]
            nouns = (*(place.noun for place in mention.places), *mention.tools)
            occurrences += ((act, index.setdefault(noun, len(index))) for noun in nouns)
    counts = np.zeros((len(table.acts), max(len(index), 1)))
    for act, noun in occurrences:
        counts[act, noun] += 1.0
    return counts


def act_features(
    table: ActTable,
    mentions: Sequence[Mention],
    title: Collection[str],
    odds: Mapping[str, float],
) -> dict[str, Matrix]:
    """The features of all acts by name, each with one value per act.

    Parameters
    ----------
    title
        The words of the title.
    odds
        Log-odds of work against talk, by verb.
    """
    n_videos = max(len(table.durations), 1)
    mentions_of = [[mentions[i] for i in members] for members in table.members]
    videos = np.maximum(table.video_counts, 1.0)

    def mean(values: Sequence[Sequence[float]]) -> Matrix:
        return np.array([float(np.mean(row)) if len(row) else 0.0 for row in values])

    return {
        "share": np.log(videos / n_videos),
        "repeated": np.log(np.array([len(row) for row in mentions_of]) / videos),
        "noun of the title": np.array([act.noun in title for act in table.acts], float),
        "particle": np.array([act.particle != "" for act in table.acts], float),
        "pronoun": mean([[m.resolved for m in row] for row in mentions_of]),
        "at a place": mean([[bool(m.places) for m in row] for row in mentions_of]),
        "no object": mean([[m.noun == "" for m in row] for row in mentions_of]),
        "work": mean([[m.work for m in row] for row in mentions_of]),
        "work of the verb": np.array([odds.get(act.verb, 0.0) for act in table.acts]),
    }


def spread_of(positions: Matrix) -> float:
    """Standard deviation of positions in the video, shrunk towards a prior."""
    squares = float(((positions - positions.mean()) ** 2).sum()) if len(positions) else 0.0
    prior = PRIOR_WEIGHT * PRIOR_SPREAD**2
    return float(np.sqrt((squares + prior) / (len(positions) + PRIOR_WEIGHT)))


def cosines(rows: Matrix) -> Matrix:
    """Cosine similarity of all pairs of rows; zero for a row of zeros."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = rows / np.where(norms > 0, norms, 1.0)
    return np.asarray(unit @ unit.T)


def _outer(function: np.ufunc, values: Matrix) -> Matrix:
    return np.asarray(function.outer(values, values), dtype=np.float64)
