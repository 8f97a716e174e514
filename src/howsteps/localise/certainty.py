"""Calibrated probabilities that a step is in a video, and that it is placed correctly.

There are two logistic models for each kind of evidence (words; words and video; video alone; what a
language model read; the same and video): one of presence, one of a correct place. They were fitted
on tasks with ground truth. Their inputs are the *cues* of a step in a video:

=============  ===================================================================================
said here      log-odds of the mentions (of the readings, in a video that was read) at the place
said           highest such log-odds anywhere in the video
presence       log-odds of presence, given all evidence and the order
peak           probability that the step is being done at the place
best score     highest score in the video, by the classifier of the other videos
support        share of the videos that name the step (of those that were read, in one of them)
=============  ===================================================================================

``certainty.json`` has the models; ``training/certainty.py`` fits them, and
``benchmarks/certainty.py`` measures their calibration. An unknown cue (NaN) is replaced by its
mean.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from howsteps.localise.features import Floats, Mask

CUES = ("said here", "said", "presence", "peak", "best score", "support")
_FILE = Path(__file__).with_name("certainty.json")


@dataclass(frozen=True)
class Logistic:
    """A logistic model of standardised cues: p = 1/(1 + exp(−bias − x·weights))."""

    bias: float
    weights: Floats

    def probability(self, standardised: Floats) -> Floats:
        """Return the probability for each row of standardised cues (…×S)."""
        # The same as 1/(1 + exp(−z)), without overflow.
        probability: Floats = 0.5 * (1.0 + np.tanh(0.5 * (self.bias + standardised @ self.weights)))
        return probability


@dataclass(frozen=True)
class CertaintyModel:
    """The models of one kind of evidence.

    Attributes
    ----------
    mean, deviation
        S: mean and standard deviation of each cue in the training data.
    presence
        Model of the step being in the video.
    correct
        Model of its place being correct.
    threshold
        A step with a lower probability of presence is absent.
    """

    mean: Floats
    deviation: Floats
    presence: Logistic
    correct: Logistic
    threshold: float

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> "CertaintyModel":
        """Build the models from one entry of ``certainty.json``."""
        mean, deviation = np.array([value["cues"][cue] for cue in CUES]).T
        presence, correct = (
            Logistic(value[name]["bias"], np.array([value[name]["weights"][cue] for cue in CUES]))
            for name in ("presence", "correct")
        )
        return CertaintyModel(mean, deviation, presence, correct, value["threshold"])

    def standardise(self, cues: Floats) -> Floats:
        """Return (cue − mean)/deviation; an unknown cue becomes 0, its mean."""
        return np.nan_to_num((cues - self.mean) / self.deviation, nan=0.0)


class Certainty(NamedTuple):
    """N×K: probability of presence, probability of a correct place, and which steps are absent."""

    presence: Floats
    confidence: Floats
    absent: Mask


@cache
def certainty_models() -> dict[str, CertaintyModel]:
    """Return the shipped models by kind of evidence."""
    raw = json.loads(_FILE.read_text("utf-8"))
    return {kind: CertaintyModel.from_json(value) for kind, value in raw.items()}


def estimate_certainty(cues: Floats, kinds: Sequence[str]) -> Certainty:
    """Estimate presence and confidence of every step in every video.

    Parameters
    ----------
    cues
        N×K×S, in the order of :data:`CUES`; NaN where unknown.
    kinds
        N: the kind of evidence in each video, a key of :func:`certainty_models`.
    """
    presence, confidence = np.zeros(cues.shape[:2]), np.zeros(cues.shape[:2])
    absent = np.zeros(cues.shape[:2], np.bool_)
    for n, kind in enumerate(kinds):
        model = certainty_models()[kind]
        standardised = model.standardise(cues[n])
        presence[n] = model.presence.probability(standardised)
        # A correct place implies that the step is in the video.
        confidence[n] = np.minimum(model.correct.probability(standardised), presence[n])
        absent[n] = presence[n] < model.threshold
    return Certainty(presence, confidence, absent)
