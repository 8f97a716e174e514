from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from howsteps.errors import HowstepsError
from howsteps.localise.order import cheapest_placement
from howsteps.paper.clustering_problem import ClusteringCost
from howsteps.paper.windows import (
    authors_mention_windows,
    mention_windows,
    relax,
    step_windows,
)
from tests.localise import naive
from tests.localise.test_features import DENSE, SPARSE, videos_of

FRAME_RATES = [30, 25, 25, 30]  # of the four golden videos


@pytest.mark.parametrize(
    ("times", "length", "seconds", "options", "inside"),
    [
        ((5.0, 7.0), 30, 1.0, {}, range(5, 18)),  # ten seconds after the mention
        ((5.0, 5.0), 100, 1 / 3, {"before": 1.0, "after": 2.0}, range(12, 22)),  # in seconds too
        ((50.0, 51.0), 30, 1.0, {}, ()),  # after the end of the video
    ],
)
def test_the_window_of_a_mention(times, length, seconds, options, inside):
    window = mention_windows(np.array([times]), length, seconds, **options)
    assert np.flatnonzero(window[0]).tolist() == list(inside)


@pytest.mark.parametrize("windows_of", [mention_windows, authors_mention_windows])
@pytest.mark.parametrize("times", [[2.0, 1.0], [np.nan, 1.0]])
def test_a_mention_that_ends_before_it_starts_is_refused(windows_of, times):
    with pytest.raises(HowstepsError, match="mention 1 ends at 1 s, before it starts"):
        windows_of([[1.0, 1.0], times], 30, 1.0)


def test_windows_of_the_authors_program(golden):
    narration = golden["narration"]
    for before, after in [(0, 0), (0, 3), (0, 30), (2, 0), (2, 3), (2, 30)]:
        expected = narration[f"allowed_db{before}_da{after}"]
        for times, allowed, rate in zip(narration["times"], expected, FRAME_RATES, strict=True):
            inside = authors_mention_windows(
                np.array(times, float), len(allowed[0]), 10 / rate, before=before, after=after
            )
            np.testing.assert_array_equal(inside, allowed)


def test_windows_of_a_step_are_combined():
    inside = np.array([[0, 1, 1, 0, 0, 0], [0, 0, 1, 0, 1, 0], [1, 0, 0, 0, 0, 0]], bool)
    assignment = [np.array([0, 0, -1])]

    [window], support = step_windows([inside], assignment, 2)
    assert window[:, 0].astype(int).tolist() == [0, 1, 1, 0, 1, 0]
    assert window[:, 1].all()  # not mentioned: anywhere
    np.testing.assert_array_equal(support, [[2, 0]])


def test_contradicting_windows_with_the_least_support_are_relaxed():
    window = np.ones((6, 3), bool)
    window[:, 0] = [0, 0, 0, 1, 0, 0]
    window[:, 2] = [0, 1, 0, 0, 0, 0]
    opened, relaxed = relax([window, np.ones((6, 3), bool)], np.array([[3, 0, 1], [0, 0, 0]]))
    assert relaxed == ((0, 2),)
    assert opened[0][:, 2].all()
    np.testing.assert_array_equal(opened[0][:, 0], window[:, 0])
    assert not window[:, 2].all()  # the input is not modified


def test_an_empty_window_is_relaxed_and_reported():
    window = np.ones((4, 2), bool)
    window[:, 1] = False
    opened, relaxed = relax([window])
    assert opened[0].all()
    assert relaxed == ((0, 1),)


def test_too_short_a_video_is_named():
    with pytest.raises(HowstepsError, match="video 1 has 2 intervals"):
        relax([np.ones((4, 3), bool), np.ones((2, 3), bool)])


@given(
    hnp.arrays(np.bool_, st.tuples(st.integers(4, 6), st.integers(1, 4))),
    st.lists(st.integers(1, 5), min_size=4, max_size=4),
)
def test_no_set_of_windows_with_less_support_could_be_relaxed(window, weights):
    weight = np.array(weights[: window.shape[1]])
    opened, relaxed = relax([window], weight[None])
    free = np.zeros(window.shape)
    assert cheapest_placement(free, opened[0]) is not None

    def feasible(steps):
        trial = window.copy()
        trial[:, list(steps)] = True
        return cheapest_placement(free, trial) is not None

    everything = range(window.shape[1])
    least = min(
        weight[list(steps)].sum()
        for size in range(window.shape[1] + 1)
        for steps in combinations(everything, size)
        if feasible(steps)
    )
    assert sum(weight[step] for _, step in relaxed) == least


@pytest.mark.parametrize("bias", [0.0, 0.01])
@pytest.mark.parametrize("filled", [DENSE, SPARSE])
@pytest.mark.parametrize("width", [7, 60])  # fewer and more features than intervals
def test_the_cost_agrees_with_the_full_matrix(width, filled, bias):
    videos = videos_of(width, filled)
    cost = ClusteringCost(videos, 0.05, bias)
    b = naive.cost_matrix(np.vstack(videos), 0.05, bias)
    z = np.random.default_rng(0).random((50, 3))
    assert cost.objective(z) == pytest.approx(naive.objective(b, z), rel=1e-9)
    np.testing.assert_allclose(50 * cost.gradient(z), b @ z, atol=1e-10)
    np.testing.assert_allclose(cost.diagonal, np.diag(b), atol=1e-10)
    second = slice(13, 30)
    np.testing.assert_allclose(np.eye(17) - cost.hat(1), b[second, second], atol=1e-10)


@pytest.mark.parametrize("filled", [DENSE, SPARSE])
def test_weights_minimise_the_regularised_loss(filled):
    videos = videos_of(7, filled)
    x = np.vstack(videos).astype(float)
    z = np.random.default_rng(0).random((50, 2))
    w = ClusteringCost(videos, 0.05, 0.01).weights(z)

    def loss(matrix, bias):
        residual = z - x @ matrix - bias
        return (residual**2).sum() / 100 + 0.025 * ((matrix**2).sum() + 0.01 * (bias**2).sum())

    best = loss(w.matrix, w.bias)
    assert best == pytest.approx(ClusteringCost(videos, 0.05, 0.01).objective(z), rel=1e-9)
    rng = np.random.default_rng(1)
    for _ in range(10):
        nearby = w.matrix + 0.01 * rng.normal(size=w.matrix.shape), w.bias + 0.01 * rng.normal()
        assert loss(*nearby) > best
