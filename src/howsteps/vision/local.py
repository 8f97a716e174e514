"""Storage of descriptors with their intervals.

Local descriptors are unit vectors, quantised to one byte per entry; pooled vectors are float16.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Descriptors:
    """Descriptors (n×d) and the interval of each (n).

    Local descriptors are int8 from −127 to 127; a pooled vector is one row of float16.
    """

    values: NDArray[Any]
    intervals: NDArray[np.int32]


Chunk: TypeAlias = dict[str, Descriptors]  # by kind
IntervalDescriptors: TypeAlias = tuple[int, NDArray[Any]]  # an interval and its descriptors


def quantise(values: NDArray[np.float32]) -> NDArray[np.int8]:
    """Return the direction of each row in one byte per entry: 127 · v / max |v|."""
    largest = np.abs(values).max(axis=1, keepdims=True)
    bytes_: NDArray[np.int8] = np.rint(values * (127 / np.maximum(largest, 1e-12))).astype(np.int8)
    return bytes_


def dequantise(values: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the unit vector of each quantised row: v / ‖v‖."""
    floats = values.astype(np.float32)
    lengths: NDArray[np.float32] = np.linalg.norm(floats, axis=1, keepdims=True)
    floats /= np.maximum(lengths, 1e-12)
    return floats
