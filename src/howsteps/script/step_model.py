"""Two small logistic models, learnt over jobs: of two acts being one step, of an act being a step.

The signs are those of :mod:`.act_features`; ``training/step_model.py`` learns the weights. The file
holds the weight of each sign by name, and words with their log-odds of work against talk.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from howsteps.script.act_features import act_features, pair_features
from howsteps.script.act_table import ActTable, Matrix
from howsteps.script.stop_relations import title_words
from howsteps.task import Mention
from howsteps.wordnet import WordNet

_FILE = Path(__file__).with_name("step_model.json")


@dataclass(frozen=True)
class StepModel:
    """Weights of signs, and words that speak of work."""

    pair_weights: Mapping[str, float]
    pair_bias: float
    act_weights: Mapping[str, float]
    act_bias: float
    odds: Mapping[str, Mapping[str, float]]

    def same_step(self, table: ActTable, mentions: Sequence[Mention], wordnet: WordNet) -> Matrix:
        """How probable it is that two acts are one step (n×n, symmetric, 1 on the diagonal)."""
        signs = pair_features(table, mentions, wordnet)
        found = logistic(_weighted(signs, self.pair_weights) + self.pair_bias)
        np.fill_diagonal(found, 1.0)
        return (found + found.T) / 2

    def is_step(self, table: ActTable, mentions: Sequence[Mention], title: str) -> Matrix:
        """How probable it is that each act is of a step of the job."""
        signs = act_features(table, mentions, title_words(title), self.odds)
        return logistic(_weighted(signs, self.act_weights) + self.act_bias)


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


def _weighted(signs: Mapping[str, Matrix], weights: Mapping[str, float]) -> Matrix:
    total = np.zeros_like(next(iter(signs.values())), dtype=np.float64)
    for name, weight in weights.items():
        total += weight * signs[name]
    return total
