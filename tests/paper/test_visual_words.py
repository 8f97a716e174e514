"""Codebooks and histograms: from local descriptors to one vector for each interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from howsteps.paper.visual_words import (
    Codebook,
    blocks,
    count_codewords,
    dequantise,
    learn_codebook,
    quantise,
)
from howsteps.vision.features import signed_roots
from tests.paper.naive_visual import block_counts, nearest


def clouds(count: int, each: int, seed: int = 0) -> np.ndarray:
    """Points around well separated centres."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(0, 10, (count, 6))
    return (np.repeat(centres, each, axis=0) + chance.normal(0, 0.1, (count * each, 6))).astype(
        "f4"
    )


def test_codewords_are_the_nearest_centres() -> None:
    chance = np.random.default_rng(0)
    codebook = Codebook(chance.normal(size=(50, 12)).astype("f4"))
    points = chance.normal(size=(300, 12)).astype("f4")
    chosen = codebook.centres[codebook.assign(points)]
    assert ((points - chosen) ** 2).sum(axis=1) == pytest.approx(
        nearest(points, codebook.centres), rel=1e-4
    )


def test_separated_clusters_become_codewords() -> None:
    points = clouds(5, 200)
    codebook = learn_codebook(points, 5)
    assert len(codebook) == 5
    words = codebook.assign(points).reshape(5, 200)
    assert all(len(set(row)) == 1 for row in words.tolist())


def test_a_few_distinct_descriptors_are_the_codewords() -> None:
    points = np.repeat(clouds(3, 2), 4, axis=0)
    codebook = learn_codebook(points, 2000)
    assert len(codebook) == 6
    assert codebook.centres[codebook.assign(points)] == pytest.approx(points)


@given(
    places=st.lists(st.integers(0, 5), max_size=30),
    words=st.lists(st.integers(0, 3), min_size=30, max_size=30),
)
def test_block_counts_agree_with_a_naive_count(places: list[int], words: list[int]) -> None:
    where = np.array(places, np.int32)
    which = np.array(words[: len(places)], np.int32)
    counts = blocks(count_codewords(where, which, 6, 4))
    wanted = block_counts(where, which, 6, 4)
    assert np.array_equal(counts, wanted)
    roots = signed_roots(counts)
    lengths = (roots**2).sum(axis=1)
    assert lengths == pytest.approx((wanted.sum(axis=1) > 0).astype(float), abs=1e-5)


def test_a_track_after_the_end_counts_in_the_last_interval() -> None:
    counts = count_codewords(np.array([0, 4], np.int32), np.array([0, 1], np.int32), 3, 2)
    assert counts.tolist() == [[1, 0], [0, 0], [0, 1]]


@given(arrays.arrays(np.float32, (4, 9), elements=st.floats(-100, 100, width=32)))
def test_quantisation_keeps_directions(values: np.ndarray) -> None:
    lengths = np.linalg.norm(values, axis=1)
    found = dequantise(quantise(values))
    for row, length, again in zip(values, lengths, found, strict=True):
        if length > 1e-6:
            assert float(again @ row) / length > 0.999
