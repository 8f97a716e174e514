"""Local descriptors as they are kept: directions, a byte for each number."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Local:
    """Local descriptors (n×d, as whole numbers of -127…127) and the interval of each (n)."""

    values: NDArray[np.int8]
    intervals: NDArray[np.int32]


Stretch: TypeAlias = dict[str, Local]  # by kind
Found: TypeAlias = tuple[int, NDArray[np.int8]]  # an interval and descriptors of it


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
