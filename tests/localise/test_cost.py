import sys
from importlib.util import find_spec

import numpy as np
import pytest

from howsteps.errors import HowstepsError, MissingExtra
from howsteps.localise.backend import NumpyBackend, make_backend
from howsteps.localise.cost import ClusteringCost
from howsteps.localise.sparse import BLOCK, CompressedVideos, PackedSymmetricMatrix
from tests.localise import naive

DENSE, SPARSE = 1.0, 0.1


def videos_of(width, filled, dtype=np.float32):
    rng = np.random.default_rng(3)
    return tuple(
        (rng.random((t, width)) * (rng.random((t, width)) < filled)).astype(dtype)
        for t in (13, 17, 20)
    )


# Without PyTorch, only the CPU backend is compared with the full matrix.
DEVICES = ["cpu", *(["torch-cpu"] if find_spec("torch") else [])]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("bias", [0.0, 0.01])
@pytest.mark.parametrize("filled", [DENSE, SPARSE])
@pytest.mark.parametrize("width", [7, 60])  # fewer and more features than intervals
def test_the_cost_agrees_with_the_full_matrix(width, filled, bias, device):
    videos = videos_of(width, filled)
    cost = ClusteringCost(videos, 0.05, bias, device)
    b = naive.cost_matrix(np.vstack(videos), 0.05, bias)
    z = np.random.default_rng(0).random((50, 3))
    assert cost.objective(z) == pytest.approx(naive.objective(b, z), rel=1e-9)
    np.testing.assert_allclose(50 * cost.gradient(z), b @ z, atol=1e-10)
    np.testing.assert_allclose(1 - cost.leverages, np.diag(b), atol=1e-10)
    second = slice(13, 30)
    np.testing.assert_allclose(np.eye(17) - cost.hat(1, videos[1]), b[second, second], atol=1e-10)


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


def test_rows_are_compressed_only_if_most_entries_are_zero():
    assert make_backend(videos_of(30, SPARSE)).sparse
    assert not make_backend(videos_of(30, DENSE)).sparse


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_and_dense_products_agree(dtype):
    videos = videos_of(30, SPARSE, dtype)
    sparse, dense = NumpyBackend(videos, compress=True), NumpyBackend(videos, compress=False)
    rng = np.random.default_rng(0)
    w, z = rng.random((30, 4)), rng.random((50, 4)) * (rng.random((50, 1)) < 0.5)
    np.testing.assert_allclose(sparse.times(w), dense.times(w), atol=1e-12)
    np.testing.assert_allclose(sparse.times(w, 1), dense.times(w, 1), atol=1e-12)
    np.testing.assert_allclose(sparse.transposed_times(z), dense.transposed_times(z), atol=1e-12)
    half, full = sparse.inverse(0.3), dense.inverse(0.3)
    np.testing.assert_allclose(sparse.apply(half, w), dense.apply(full, w), atol=1e-10)
    np.testing.assert_allclose(sparse.quadratic(half), dense.quadratic(full), atol=1e-10)
    for n in range(len(videos)):
        np.testing.assert_allclose(sparse.hat(half, n), dense.hat(full, n), atol=1e-10)
    rows = np.array([0, 14, 49])
    np.testing.assert_array_equal(dense.rows(rows), np.vstack(videos)[rows])


@pytest.mark.parametrize("width", [1, 5, BLOCK, BLOCK + 1, 3 * BLOCK - 7])
def test_a_packed_matrix_multiplies_like_a_full_one(width):
    rng = np.random.default_rng(width)
    m = rng.random((width, width))
    m += m.T
    right = rng.random((width, 3))
    packed = PackedSymmetricMatrix.of(np.triu(m))
    np.testing.assert_allclose(packed @ right, m @ right, rtol=1e-12)
    assert packed.memory.size <= width * (width + BLOCK) / 2


def test_features_may_be_memory_mapped(tmp_path):
    videos = videos_of(7, DENSE)
    mapped = []
    for n, x in enumerate(videos):
        np.save(tmp_path / f"{n}.npy", x)
        mapped.append(np.load(tmp_path / f"{n}.npy", mmap_mode="r"))
    z = np.random.default_rng(0).random((50, 2))
    there, here = ClusteringCost(tuple(mapped), 0.1), ClusteringCost(videos, 0.1)
    assert there.objective(z) == here.objective(z)


def test_unknown_devices_are_named():
    with pytest.raises(HowstepsError, match="tpu"):
        make_backend(videos_of(3, DENSE), "tpu")


def test_a_gpu_without_pytorch_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="gpu"):
        make_backend(videos_of(3, DENSE), "cuda")


def test_a_singular_matrix_is_an_error():
    same = (np.ones((5, 3), np.float32),)
    with pytest.raises(HowstepsError, match="regularisation"):
        NumpyBackend(same, compress=False).inverse(-20.0)


def test_a_submatrix_of_a_packed_matrix():
    rng = np.random.default_rng(0)
    x = rng.random((2 * BLOCK + 9, 30))
    full = x @ x.T
    indices = np.sort(rng.choice(len(full), 50, replace=False))
    packed = PackedSymmetricMatrix.of(full.copy())
    np.testing.assert_array_equal(packed.submatrix(indices), full[np.ix_(indices, indices)])
    assert packed.submatrix(indices[:0]).shape == (0, 0)


def test_compressed_videos_are_the_same_videos():
    videos = videos_of(60, SPARSE)
    kept = CompressedVideos(iter(videos))
    assert len(kept) == 3
    for one, other in zip(kept, videos, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    assert [len(x) for x in kept[1:]] == [17, 20]
    z = np.random.default_rng(0).random((50, 2))
    np.testing.assert_array_equal(
        ClusteringCost(kept, 0.05).scores(z), ClusteringCost(videos, 0.05).scores(z)
    )
