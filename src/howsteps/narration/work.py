"""Classify acts as work (part of the job, done now) or talk.

Previews, recaps, conditions, warnings, aims, what others or things do, anecdotes and channel talk
are talk. A logistic regression on the cues of :mod:`howsteps.narration.cues` gives the log-odds of
work; these are then smoothed over acts that are close in time, since work and talk come in
stretches. ``training/work.py`` fits the weights.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

_TABLE = Path(__file__).with_name("work.json")
# Log-odds are clipped to ±_CLIP before smoothing, so that no single act dominates its neighbours.
_CLIP = 3.0


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the model: the log-odds of work that each cue adds.

    ``pull`` is the weight of the mean log-odds of neighbouring acts; ``reach`` is the time in
    seconds over which the influence of a neighbour falls to 1/e.
    """

    bias: float
    cues: Mapping[str, float]
    pull: float
    reach: float


@cache
def shipped() -> Weights:
    """Return the weights that ship with howsteps."""
    table = json.loads(_TABLE.read_text("utf-8"))
    return Weights(table["bias"], table["signs"], table["pull"], table["reach"])


def probabilities(
    cues: Sequence[set[str]], starts: Sequence[float], weights: Weights | None = None
) -> list[float]:
    """Return the probability of work of each act of a video.

    Parameters
    ----------
    cues
        The cues of every act.
    starts
        The start of every act in seconds, approximately sorted.
    weights
        By default those that ship.
    """
    if not cues:
        return []
    model = shipped() if weights is None else weights
    log_odds = np.array([model.bias + sum(model.cues.get(cue, 0.0) for cue in act) for act in cues])
    smoothed = log_odds + model.pull * neighbour_mean(
        log_odds, np.asarray(starts, dtype=float), model.reach
    )
    probability: list[float] = (1.0 / (1.0 + np.exp(-smoothed))).tolist()
    return probability


def neighbour_mean(
    log_odds: np.ndarray, starts: np.ndarray, reach: float, width: int = 12
) -> np.ndarray:
    """Return the mean log-odds of the neighbours of each act, weighted by exp(−|Δt|/reach).

    Only ``width`` acts on either side count, so that the cost is linear in the number of acts. The
    mean is shrunk towards zero by a pseudo-count of one half.
    """
    clipped = np.clip(log_odds, -_CLIP, _CLIP)
    total, weight = np.zeros(len(log_odds)), np.full(len(log_odds), 0.5)
    for shift in range(1, min(width, len(log_odds) - 1) + 1):
        closeness = np.exp(-np.abs(starts[shift:] - starts[:-shift]) / reach)
        total[shift:] += closeness * clipped[:-shift]
        total[:-shift] += closeness * clipped[shift:]
        weight[shift:] += closeness
        weight[:-shift] += closeness
    mean: np.ndarray = total / weight
    return mean
