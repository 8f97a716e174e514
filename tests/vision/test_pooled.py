"""Pooled vectors: every interval has one, and strong channels do not drown the others."""

import numpy as np
import pytest

from howsteps.vision.pooled import pooled_features, signed_roots

AT = np.array([0, 4], np.int32)
ROWS = np.array([[4, 0], [0, 9]], np.float16)


def test_an_interval_between_has_what_was_seen_nearest() -> None:
    found = pooled_features([(AT, ROWS)], 7)
    assert found.argmax(axis=1).tolist() == [0, 0, 1, 1, 1, 1, 1]


def test_parts_come_in_any_order() -> None:
    whole = pooled_features([(AT, ROWS)], 7)
    parts = [(AT[1:], ROWS[1:]), (AT[:1], ROWS[:1])]
    assert np.array_equal(pooled_features(parts, 7), whole)


def test_a_video_in_which_nothing_was_seen() -> None:
    assert pooled_features([], 3).shape == (3, 0)


def test_roots_of_shares_keep_their_sign() -> None:
    assert signed_roots(np.array([[1, -3], [0, 0]], np.float32)) == pytest.approx(
        np.array([[0.5, -(0.75**0.5)], [0, 0]])
    )
