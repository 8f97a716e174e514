"""Work or talk: is an act of the job, and done now.

Previews, recaps, conditions, warnings, aims, what others or things do, anecdotes and channel talk
are talk. A logistic regression over the signs of :mod:`howsteps.narration.signs` says how likely an
act is work; then acts that are said close together pull one another along, since talk comes in
stretches. ``training/work.py`` learns the weights.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

_TABLE = Path(__file__).with_name("work.json")
# Beyond this a single act says no more about its neighbours.
_CLIP = 3.0


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign adds to the log-odds of work.

    ``pull`` is how much the mean log-odds of its neighbours adds to an act; ``reach`` the seconds
    in which a neighbour's influence falls to 1/e.
    """

    bias: float
    signs: Mapping[str, float]
    pull: float
    reach: float


@cache
def shipped() -> Weights:
    """The weights that ship with howsteps."""
    table = json.loads(_TABLE.read_text("utf-8"))
    return Weights(table["bias"], table["signs"], table["pull"], table["reach"])


def probabilities(
    signs: Sequence[set[str]], starts: Sequence[float], weights: Weights | None = None
) -> list[float]:
    """How likely each act of a video is work.

    Parameters
    ----------
    signs
        The signs of every act.
    starts
        When every act begins, in seconds, never decreasing by much.
    weights
        The shipped ones unless others are given.
    """
    if not signs:
        return []
    chosen = shipped() if weights is None else weights
    known = chosen.signs
    own = np.array([chosen.bias + sum(known.get(sign, 0.0) for sign in each) for each in signs])
    odds = own + chosen.pull * neighbours(own, np.asarray(starts, dtype=float), chosen.reach)
    found: list[float] = (1.0 / (1.0 + np.exp(-odds))).tolist()
    return found


def neighbours(odds: np.ndarray, starts: np.ndarray, reach: float, width: int = 12) -> np.ndarray:
    """The mean log-odds of the acts around each act, weighted by exp(−|Δt|/reach).

    Only ``width`` acts on either side count, so that the work grows with the number of acts and
    not with its square. Half an act of even odds is added: a lone neighbour says little.
    """
    clipped = np.clip(odds, -_CLIP, _CLIP)
    total, weight = np.zeros(len(odds)), np.full(len(odds), 0.5)
    for step in range(1, min(width, len(odds) - 1) + 1):
        near = np.exp(-np.abs(starts[step:] - starts[:-step]) / reach)
        total[step:] += near * clipped[:-step]
        total[:-step] += near * clipped[step:]
        weight[step:] += near
        weight[:-step] += near
    mean: np.ndarray = total / weight
    return mean
