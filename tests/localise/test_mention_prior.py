"""Lag and reliability of mentions are learnt from scores, and keep their priors without any."""

import numpy as np
import pytest

from howsteps.localise.mention_prior import LAG_MEAN, RELIABILITY, LagPrior, WindowPrior

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
