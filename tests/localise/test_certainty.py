"""Certainty by the shipped models."""

import numpy as np
import pytest

from howsteps.localise.certainty import CUES, certainty_models, estimate_certainty
from howsteps.task import BY_HAND, EVIDENCE, Localisation

KINDS = ("words", "words and video", "video", "read", "read and video")


def cues(**values):
    """Cues of one step in one video; those that are not given are unknown."""
    row = np.full((1, 1, len(CUES)), np.nan)
    for name, value in values.items():
        row[0, 0, CUES.index(name.replace("_", " "))] = value
    return row


def certainty(kind, **values):
    return estimate_certainty(cues(**values), [kind])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_evidence_has_a_model(kind):
    model = certainty_models()[kind]
    assert (model.deviation > 0).all()
    assert 0.0 <= model.threshold <= 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_cue_counts_as_its_mean(kind):
    names = (name.replace(" ", "_") for name in CUES)
    means = dict(zip(names, certainty_models()[kind].mean, strict=True))
    assert certainty(kind).confidence == pytest.approx(certainty(kind, **means).confidence)


@pytest.mark.parametrize("kind", KINDS)
def test_more_evidence_raises_the_confidence(kind):
    weak = certainty(kind, presence=-3.0, peak=0.1)
    strong = certainty(kind, presence=5.0, peak=0.9)
    assert weak.confidence < strong.confidence
    assert weak.presence < strong.presence


def test_the_confidence_is_at_most_the_presence():
    rng = np.random.default_rng(0)
    values = 4 * rng.normal(size=(50, 6, len(CUES)))
    estimate = estimate_certainty(values, rng.choice(KINDS, 50).tolist())
    assert (estimate.confidence <= estimate.presence).all()
    assert (estimate.confidence >= 0).all()
    assert (estimate.presence <= 1).all()


def test_said_here_is_more_certain_than_said_nowhere():
    said = {"said_here": 4.0, "said": 4.0, "presence": 5.0, "peak": 0.95, "best_score": 8.0}
    here = certainty("words", **said, support=0.1)
    unsaid = {"said_here": 0.0, "said": 0.0, "presence": -3.0, "peak": 0.2, "best_score": 1.0}
    nowhere = certainty("words", **unsaid, support=0.1)
    assert here.confidence[0, 0] > 0.4 > nowhere.confidence[0, 0]
    assert nowhere.absent[0, 0]
    assert not here.absent[0, 0]


def test_equal_cues_have_equal_certainty():
    twice = np.repeat(cues(peak=0.4, best_score=1.0), 2, axis=1)
    estimate = estimate_certainty(twice, ["read"])
    assert estimate.confidence[0, 0] == estimate.confidence[0, 1]


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_only_a_kind_of_evidence_that_earned_it_is_sure(evidence):
    """However high the number: where a model read the captions, .48 are right on some jobs."""
    levels = [Localisation("v", 0, 1.0, 0.0, 2.0, p, evidence).level for p in (0.99, 0.4, 0.39)]
    assert levels == (["sure"] * 3 if evidence == BY_HAND else ["likely", "likely", "guess"])
