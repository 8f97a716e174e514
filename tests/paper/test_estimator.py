"""The estimator agrees with ``cluster`` and ``ClusteringModel``."""

import numpy as np
import pytest

from howsteps.localise import LocaliseError
from howsteps.paper.clustering import ClusteringModel, StepLocaliser, cluster


def windows_around(videos, truth, radius=3):
    return [
        np.abs(np.arange(len(x))[:, None] - places) <= radius
        for x, places in zip(videos, truth, strict=True)
    ]


def test_fit_and_predict_are_cluster_and_model(task):
    videos, truth = task
    windows = windows_around(videos, truth)
    localiser = StepLocaliser(seed=3).fit(videos[:5], windows[:5])
    result = cluster(videos[:5], windows[:5], steps=3, seed=3)
    np.testing.assert_array_equal(localiser.clustering.intervals, result.intervals)
    np.testing.assert_array_equal(localiser.weights.matrix, result.weights.matrix)
    np.testing.assert_array_equal(localiser.scores[2], result.scores[2])
    model = ClusteringModel.learnt(result, ["a", "b", "c"])
    expected = model.localise(videos[5:])
    np.testing.assert_array_equal(localiser.predict(videos[5:]), expected.intervals)
    np.testing.assert_array_equal(localiser.locate(videos[5:]).confidence, expected.confidence)
    np.testing.assert_array_equal(localiser.predict(videos[5:]), truth[5:])


def test_fit_predict_returns_the_clustering(task):
    videos, truth = task
    found = StepLocaliser(3, restarts=3).fit_predict(videos)
    assert (found == truth).mean() >= 0.8


def test_a_fitted_model_has_the_names_of_the_steps_and_can_be_saved(task, tmp_path):
    videos, _ = task
    localiser = StepLocaliser(["jack up", "loosen", "lower"], mode="authors", iterations=20)
    localiser.fit(videos).model.save(tmp_path)
    again = ClusteringModel.load(tmp_path)
    assert (again.steps, again.options.mode) == (("jack up", "loosen", "lower"), "authors")
    found = again.localise(videos[:1]).intervals
    np.testing.assert_array_equal(found, localiser.predict(videos[:1]))


def test_fitting_again_replaces_the_first_fit(task):
    videos, _ = task
    localiser = StepLocaliser(3).fit(videos[:3])
    first = localiser.model
    assert localiser.fit(videos).model is not first


def test_lists_are_accepted(task):
    videos, truth = task
    windows = [window.tolist() for window in windows_around(videos, truth)]
    found = StepLocaliser().fit([x.tolist() for x in videos], windows).predict([videos[0].tolist()])
    assert found.shape == (1, 3)


@pytest.mark.parametrize("use", [lambda e: e.predict([np.ones((9, 4))]), lambda e: e.weights])
def test_using_an_unfitted_localiser_is_an_error(use):
    with pytest.raises(LocaliseError, match=r"not fitted: call fit"):
        use(StepLocaliser(3))


def test_an_unknown_number_of_steps_is_an_error(task):
    videos, _ = task
    with pytest.raises(LocaliseError, match="give steps or windows"):
        StepLocaliser().fit(videos)
    with pytest.raises(LocaliseError, match="a number or a list of names"):
        StepLocaliser("boil").fit(videos)
    with pytest.raises(LocaliseError, match="at least one step"):
        StepLocaliser(0).fit(videos)
