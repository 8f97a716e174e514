"""What words mean, as short vectors: ``training/word_vectors.py`` makes the table.

The vectors come from potion-base-8M (Minish Lab, MIT), cut down to 64 numbers of one byte.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_TABLE = Path(__file__).with_name("word_vectors.npz")


def vectors_of(words: Sequence[str]) -> NDArray[np.float64]:
    """One row of length one for every word; zeros for a word that is not known."""
    rows = np.array([_vector(word) for word in words], dtype=np.float64)
    return rows.reshape(len(words), _table()[1].shape[1])


@cache
def _vector(word: str) -> NDArray[np.float64]:
    place, vectors = _table()
    total = np.sum([vectors[place[piece]] for piece in pieces(word)], axis=0, dtype=np.float64)
    row = np.zeros(vectors.shape[1]) + total
    length = np.linalg.norm(row)
    return np.asarray(row / length if length else row)


def pieces(word: str) -> list[str]:
    """The longest known pieces of a word from left to right; none where a letter is unknown."""
    place, _ = _table()
    found: list[str] = []
    rest = word
    while rest:
        mark = "##" if found else ""
        end = next((e for e in range(len(rest), 0, -1) if mark + rest[:e] in place), 0)
        if not end:
            return []
        found.append(mark + rest[:end])
        rest = rest[end:]
    return found


@cache
def _table() -> tuple[dict[str, int], NDArray[np.int8]]:
    with np.load(_TABLE, allow_pickle=False) as table:
        words = table["words"].tobytes().decode("ascii").split("\n")
        return {word: place for place, word in enumerate(words)}, table["vectors"]
