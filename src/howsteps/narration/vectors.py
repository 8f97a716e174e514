"""What words mean, as the vectors that come with the shipped parser."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from spacy.vocab import Vocab


def vectors_of(words: Sequence[str]) -> NDArray[np.float32]:
    """One row of length one for every word; zeros for a word that is not known."""
    known = _known()
    rows = np.array([known.get_vector(word) for word in words], np.float32)
    return unit_rows(rows.reshape(len(words), known.vectors_length))


def unit_rows(x: NDArray[np.floating]) -> NDArray[np.float32]:
    """Rows scaled to length one; a row of zeros stays one."""
    length = np.linalg.norm(x, axis=1, keepdims=True)
    return np.asarray(x / np.where(length > 0, length, 1.0), np.float32)


@cache
def _known() -> "Vocab":
    from spacy.vocab import Vocab  # noqa: PLC0415 - slow to import

    from howsteps.narration.parser import SHIPPED  # noqa: PLC0415 - imports spaCy too

    return Vocab().from_disk(SHIPPED / "vocab")
