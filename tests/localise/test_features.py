import numpy as np
import pytest
from scipy.sparse import csr_array

from howsteps.errors import HowstepsError
from howsteps.localise import features
from howsteps.localise.features import FeatureProducts

DENSE, SPARSE = 1.0, 0.1


def videos_of(width, filled, dtype=np.float32):
    rng = np.random.default_rng(3)
    return tuple(
        (rng.random((t, width)) * (rng.random((t, width)) < filled)).astype(dtype)
        for t in (13, 17, 20)
    )


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_rows_are_compressed_only_if_most_entries_are_zero(convert):
    assert FeatureProducts([convert(x) for x in videos_of(30, SPARSE)]).sparse
    assert not FeatureProducts([convert(x) for x in videos_of(30, DENSE)]).sparse


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_and_dense_products_agree(dtype, monkeypatch):
    videos = videos_of(30, SPARSE, dtype)
    sparse = FeatureProducts(videos)
    monkeypatch.setattr(features, "SPARSE_BELOW", 0.0)
    dense = FeatureProducts(videos)
    assert (sparse.sparse, dense.sparse) == (True, False)
    rng = np.random.default_rng(0)
    w, z = rng.random((30, 4)), rng.random((50, 4)) * (rng.random((50, 1)) < 0.5)
    np.testing.assert_allclose(sparse.times(w), dense.times(w), atol=1e-12)
    np.testing.assert_allclose(sparse.times(w, 1), dense.times(w, 1), atol=1e-12)
    np.testing.assert_allclose(sparse.transposed_times(z), dense.transposed_times(z), atol=1e-12)
    inverse = dense.inverse(0.3)
    np.testing.assert_array_equal(inverse, inverse.T)
    np.testing.assert_allclose(sparse.inverse(0.3), inverse, atol=1e-10)
    np.testing.assert_allclose(sparse.kernel_inverse(0.3), dense.kernel_inverse(0.3), atol=1e-10)
    for n in range(len(videos)):
        np.testing.assert_allclose(sparse.hat(inverse, n), dense.hat(inverse, n), atol=1e-10)
    rows = np.array([0, 14, 49])
    np.testing.assert_array_equal(dense.rows(rows), np.vstack(videos)[rows])
    np.testing.assert_array_equal(sparse.rows(rows), dense.rows(rows))


@pytest.mark.parametrize("filled", [DENSE, SPARSE])
@pytest.mark.parametrize("width", [5, 600])
def test_the_inverse_is_that_of_the_gram_matrix(width, filled):
    x = np.vstack(videos := videos_of(width, filled)).astype(float)
    expected = np.linalg.inv(x.T @ x + 0.3 * np.eye(width))
    np.testing.assert_allclose(FeatureProducts(videos).inverse(0.3), expected, atol=1e-9)


def test_a_singular_matrix_is_an_error():
    same = (np.ones((5, 3), np.float32),)
    with pytest.raises(HowstepsError, match="regularisation"):
        FeatureProducts(same).inverse(-20.0)
