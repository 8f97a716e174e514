import numpy as np
import pytest

from howsteps.localise import leave_one_out
from howsteps.localise.leave_one_out import LeaveOneOut, Standard

REGULARISATION = 0.05


def draw(lengths, width=5, steps=3, seed=0):
    rng = np.random.default_rng(seed)
    videos = tuple(rng.random((t, width)).astype(np.float32) for t in lengths)
    labels = [rng.random((t, steps)) * (rng.random((t, steps)) < 0.3) for t in lengths]
    return videos, labels


def without(videos, labels, n):
    """Scores of one video by a classifier learnt again, from the others alone."""
    x = np.concatenate([v for m, v in enumerate(videos) if m != n]).astype(float)
    y = np.concatenate([z for m, z in enumerate(labels) if m != n])
    # The ridge is that of the whole collection, as in the closed form.
    ridge = REGULARISATION * sum(len(v) for v in videos)
    centre, level = x.mean(axis=0), y.mean(axis=0)
    gram = (x - centre).T @ (x - centre) + ridge * np.eye(x.shape[1])
    weights = np.linalg.solve(gram, (x - centre).T @ (y - level))
    return (videos[n] - centre) @ weights + level


@pytest.mark.parametrize("width", [5, 60])
def test_scores_are_those_of_a_classifier_that_never_saw_the_video(width):
    videos, labels = draw([12, 9, 15], width)
    scores = LeaveOneOut(videos, REGULARISATION).scores(labels)
    for n in range(3):
        np.testing.assert_allclose(scores[n], without(videos, labels, n), atol=1e-6)


def test_own_labels_say_nothing_about_a_video():
    videos, labels = draw([12, 9, 15])
    before = LeaveOneOut(videos, REGULARISATION).scores(labels)[1]
    labels[1] = 5.0 - labels[1]
    np.testing.assert_allclose(
        LeaveOneOut(videos, REGULARISATION).scores(labels)[1], before, atol=1e-6
    )


def test_of_a_long_video_the_labels_are_left_out(monkeypatch):
    monkeypatch.setattr(leave_one_out, "LONGEST", 10)
    videos, labels = draw([12, 9, 15])
    before = LeaveOneOut(videos, REGULARISATION).scores(labels)
    labels[0] = 5.0 - labels[0]
    after = LeaveOneOut(videos, REGULARISATION).scores(labels)
    np.testing.assert_allclose(after[0], before[0], atol=1e-6)
    assert np.abs(after[1] - before[1]).max() > 1e-3


def test_one_video_alone_is_judged_by_itself():
    videos, labels = draw([12])
    classifier = LeaveOneOut(videos, REGULARISATION)
    np.testing.assert_allclose(
        classifier.scores(labels)[0], classifier.weights(labels).scores(videos[0]), atol=1e-9
    )


def test_standard_scores_have_mean_zero_and_deviation_one_also_by_the_weights():
    videos, labels = draw([12, 9, 15])
    classifier = LeaveOneOut(videos, REGULARISATION)
    weights = classifier.weights(labels)
    raw = [weights.scores(x) for x in videos]
    standard = Standard.of(raw)
    stacked = np.concatenate([standard.fold(weights).scores(x) for x in videos])
    np.testing.assert_allclose(stacked.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(stacked.std(axis=0), 1.0)
    np.testing.assert_allclose(stacked[:12], standard.apply(raw[0]))


def test_factors_that_are_not_kept_are_computed_again(monkeypatch):
    videos, labels = draw([12, 9, 15])
    kept = LeaveOneOut(videos, REGULARISATION).scores(labels)
    for room in (0, 8 * 12 * 12, 8 * (12 * 12 + 9 * 9)):
        monkeypatch.setattr(leave_one_out, "KEPT", room)
        for one, other in zip(
            LeaveOneOut(videos, REGULARISATION).scores(labels), kept, strict=True
        ):
            np.testing.assert_array_equal(one, other)
