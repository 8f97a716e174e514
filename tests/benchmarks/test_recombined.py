"""Recordings that are pieced together from others."""

import numpy as np
import pytest

from benchmarks.recombined import IDLE, LASTS, PEOPLE, SECONDS, STEPS, Job, judge, recombined
from howsteps.task import Annotation, Localisation, Script, Step, Truth


def footage(people=6, kinds=6, seconds=8):
    """Every step is a feature of its own."""
    rows = np.repeat(np.eye(kinds, dtype=np.float32), round(seconds / SECONDS), axis=0)
    features = {f"p{n}": rows for n in range(people)}
    annotations = tuple(
        Annotation(video, k, float(seconds * k), float(seconds * (k + 1)))
        for video in features
        for k in range(kinds)
    )
    names = tuple(f"do {k}" for k in range(kinds))
    return Job(features, Truth("job", names, annotations, dict.fromkeys(features)), SECONDS, [])


def test_steps_are_where_the_truth_says():
    job = recombined(footage(), 0, clutter=0.0)
    assert len(job.features) == PEOPLE
    assert STEPS[0] <= len(job.truth.steps) <= STEPS[1]
    looks = {}
    for a in job.truth.annotations:
        assert LASTS[0] - SECONDS <= a.end - a.start <= LASTS[1] + SECONDS
        look = job.features[a.video][round(a.start / SECONDS)]
        np.testing.assert_allclose(look, looks.setdefault(a.step, look))
    doing = sum(a.end - a.start for a in job.truth.annotations)
    assert 1 - doing / sum(job.truth.durations.values()) == pytest.approx(IDLE, abs=0.15)


def test_a_draw_is_the_same_every_time():
    one, again, other = (recombined(footage(), seed) for seed in (1, 1, 2))
    assert one.truth == again.truth != other.truth
    assert one.narrations == again.narrations
    for video, rows in one.features.items():
        np.testing.assert_array_equal(rows, again.features[video])


def test_figures_are_shares_of_the_pairs_that_they_name():
    truth = Truth("t", ("a", "b"), (Annotation("v", 0, 1.0, 2.0),), {"v": 9.0})
    found = [Localisation("v", 0, 1.5, confidence=0.9), Localisation("v", 1, None)]
    script = Script((Step("a", ()), Step("b", ())))
    f1, named, short, unnamed, absent, kept, high = judge(found, script, truth)
    assert (f1, unnamed, absent, kept, high) == ((2.0, 2), (1, 1), (1, 1), (1, 1), (1, 1))
    assert named == short == (0, 0)
