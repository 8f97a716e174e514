"""Mentions: lag and reliability, learnt from scores; usual positions; lazy sequences."""

import numpy as np
import pytest

from howsteps.localise.word_evidence import (
    LAG_MEAN,
    RELIABILITY,
    LagPrior,
    LazySequence,
    ReadPrior,
    WindowPrior,
    position_prior,
)

LENGTH, STEPS, VIDEOS = 120, 3, 6


def collection(lag, wrong=0.0, together=False, seed=0):
    """Mentions ``lag`` seconds before steps of eight seconds, and scores that peak at the steps."""
    rng = np.random.default_rng(seed)
    mentions, scores = [], []
    for _ in range(VIDEOS):
        starts = np.array([40, 48, 56]) if together else np.array([20, 55, 90])
        starts = starts + rng.integers(-3, 4)
        score = 0.5 * rng.normal(size=(LENGTH, STEPS))
        rows = []
        for k, start in enumerate(starts):
            score[start : start + 8, k] += 5.0
            at = rng.uniform(0, LENGTH - 2) if rng.random() < wrong else start - lag
            rows.append((at, at + 2.0, float(k)))
        mentions.append(np.array(sorted(rows)))
        scores.append(score)
    return LagPrior(mentions, [LENGTH] * VIDEOS, STEPS, 1.0), scores


@pytest.mark.parametrize("together", [False, True])
def test_the_lag_of_a_collection_is_learnt(together):
    lags = [
        prior.fit(scores).lag
        for prior, scores in (collection(lag, together=together) for lag in (-1.0, 1.0, 3.0))
    ]
    assert lags == sorted(lags)
    assert lags[2] - lags[0] >= 2.5  # also when steps are close together
    for true_lag, lag in zip((-1.0, 1.0, 3.0), lags, strict=True):
        assert true_lag <= lag <= true_lag + 8  # inside the step


def test_mentions_that_are_often_wrong_are_trusted_less():
    right, wrong = (
        prior.fit(scores).reliability
        for prior, scores in (collection(1.0), collection(1.0, wrong=0.6))
    )
    assert right > RELIABILITY > wrong


def test_lag_and_reliability_keep_their_priors_when_scores_are_flat():
    prior, scores = collection(3.0)
    same = prior.fit([np.zeros_like(score) for score in scores])
    assert same.lag == LAG_MEAN
    assert same.reliability == pytest.approx(RELIABILITY, abs=0.02)


def test_lag_and_reliability_keep_their_priors_without_mentions():
    prior = LagPrior([np.empty((0, 3))], [50], STEPS, 1.0)
    assert prior.fit([np.zeros((50, STEPS))]) == prior
    assert not prior.log_odds()[0].any()


def test_the_log_odds_peak_after_the_mention_and_vanish_far_from_it():
    prior = LagPrior([np.array([[30.0, 32.0, 1.0]])], [140], STEPS, 0.5, lag=4.0)
    [odds] = prior.log_odds()
    assert (odds[:, 1].argmax() + 0.5) * 0.5 == pytest.approx(34.0, abs=0.5)
    assert odds[[0, 20, 139], 1] == pytest.approx(0.0, abs=1e-3)
    assert not odds[:, [0, 2]].any()


def test_several_mentions_share_the_weight_of_one():
    one = LagPrior([np.array([[30.0, 32.0, 0.0]])], [100], 1, 1.0)
    two = LagPrior([np.array([[30.0, 32.0, 0.0], [70.0, 72.0, 0.0]])], [100], 1, 1.0)
    assert one.labels()[0].sum() == pytest.approx(4.0, abs=0.1)
    assert two.labels()[0].sum() == pytest.approx(4.0, abs=0.1)
    assert two.log_odds()[0].max() < one.log_odds()[0].max()


def test_a_window_is_flat():
    window = np.zeros((20, 1), bool)
    window[5:15] = True
    prior = WindowPrior([window], 4.0, 1.0)
    assert prior.log_odds()[0][window].tolist() == [4.0] * 10
    assert prior.labels()[0].sum() == pytest.approx(4.0)
    assert prior.fit([np.zeros((20, 1))]) is prior


def mentions(*rows):
    return np.array(rows, np.float64).reshape(-1, 4)


@pytest.mark.parametrize(("span", "middle"), [(2.0, 4.0), (16.0, 8.0), (40.0, 30.0)])
def test_few_words_come_before_the_act_and_long_talk_ends_in_it(span, middle):
    mentions = LagPrior([np.empty((0, 3))] * 2, [LENGTH] * 2, STEPS, 1.0)
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
