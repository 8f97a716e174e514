"""Windows of mentions, readings, usual positions, lazy sequences."""

import numpy as np
import pytest

from howsteps.localise.word_evidence import (
    LazySequence,
    ReadPrior,
    WindowPrior,
    position_prior,
)

LENGTH, STEPS = 120, 3


def test_a_window_is_flat():
    window = np.zeros((20, 1), bool)
    window[5:15] = True
    prior = WindowPrior([window], 4.0, 1.0)
    assert prior.log_odds()[0][window].tolist() == [4.0] * 10
    assert prior.labels()[0].sum() == pytest.approx(4.0)


def mentions(*rows):
    return np.array(rows, np.float64).reshape(-1, 4)


@pytest.mark.parametrize(("span", "middle"), [(2.0, 1.0), (16.0, 8.0), (40.0, 30.0)])
def test_long_talk_ends_in_the_act(span, middle):
    mentions = WindowPrior([np.zeros((LENGTH, STEPS))] * 2, 4.0, 1.0)
    rows = np.array([[20.0, 20.0 + span, 1.0]])
    prior = ReadPrior(mentions, [rows, None], [LENGTH] * 2, STEPS, 1.0, (3.0, 0.25))
    odds = prior.log_odds()[0]
    assert odds[:, 1].argmax() + 0.5 == pytest.approx(20.0 + middle, abs=0.5)
    assert not odds[:, [0, 2]].any()
    assert prior.labels()[0].max() == pytest.approx(1.0, abs=0.15)
    assert not prior.log_odds()[1].any()  # it was not read, and nothing is said


def test_a_step_is_expected_where_the_others_name_it():
    early = [mentions((10.0, 12.0, 0, 1.0), (80.0, 82.0, 1, 1.0)) for _ in range(9)]
    last = position_prior([*early, mentions()], [100] * 10, 2, 1.0)[-1]
    assert last.shape == (100, 2)
    assert abs(int(last[:, 0].argmax()) - 11) <= 1
    assert abs(int(last[:, 1].argmax()) - 81) <= 1
    assert last[11, 0] > 0 > last[81, 0]


def test_the_mentions_of_the_video_itself_do_not_count():
    rows = [mentions((10.0, 12.0, 0, 1.0)), mentions((80.0, 82.0, 0, 1.0))]
    first, second = position_prior(rows, [100, 100], 1, 1.0)
    assert first[81, 0] > first[11, 0]
    assert second[11, 0] > second[81, 0]


def test_the_prior_is_uniform_for_a_step_that_nobody_names():
    for log_density in position_prior([mentions(), mentions((1.0, 2.0, 0, 0.0))], [30, 7], 2, 0.5):
        np.testing.assert_allclose(log_density, 0.0)


def test_repeated_mentions_in_one_video_count_once():
    often = mentions(*[(10.0, 12.0, 0, 1.0)] * 5)
    once = mentions((10.0, 12.0, 0, 1.0))
    a = position_prior([often, mentions()], [50, 50], 1, 1.0)[1]
    b = position_prior([once, mentions()], [50, 50], 1, 1.0)[1]
    np.testing.assert_allclose(a, b)


def test_values_are_computed_on_every_access():
    calls = []
    squares = LazySequence(lambda n: calls.append(n) or n * n, 4)
    assert len(squares) == 4
    assert list(squares) == [0, 1, 4, 9]
    assert (squares[-1], squares[1:3]) == (9, [1, 4])
    assert calls == [0, 1, 2, 3, 3, 1, 2]


@pytest.mark.parametrize("index", [4, -5])
def test_an_index_out_of_range_is_refused(index):
    with pytest.raises(IndexError):
        LazySequence(lambda n: n, 4)[index]
