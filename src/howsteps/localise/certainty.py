"""How sure a place is: probabilities that were fitted over jobs with known truth.

Two logistic models for each kind of evidence (words; words and video; video alone): that the step
is in the video at all, and that its place is right. They weigh the *signs* of a step in a video:

=============  ===================================================================================
said here      log-odds of the mentions for the place
said           the highest log-odds of the mentions anywhere in the video
presence       log-odds of presence by all evidence and the order
peak           probability of the place within 2.5 s
score          score of the place by the classifier of the other videos
best score     the highest in the video
company        mean presence of the steps of the video: a video of another job has few
support        the share of the videos that name the step
=============  ===================================================================================

``certainty.json`` has the models; ``training/certainty.py`` fits them, and
``benchmarks/certainty.py`` shows how well they hold. A sign that is not known counts as its mean.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.localise.oracle import Floats, Mask

SIGNS = ("said here", "said", "presence", "peak", "score", "best score", "company", "support")
_FILE = Path(__file__).with_name("certainty.json")


@dataclass(frozen=True)
class Logistic:
    """A logistic model of signs: 1/(1 + exp(−b − Σ w·(sign − mean)/deviation))."""

    bias: float
    weights: Floats

    def probability(self, standard: Floats) -> Floats:
        """Of signs (…×S) in units of their spread."""
        found: Floats = 0.5 * (1.0 + np.tanh(0.5 * (self.bias + standard @ self.weights)))
        return found


@dataclass(frozen=True)
class Table:
    """What was fitted for one kind of evidence.

    ``mean`` and ``deviation`` are those of the signs; a step whose presence is below ``least`` is
    absent.
    """

    mean: Floats
    deviation: Floats
    presence: Logistic
    right: Logistic
    least: float

    @staticmethod
    def of(value: Mapping[str, Any]) -> "Table":
        """From the values in the file."""
        mean, deviation = np.array([value["signs"][sign] for sign in SIGNS]).T
        models = [
            Logistic(value[name]["bias"], np.array([value[name]["weights"][s] for s in SIGNS]))
            for name in ("presence", "right")
        ]
        return Table(mean, deviation, models[0], models[1], value["least"])

    def standard(self, signs: Floats) -> Floats:
        """Signs in units of their spread; an unknown one is as usual."""
        return np.nan_to_num((signs - self.mean) / self.deviation, nan=0.0)


class Certainty(NamedTuple):
    """N×K: probability of presence, of the place being right, and which steps are absent."""

    presence: Floats
    confidence: Floats
    absent: Mask


@cache
def tables() -> dict[str, Table]:
    """The models that come with howsteps, by kind of evidence."""
    raw = json.loads(_FILE.read_text("utf-8"))
    return {kind: Table.of(value) for kind, value in raw.items()}


def certainty_of(signs: Floats, kinds: tuple[str, str], narrated: NDArray[np.bool_]) -> Certainty:
    """How sure the places of some videos are.

    Parameters
    ----------
    signs
        N×K×S.
    kinds
        The kind of evidence in a video that names some step, and in one that names none.
    narrated
        N: which videos name some step.
    """
    presence, confidence = np.zeros(signs.shape[:2]), np.zeros(signs.shape[:2])
    absent = np.zeros(signs.shape[:2], np.bool_)
    for kind, own in zip(kinds, (narrated, ~narrated), strict=True):
        table = tables()[kind]
        standard = table.standard(signs[own])
        presence[own] = table.presence.probability(standard)
        # A place that is right is in a video that has the step.
        confidence[own] = np.minimum(table.right.probability(standard), presence[own])
        absent[own] = presence[own] < table.least
    return Certainty(presence, confidence, absent)
