"""What is found in intervals, as it is kept.

Local descriptors are directions, a byte for each number; pooled vectors are half floats.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Local:
    """Descriptors (n×d) and the interval of each (n).

    Those of a codebook are whole numbers of -127…127; a pooled vector is one row, in half floats.
    """

    values: NDArray[Any]
    intervals: NDArray[np.int32]


Chunk: TypeAlias = dict[str, Local]  # by kind
Found: TypeAlias = tuple[int, NDArray[Any]]  # an interval and descriptors of it


def quantised(values: NDArray[np.float32]) -> NDArray[np.int8]:
    """Directions in a byte for each number: 127 · v / max |v|."""
    largest = np.abs(values).max(axis=1, keepdims=True)
    bytes_: NDArray[np.int8] = np.rint(values * (127 / np.maximum(largest, 1e-12))).astype(np.int8)
    return bytes_


def directions(values: NDArray[np.int8]) -> NDArray[np.float32]:
    """Unit vectors again: v / ‖v‖."""
    floats = values.astype(np.float32)
    lengths: NDArray[np.float32] = np.linalg.norm(floats, axis=1, keepdims=True)
    floats /= np.maximum(lengths, 1e-12)
    return floats
