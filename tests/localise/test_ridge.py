import numpy as np
import pytest

from howsteps.localise import ridge
from howsteps.localise.ridge import LeaveOneOut

REGULARISATION = 0.05


def draw(lengths, width=5, steps=3, seed=0):
    rng = np.random.default_rng(seed)
    videos = tuple(rng.random((t, width)).astype(np.float32) for t in lengths)
    labels = [rng.random((t, steps)) * (rng.random((t, steps)) < 0.3) for t in lengths]
    return videos, labels


def scores_without(videos, labels, n):
    """Scores of one video by a classifier that is trained on the others only."""
    x = np.concatenate([v for m, v in enumerate(videos) if m != n]).astype(float)
    y = np.concatenate([z for m, z in enumerate(labels) if m != n])
    # The ridge is that of all videos, as in the closed form.
    penalty = REGULARISATION * sum(len(v) for v in videos)
    x_mean, y_mean = x.mean(axis=0), y.mean(axis=0)
    gram = (x - x_mean).T @ (x - x_mean) + penalty * np.eye(x.shape[1])
    weights = np.linalg.solve(gram, (x - x_mean).T @ (y - y_mean))
    return (videos[n] - x_mean) @ weights + y_mean


@pytest.mark.parametrize("width", [5, 60])
def test_scores_are_those_of_a_classifier_that_never_saw_the_video(width):
    videos, labels = draw([12, 9, 15], width)
    scores = LeaveOneOut(videos, REGULARISATION).scores(labels)
    for n in range(3):
        np.testing.assert_allclose(scores[n], scores_without(videos, labels, n), atol=1e-6)


def test_the_labels_of_a_video_do_not_affect_its_scores():
    videos, labels = draw([12, 9, 15])
    before = LeaveOneOut(videos, REGULARISATION).scores(labels)[1]
    labels[1] = 5.0 - labels[1]
    np.testing.assert_allclose(
        LeaveOneOut(videos, REGULARISATION).scores(labels)[1], before, atol=1e-6
    )


def test_only_the_labels_of_a_long_video_are_left_out(monkeypatch):
    monkeypatch.setattr(ridge, "LONGEST_EXACT", 10)
    videos, labels = draw([12, 9, 15])
    before = LeaveOneOut(videos, REGULARISATION).scores(labels)
    labels[0] = 5.0 - labels[0]
    after = LeaveOneOut(videos, REGULARISATION).scores(labels)
    np.testing.assert_allclose(after[0], before[0], atol=1e-6)
    assert np.abs(after[1] - before[1]).max() > 1e-3


def test_a_single_video_is_scored_by_its_own_classifier():
    videos, labels = draw([12])
    classifier = LeaveOneOut(videos, REGULARISATION)
    np.testing.assert_allclose(
        classifier.scores(labels)[0], classifier.weights(labels).scores(videos[0]), atol=1e-9
    )


def test_factors_that_are_not_kept_are_recomputed(monkeypatch):
    videos, labels = draw([12, 9, 15])
    kept = LeaveOneOut(videos, REGULARISATION).scores(labels)
    for memory in (0, 8 * 12 * 12, 8 * (12 * 12 + 9 * 9)):
        monkeypatch.setattr(ridge, "FACTOR_MEMORY", memory)
        for one, other in zip(
            LeaveOneOut(videos, REGULARISATION).scores(labels), kept, strict=True
        ):
            np.testing.assert_array_equal(one, other)
