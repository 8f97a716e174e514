"""A symmetric matrix in half the memory, still multiplied at the speed of a full one."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BLOCK = 64  # thin products run a tenth faster than with 128


class HalfPrecisionMatrix:
    """The upper triangle in blocks of rows: rows i … i+63 from column i on, block after block.

    ``memory`` is the flat array of all blocks; a block is a rectangle of it, so that products go
    through BLAS without unpacking.
    """

    def __init__(self, memory: Floats, width: int) -> None:
        self.memory = memory
        self.width = width

    @staticmethod
    def of(matrix: Floats) -> "HalfPrecisionMatrix":
        """Halve a matrix given by its upper triangle.

        Its own memory is reused and shortened, so that the two never stand side by side: the
        matrix must own its memory, and is of no use afterwards.
        """
        width = len(matrix)
        flat = matrix.reshape(-1)
        place = 0
        for first in range(0, width, BLOCK):
            last = min(first + BLOCK, width)
            square = matrix[first:last, first:last]
            square[:] = np.triu(square) + np.triu(square, 1).T
            for i in range(first, last):
                # Rows only ever move towards the front, over what has been moved already.
                flat[place : place + width - first] = matrix[i, first:].copy()
                place += width - first
        del flat, square
        matrix.resize(place, refcheck=False)
        return HalfPrecisionMatrix(matrix, width)

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """Yield the first row of every block, and the block."""
        place = 0
        for first in range(0, self.width, BLOCK):
            rows, columns = min(BLOCK, self.width - first), self.width - first
            yield first, self.memory[place : place + rows * columns].reshape(rows, columns)
            place += rows * columns

    def __matmul__(self, right: Floats) -> Floats:
        """M R."""
        out = np.zeros(right.shape)
        for first, block in self.blocks():
            last = first + len(block)
            out[first:last] += block @ right[first:]
            out[last:] += block[:, len(block) :].T @ right[first:last]
        return out
