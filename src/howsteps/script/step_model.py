"""The step model: two logistic regressions, trained across tasks.

One gives the probability that two acts are the same step, the other that an act is a step at all.
Their inputs are the cues of :mod:`.act_cues`; ``training/step_model.py`` learns the weights.
``step_model.json`` holds the weight of each cue by name, and words with their log-odds of work
against talk.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from howsteps.narration.wordnet import WordNet
from howsteps.script.act_cues import act_cues, pair_cues
from howsteps.script.act_table import ActTable, Matrix
from howsteps.script.stop_relations import title_words
from howsteps.task import Mention

_FILE = Path(__file__).with_name("step_model.json")


@dataclass(frozen=True)
class StepModel:
    """Weights of the cues, and log-odds of work against talk by verb and by noun."""

    pair_weights: Mapping[str, float]
    pair_bias: float
    act_weights: Mapping[str, float]
    act_bias: float
    odds: Mapping[str, Mapping[str, float]]

    def same_step(self, table: ActTable, mentions: Sequence[Mention], wordnet: WordNet) -> Matrix:
        """Probability that two acts are the same step (n×n, symmetric, 1 on the diagonal)."""
        cues = pair_cues(table, mentions, wordnet)
        probability = logistic(_weighted_sum(cues, self.pair_weights) + self.pair_bias)
        np.fill_diagonal(probability, 1.0)
        return (probability + probability.T) / 2

    def is_step(self, table: ActTable, mentions: Sequence[Mention], title: str) -> Matrix:
        """Probability that each act belongs to a step of the task."""
        cues = act_cues(table, mentions, title_words(title), self.odds)
        return logistic(_weighted_sum(cues, self.act_weights) + self.act_bias)


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


def _weighted_sum(cues: Mapping[str, Matrix], weights: Mapping[str, float]) -> Matrix:
    total = np.zeros_like(next(iter(cues.values())), dtype=np.float64)
    for name, weight in weights.items():
        total += weight * cues[name]
    return total
