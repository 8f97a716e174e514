"""Certainty: probabilities, from the tables that come with the package."""

import numpy as np
import pytest

from howsteps.localise.certainty import SIGNS, certainty_of, tables

KINDS = ("words", "words and video", "video")


def signs(**values):
    """One step in one video; signs that are not given are not known."""
    row = np.full((1, 1, len(SIGNS)), np.nan)
    for name, value in values.items():
        row[0, 0, SIGNS.index(name.replace("_", " "))] = value
    return row


def sure(kind, **values):
    return certainty_of(signs(**values), (kind, kind), np.array([True]))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_evidence_has_a_table(kind):
    table = tables()[kind]
    assert (table.deviation > 0).all()
    assert 0.0 <= table.least <= 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_signs_that_are_not_known_are_as_usual(kind):
    known = dict(zip((name.replace(" ", "_") for name in SIGNS), tables()[kind].mean, strict=True))
    assert sure(kind).confidence == pytest.approx(sure(kind, **known).confidence)


@pytest.mark.parametrize("kind", KINDS)
def test_more_evidence_makes_a_place_surer(kind):
    weak, strong = sure(kind, presence=-3.0, peak=0.1), sure(kind, presence=5.0, peak=0.9)
    assert weak.confidence < strong.confidence
    assert weak.presence < strong.presence


def test_a_place_is_no_surer_than_that_the_step_is_there():
    rng = np.random.default_rng(0)
    found = certainty_of(4 * rng.normal(size=(50, 6, len(SIGNS))), KINDS[:2], rng.random(50) < 0.5)
    assert (found.confidence <= found.presence).all()
    assert (found.confidence >= 0).all()
    assert (found.presence <= 1).all()


def test_said_here_is_surer_than_said_nowhere():
    job = {"company": 0.4, "support": 0.1}
    here = sure(
        "words", said_here=4.0, said=4.0, presence=5.0, peak=0.95, score=8.0, best_score=8.0, **job
    )
    nowhere = sure(
        "words", said_here=0.0, said=0.0, presence=-3.0, peak=0.2, score=1.0, best_score=1.0, **job
    )
    assert here.confidence[0, 0] > 0.4 > nowhere.confidence[0, 0]
    assert nowhere.absent[0, 0]
    assert not here.absent[0, 0]


def test_equal_signs_have_equal_certainty():
    twice = np.repeat(signs(peak=0.4, score=1.0), 2, axis=1)
    found = certainty_of(twice, KINDS[:2], np.array([True]))
    assert found.confidence[0, 0] == found.confidence[0, 1]
