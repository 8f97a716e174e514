"""Word vectors: static embeddings of words.

They come from potion-base-8M (Minish Lab, MIT), reduced to 64 dimensions of one byte each;
``training/word_vectors.py`` makes the table.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_TABLE = Path(__file__).with_name("word_vectors.npz")


def vectors_of(words: Sequence[str]) -> NDArray[np.float64]:
    """One unit row for every word; zeros for an unknown word."""
    rows = np.array([_vector(word) for word in words], dtype=np.float64)
    return rows.reshape(len(words), _table()[1].shape[1])


@cache
def _vector(word: str) -> NDArray[np.float64]:
    index, vectors = _table()
    total = np.sum([vectors[index[piece]] for piece in pieces(word)], axis=0, dtype=np.float64)
    row = np.zeros(vectors.shape[1]) + total
    norm = np.linalg.norm(row)
    return np.asarray(row / norm if norm else row)


def pieces(word: str) -> list[str]:
    """Split a word greedily into the longest known pieces (WordPiece); empty if impossible."""
    index, _ = _table()
    found: list[str] = []
    rest = word
    while rest:
        prefix = "##" if found else ""
        end = next((e for e in range(len(rest), 0, -1) if prefix + rest[:e] in index), 0)
        if not end:
            return []
        found.append(prefix + rest[:end])
        rest = rest[end:]
    return found


@cache
def _table() -> tuple[dict[str, int], NDArray[np.int8]]:
    with np.load(_TABLE, allow_pickle=False) as table:
        words = table["words"].tobytes().decode("ascii").split("\n")
        return {word: i for i, word in enumerate(words)}, table["vectors"]
