"""Steps as segments of the video: the lag, the durations and what is learnt from them."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.recordings import Setting, recordings
from howsteps.localise import localise
from howsteps.localise.evidence import (
    DURATIONS,
    LAG,
    SegmentPrior,
    feature_changes,
    reading_middles,
    standardised,
)
from howsteps.task import Reading, Script

LENGTH, STEPS = 120, 3


def prior(*rows, **options):
    certain = [(*row, 1.0) if len(row) == 3 else row for row in rows]
    mentions = np.array(certain, np.float64).reshape(-1, 4)
    return SegmentPrior([mentions], [LENGTH], STEPS, 1.0, **options)


def drawn(lag, length=6.0, seed=0):
    """A collection whose narrators name a step ``lag`` seconds before it, give or take 1.5 s."""
    setting = Setting(lead=(lag - 2.6, lag + 2.6), length=length, noise=1.0)
    return recordings(setting, videos=6, seed=seed)


@pytest.mark.parametrize("lag", [0.0, 2.0, 5.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_lag_of_a_collection_is_found_within_a_second(lag, seed):
    one = drawn(lag, seed=seed)
    options = localise(one.task, one.script, one.features, seconds=1.0).model.options
    assert options.lag == pytest.approx(lag, abs=1.0)


def test_the_duration_of_the_steps_is_learnt():
    medians = [
        localise(one.task, one.script, one.features, seconds=1.0).model.options.duration
        for one in (drawn(2.0, length) for length in (3.0, 12.0))
    ]
    assert medians[0] < medians[1]


def test_without_mentions_nothing_is_learnt_about_them():
    nothing = prior()
    changes = [np.random.default_rng(0).normal(size=LENGTH)]
    assert {candidate.lag for _, candidate in nothing.lags(changes)} == {LAG}
    _, fitted = nothing.fit([np.zeros((LENGTH, STEPS))])
    assert (fitted.separation, fitted.duration) == (nothing.separation, nothing.duration)
    assert not nothing.log_odds(0).any()


def test_a_mention_says_when_its_step_is_being_done():
    said = prior((30.0, 32.0, 1.0), lag=4.0)
    odds = said.log_odds(0)
    assert odds[:, 1].argmax() == pytest.approx(36, abs=2)
    assert odds[[0, 10, 110], 1] == pytest.approx(0.0, abs=1e-3)
    assert not odds[:, [0, 2]].any()
    assert said.labels()[0].max() <= 1.0


def test_several_mentions_share_the_weight_of_one():
    one, two = prior((30.0, 32.0, 0.0)), prior((30.0, 32.0, 0.0), (70.0, 72.0, 0.0))
    assert two.labels()[0].sum() == pytest.approx(one.labels()[0].sum(), rel=0.01)
    assert two.log_odds(0).max() < one.log_odds(0).max()


def test_true_mentions_are_not_made_worse():
    """Where every mention is true, no fewer named steps are right than some seconds after it."""
    seen = after = 0
    for seed in range(4):
        one = recordings(Setting(lead=(0.0, 5.0), named=0.5), seed=seed)
        found = localise(one.task, one.script, one.features, seconds=1.0).localisations
        places = {(at.video, at.step): at.time for at in found}
        true = {(a.video, a.step): a for a in one.truth.annotations}
        for k, step in enumerate(one.script.steps):
            for m in step.mentions:
                a, at = true[m.video, k], places[m.video, k]
                seen += at is not None and a.start <= at <= a.end
                after += a.start <= m.start + LAG + 2.0 <= a.end
    assert seen >= after


def test_a_doubtful_mention_weighs_less():
    sure, doubtful = prior((30.0, 32.0, 0.0)), prior((30.0, 32.0, 0.0, 0.4))
    assert 0.0 < doubtful.log_odds(0).max() < sure.log_odds(0).max()
    assert doubtful.labels()[0].sum() == pytest.approx(0.4 * sure.labels()[0].sum())
    beside = prior((30.0, 32.0, 0.0), (70.0, 72.0, 0.0, 0.4)).log_odds(0)[:, 0]
    assert beside[31] > beside[71] > 0.0


def test_a_named_step_that_looks_like_nothing_stays_at_its_mention():
    said = prior((30.0, 32.0, 1.0), lag=2.0)
    doing, presence = said.located(0, np.zeros((LENGTH, STEPS)))
    assert doing[:, 1].argmax() == pytest.approx(34, abs=2)
    assert presence[1] > 0.8 > presence[0]


def test_the_scores_say_how_long_a_step_lasts():
    scores = np.full((LENGTH, STEPS), -0.3)
    scores[40:52, 1] = 2.5
    variances = 1.0 / np.array(DURATIONS)  # scores of different seconds are independent
    seen = prior((38.0, 39.0, 1.0), lag=2.0, separation=2.0, variances=variances)
    doing, _ = seen.located(0, scores)
    assert (doing[42:49, 1] > 0.8).all()
    assert (doing[[30, 36, 56, 60], 1] < 0.2).all()


@pytest.mark.parametrize(("span", "middle"), [(2.0, 1.0), (16.0, 8.0), (40.0, 30.0)])
def test_long_talk_ends_in_the_act(span, middle):
    assert reading_middles(np.array([[20.0, 20.0 + span, 1.0]])) == [20.0 + middle]


def test_a_long_reading_ends_in_the_act():
    few, many = (
        prior(readings=[np.array([[20.0, 20.0 + span, 1.0]])]).log_odds(0)[:, 1].argmax()
        for span in (2.0, 40.0)
    )
    assert few == pytest.approx(25, abs=3)
    assert many == pytest.approx(50, abs=4)


def test_readings_replace_the_mentions_of_a_video():
    one = drawn(2.0)
    silent = Script(tuple(replace(step, mentions=()) for step in one.script.steps))
    readings = [
        Reading(a.video, a.step, a.start, a.end, 0, 0)
        for a in one.truth.annotations
        if a.video != "v0"
    ]
    found = localise(
        one.task, silent, one.features, seconds=1.0, readings=readings, read_videos=["v1", "v2"]
    )
    assert any(at.time is not None for at in found.localisations if at.video == "v0")


def test_an_interval_longer_than_a_bell_has_all_of_its_mass() -> None:
    model = replace(prior((20.0, 21.0, 0.0)), seconds=10.0)
    assert model._bells(np.array([20.0]), np.array([1.0]), 6).max() == 1.0


def test_features_change_where_a_scene_begins():
    x = np.zeros((40, 2), np.float32)
    x[:25, 0], x[25:, 1] = 1.0, 1.0
    [change] = feature_changes([x], 1.0)
    assert change.argmax() == 25
    assert feature_changes([np.ones((5, 2), np.float32)], 1.0)[0].tolist() == [0.0] * 5


def test_scores_are_of_the_same_scale_in_every_video():
    rng = np.random.default_rng(0)
    weak, strong = (scale * rng.normal(size=(50, 2)) + 3.0 for scale in (0.1, 5.0))
    for scores in map(standardised, [weak, strong]):
        np.testing.assert_allclose(scores.mean(axis=0), 0.0, atol=1e-9)
        np.testing.assert_allclose(scores.std(axis=0), 1.0)
    assert not standardised(np.ones((4, 2))).any()


@pytest.mark.parametrize("length", [1, 2, 20])
def test_a_video_may_be_shorter_than_a_step(length):
    short = SegmentPrior([np.array([[0.0, 1.0, 0.0, 1.0]])], [length], 1, 1.0)
    scores = np.arange(float(length))[:, None]
    doing, presence = short.measure([scores]).located(0, scores)
    assert doing.shape == (length, 1)
    assert np.isfinite(doing).all()
    assert 0.0 < presence[0] < 1.0
