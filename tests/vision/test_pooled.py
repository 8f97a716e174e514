"""Pooled features: every interval has a vector, with Hellinger normalisation."""

import tracemalloc

import numpy as np
import pytest

from howsteps.vision.pooled import pooled_features, signed_roots

AT = np.array([0, 4], np.int32)
ROWS = np.array([[4, 0], [0, 9]], np.float16)


def test_an_interval_without_a_vector_has_the_nearest_one() -> None:
    found = pooled_features([(AT, ROWS)], 7)
    assert found.argmax(axis=1).tolist() == [0, 0, 1, 1, 1, 1, 1]


def test_parts_may_be_in_any_order() -> None:
    whole = pooled_features([(AT, ROWS)], 7)
    parts = [(AT[1:], ROWS[1:]), (AT[:1], ROWS[:1])]
    assert np.array_equal(pooled_features(parts, 7), whole)


def test_memory_is_that_of_the_features() -> None:
    parts = [
        (np.arange(n, n + 50, dtype=np.int32), np.ones((50, 200), np.float16))
        for n in range(0, 4000, 50)
    ]
    tracemalloc.start()
    try:
        found = pooled_features(parts, 4000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.3 * found.nbytes


def test_a_video_without_vectors() -> None:
    assert pooled_features([], 3).shape == (3, 0)


def test_signed_roots_keep_the_sign() -> None:
    assert signed_roots(np.array([[1, -3], [0, 0]], np.float32)) == pytest.approx(
        np.array([[0.5, -(0.75**0.5)], [0, 0]])
    )
