"""Confidence intervals over videos and over seeds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.evaluate.inputs import bootstrap_interval, t_interval


def test_a_constant_score_has_an_interval_of_width_zero():
    assert bootstrap_interval(lambda videos: 0.4, 7) == (0.4, 0.4)


def test_the_bootstrap_of_a_mean_is_as_wide_as_theory_says():
    values = np.random.default_rng(1).normal(size=400)
    low, high = bootstrap_interval(lambda videos: values[videos].mean(), 400, resamples=2000)
    assert low == pytest.approx(values.mean() - 1.96 * values.std() / 20, abs=0.01)
    assert high == pytest.approx(values.mean() + 1.96 * values.std() / 20, abs=0.01)


def test_every_sample_has_as_many_videos_as_there_are():
    drawn = []
    bootstrap_interval(lambda videos: drawn.append(videos) or 0.0, 5, resamples=20)
    assert {len(videos) for videos in drawn} == {5}
    assert any(len(set(videos)) < 5 for videos in drawn)
    assert {int(n) for videos in drawn for n in videos} == set(range(5))


def test_the_same_seed_gives_the_same_interval():
    values = np.arange(9.0)
    first, again = (
        bootstrap_interval(lambda videos: values[videos].mean(), 9, seed=4) for _ in range(2)
    )
    assert first == again
    assert first != bootstrap_interval(lambda videos: values[videos].mean(), 9, seed=5)


def test_students_interval_by_hand():
    # 1, 2, 3: mean 2, s = 1, t = 4.303 with two degrees of freedom, √3 = 1.732.
    low, high = t_interval([1, 2, 3])
    assert (low, high) == (pytest.approx(2 - 2.484, abs=1e-3), pytest.approx(2 + 2.484, abs=1e-3))


def test_a_single_value_has_no_t_interval():
    assert t_interval([0.3]) is None


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_the_mean_lies_inside(values):
    low, high = t_interval(values)
    assert low - 1e-9 <= np.mean(values) <= high + 1e-9
