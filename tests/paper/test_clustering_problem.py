import numpy as np
import pytest

from howsteps.paper.clustering_problem import ClusteringCost
from tests.localise import naive
from tests.localise.test_features import DENSE, SPARSE, videos_of


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


def test_features_may_be_memory_mapped(tmp_path):
    videos = videos_of(7, DENSE)
    mapped = []
    for n, x in enumerate(videos):
        np.save(tmp_path / f"{n}.npy", x)
        mapped.append(np.load(tmp_path / f"{n}.npy", mmap_mode="r"))
    z = np.random.default_rng(0).random((50, 2))
    there, here = ClusteringCost(mapped, 0.1), ClusteringCost(videos, 0.1)
    assert there.objective(z) == here.objective(z)
