"""Vocabulary and description: from local descriptors to one vector for each interval."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from howsteps.errors import InputError
from howsteps.vision.codebook import Codebook, learn_codebook, read_codebooks, to_bytes
from howsteps.vision.histograms import blocks, count_words, hellinger
from howsteps.vision.local import directions, quantised
from tests.vision.naive import block_counts, nearest


def clouds(count: int, each: int, seed: int = 0) -> np.ndarray:
    """Points around well separated centres."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(0, 10, (count, 6))
    return (np.repeat(centres, each, axis=0) + chance.normal(0, 0.1, (count * each, 6))).astype(
        "f4"
    )


def test_words_are_the_nearest_centres() -> None:
    chance = np.random.default_rng(0)
    vocabulary = Codebook(chance.normal(size=(50, 12)).astype("f4"), "")
    points = chance.normal(size=(300, 12)).astype("f4")
    chosen = vocabulary.centres[vocabulary.words(points)]
    assert ((points - chosen) ** 2).sum(axis=1) == pytest.approx(
        nearest(points, vocabulary.centres), rel=1e-4
    )


def test_blocks_of_descriptors_do_not_matter() -> None:
    chance = np.random.default_rng(0)
    vocabulary = Codebook(chance.normal(size=(7, 3)).astype("f4"), "")
    points = chance.normal(size=(10_000, 3)).astype("f4")
    singly = [int(vocabulary.words(points[n : n + 1])[0]) for n in range(0, 10_000, 997)]
    assert vocabulary.words(points)[::997].tolist() == singly


def test_clouds_become_words() -> None:
    points = clouds(5, 200)
    vocabulary = learn_codebook(points, 5, "test")
    assert len(vocabulary) == 5
    words = vocabulary.words(points).reshape(5, 200)
    assert all(len(set(row)) == 1 for row in words.tolist())


def test_one_seed_one_vocabulary() -> None:
    points = clouds(40, 50)
    assert learn_codebook(points, 20, "", 3).digest == learn_codebook(points, 20, "", 3).digest
    assert learn_codebook(points, 20, "", 3).digest != learn_codebook(points, 20, "", 4).digest


def test_fewer_descriptors_than_words_are_words_themselves() -> None:
    points = np.repeat(clouds(3, 2), 4, axis=0)
    vocabulary = learn_codebook(points, 2000, "few")
    assert len(vocabulary) == 6
    assert vocabulary.centres[vocabulary.words(points)] == pytest.approx(points)


def test_no_descriptors_no_words() -> None:
    assert len(learn_codebook(np.empty((0, 0), np.float32), 10, "none")) == 0


def test_vocabularies_are_read_as_they_were_written(tmp_path: Path) -> None:
    both = {
        "motion": learn_codebook(clouds(3, 9), 3, "a"),
        "appearance": learn_codebook(clouds(4, 9), 4, "b"),
    }
    path = tmp_path / "words.npz"
    path.write_bytes(to_bytes(both))
    again = read_codebooks(path)
    assert {kind: (v.digest, v.origin) for kind, v in again.items()} == {
        kind: (v.digest, v.origin) for kind, v in both.items()
    }


@pytest.mark.parametrize("content", [b"", b"no zip", None])
def test_other_files_are_no_vocabularies(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "words.npz"
    if content is None:
        np.savez(path, other=np.zeros(3))
    else:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"words\.npz"):
        read_codebooks(path)


@given(
    places=st.lists(st.integers(0, 5), max_size=30),
    words=st.lists(st.integers(0, 3), min_size=30, max_size=30),
)
def test_counts_in_blocks_agree_with_counting(places: list[int], words: list[int]) -> None:
    where = np.array(places, np.int32)
    which = np.array(words[: len(places)], np.int32)
    counts = blocks(count_words(where, which, 6, 4))
    wanted = block_counts(where, which, 6, 4)
    assert np.array_equal(counts, wanted)
    roots = hellinger(counts)
    lengths = (roots**2).sum(axis=1)
    assert lengths == pytest.approx((wanted.sum(axis=1) > 0).astype(float), abs=1e-5)


def test_a_track_that_ends_after_the_film_counts_in_its_last_interval() -> None:
    counts = count_words(np.array([0, 4], np.int32), np.array([0, 1], np.int32), 3, 2)
    assert counts.tolist() == [[1, 0], [0, 0], [0, 1]]


@given(arrays.arrays(np.float32, (4, 9), elements=st.floats(-100, 100, width=32)))
def test_directions_survive_in_bytes(values: np.ndarray) -> None:
    lengths = np.linalg.norm(values, axis=1)
    found = directions(quantised(values))
    for row, length, again in zip(values, lengths, found, strict=True):
        if length > 1e-6:
            assert float(again @ row) / length > 0.999
