"""The step model: two logistic regressions, trained across tasks.

One gives the probability that two acts are the same step, the other that an act is a step at all.
Features of a pair: similarity of the verbs and of the nouns (:mod:`.similarity`), how specific the
words are, and statistics of the task: co-occurrence within seconds against chance, shared
neighbours, shared videos, position in the video, a fixed order, the same place ("in the pan").
Features of an act: how many videos mention it, where in the video, and in which form.

``step_model.json`` holds the weight of each feature by name, and words with their log-odds of work
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
    opposites,
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
RARE_SHARE = 0.003  # smooths the share of how-to videos that use a verb
_FILE = Path(__file__).with_name("step_model.json")


@dataclass(frozen=True)
class StepModel:
    """Weights of the features, and log-odds of work against talk by verb and by noun."""

    pair_weights: Mapping[str, float]
    pair_bias: float
    act_weights: Mapping[str, float]
    act_bias: float
    odds: Mapping[str, Mapping[str, float]]

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


def forbidden_pairs(table: ActTable, wordnet: WordNet) -> NDArray[np.bool_]:
    """Pairs of acts that are never one step, because one undoes the other (n×n)."""
    verbs = [(act.verb, act.particle) for act in table.acts]
    return _undo(verbs) | opposites([verb for verb, _ in verbs], wordnet)


def _undo(verbs: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
    """Which pairs of verbs undo each other by their classes (n×n)."""
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
    near, gap = np.clip(features["near lift"], -1.0, 2.0), features["gap"]
    same_noun, same_verb = features["same noun"], features["same verb"]
    telling, helper = features["telling"], features["helper"]
    class_, verb, noun = features["same class"], features["verb"], features["noun"]
    close = np.exp(-DECAY * gap)
    common = np.where(same_noun > 0, _outer(np.maximum, features.pop("noun share")), 0.0)
    return features | {
        "close": close,
        "verb × noun": verb * noun,
        "verb × telling": verb * telling,
        "class × same noun": class_ * same_noun,
        "class × telling": class_ * telling,
        "other class × same noun": features["other class"] * same_noun,
        "same noun, common": common,
        "same noun, near": same_noun * near,
        "other noun, near": (1 - same_noun) * near,
        "verb × near": verb * near,
        "near × gap": near * gap,
        "helper × same noun": helper * same_noun,
        "helper × near": helper * near,
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
    undo = _undo(verbs).astype(np.float64)
    synonyms = np.asarray(verb_similarity(verbs, wordnet), dtype=np.float64)
    usage = np.array([background_share(verb) for verb, _ in verbs])
    verb_vectors, noun_vectors = vectors_of([verb for verb, _ in verbs]), vectors_of(nouns)
    across = verb_vectors @ noun_vectors.T
    return {
        "verb cosine": verb_vectors @ verb_vectors.T,
        "noun cosine": noun_vectors @ noun_vectors.T,
        "phrase cosine": cosines(verb_vectors + noun_vectors),
        "verb–noun cosine": (across + across.T) / 2,
        "synonyms": synonyms,
        "same verb": (bare[:, None] == bare[None, :]).astype(np.float64),
        "same noun": (np.array(nouns)[:, None] == np.array(nouns)[None, :]).astype(np.float64),
        "noun": np.asarray(noun_similarity(nouns, wordnet), dtype=np.float64),
        "same particle": same_particle.astype(np.float64),
        "other particle": (has[:, None] & has[None, :] & ~same_particle).astype(np.float64),
        "one particle": (has[:, None] != has[None, :]).astype(np.float64),
        "same class": class_,
        "other class": (listed[:, None] & listed[None, :] & (class_ == 0)).astype(np.float64),
        "undo": undo,
        "verb": np.maximum(synonyms, CLASS_SIMILARITY * class_) * (1 - undo),
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
    times = _median_times(table)
    before = np.zeros_like(both)
    for video in range(len(table.durations)):
        acts = np.flatnonzero(present[:, video])
        before[np.ix_(acts, acts)] += times[acts, video][:, None] < times[acts, video][None, :]
    median = np.array([np.median(table.position[members]) for members in table.members])
    spread = np.array([spread_of(table.position[members]) for members in table.members])
    share = np.log(np.maximum(table.video_counts, 1.0) / n_videos)
    nouns = Counter(act.noun for act in table.acts)
    by_chance = np.outer(table.video_counts, table.video_counts) / n_videos
    return {
        "near lift": np.log((table.near + 0.5) / (table.near_by_chance + 0.5)),
        "near, of both": table.near / (both + 1.0),
        "near, of fewer": table.near / fewer,
        "together": np.log((both + 0.5) / (by_chance + 0.5)),
        "both": np.log1p(both),
        "company": cosines(neighbours),
        "gap": np.abs(median[:, None] - median[None, :]),
        "fixed order": np.abs(2 * (before + 1) / (both + 2) - 1),
        "narrower": _outer(np.minimum, spread),
        "wider": _outer(np.maximum, spread),
        "rarer": _outer(np.minimum, share),
        "commoner": _outer(np.maximum, share),
        "same spot": cosines(_place_counts(table, mentions)),
        "noun share": np.array([nouns[act.noun] / len(table.acts) for act in table.acts]),
    }


def _median_times(table: ActTable) -> Matrix:
    """The median time of each act in each video (acts × videos); NaN where it is not mentioned."""
    medians = np.full((len(table.acts), len(table.durations)), np.nan)
    for act, members in enumerate(table.members):
        # Members are ordered by video, so those of one video are contiguous.
        videos, first = np.unique(table.video[members], return_index=True)
        for video, times in zip(videos, np.split(table.time[members], first[1:]), strict=True):
            medians[act, video] = np.median(times)
    return medians


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
    odds: Mapping[str, Mapping[str, float]],
) -> dict[str, Matrix]:
    """The features of all acts by name, each with one value per act.

    Parameters
    ----------
    title
        The words of the title.
    odds
        Log-odds of work against talk, by verb and by noun.
    """
    n_videos = max(len(table.durations), 1)
    acts = table.acts
    mentions_of = [[mentions[i] for i in members] for members in table.members]
    positions = [table.position[members] for members in table.members]
    share = table.video_counts / n_videos
    usage = np.array([background_share(act.verb) for act in acts])
    repeats = np.array([len(row) for row in mentions_of]) / np.maximum(table.video_counts, 1.0)

    def mean(values: Sequence[Sequence[float]]) -> Matrix:
        return np.array([float(np.mean(row)) if len(row) else 0.0 for row in values])

    return {
        "share": np.log(np.maximum(share, 1 / n_videos)),
        "repeated": np.log(repeats),
        "spread": np.array([spread_of(values) for values in positions]),
        "place": mean([list(values) for values in positions]),
        "early": mean([list(values < 0.1) for values in positions]),
        "late": mean([list(values > 0.9) for values in positions]),
        "usual verb": np.log(usage + RARE_SHARE),
        "lift": np.log(np.maximum(share, 1 / n_videos) / (usage + RARE_SHARE)),
        "verb of the title": np.array([act.verb in title for act in acts], float),
        "noun of the title": np.array([act.noun in title for act in acts], float),
        "particle": np.array([act.particle != "" for act in acts], float),
        "helper": np.array([is_helper(act.verb, act.particle) for act in acts], float),
        "pronoun": mean([[m.resolved for m in row] for row in mentions_of]),
        "passive": mean([[m.passive for m in row] for row in mentions_of]),
        "modal": mean([[m.modal != "" for m in row] for row in mentions_of]),
        "at a place": mean([[bool(m.places) for m in row] for row in mentions_of]),
        "with a tool": mean([[bool(m.tools) for m in row] for row in mentions_of]),
        "no object": mean([[m.noun == "" for m in row] for row in mentions_of]),
        "work": mean([[m.work for m in row] for row in mentions_of]),
        "work of the verb": np.array([odds["verbs"].get(act.verb, 0.0) for act in acts]),
        "work of the noun": np.array([odds["nouns"].get(act.noun, 0.0) for act in acts]),
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
