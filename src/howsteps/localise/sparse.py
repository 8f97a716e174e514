"""Products with sparse features, such as histograms.

Rows are stored as in CSR (values float32, column indices as narrow as d allows), and sums are in
float64. For the Gram matrix and the leverages the loops go feature by feature, so that the current
row of the d×d matrix stays in the L1 cache.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled
from howsteps.localise.backend import Floats

BLOCK = 64  # rows of a packed matrix; products with few columns are 10 % faster than with 128
_BLOCK_ROWS = 2048  # rows of X that are sorted by column at a time


class _Rows(NamedTuple):
    """CSR: row t has ``values[starts[t]:starts[t + 1]]`` in the same slice of ``columns``."""

    starts: NDArray[np.int64]
    columns: NDArray[np.uint32]
    values: NDArray[np.float32]


@compiled
def _compress(
    x: NDArray[np.float32], first: int, columns: NDArray[np.uint32], values: NDArray[np.float32]
) -> None:
    """Write the non-zero entries of ``x`` row by row, starting at index ``first``."""
    i = first
    for t in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[t, j] != 0.0:
                values[i] = x[t, j]
                columns[i] = j
                i += 1


_ByColumn = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]


@compiled
def _by_column(rows: _Rows, first: int, last: int, width: int) -> _ByColumn:
    """Sort the entries of rows ``first`` to ``last`` by column.

    Returns the bounds of every column, and the rows and indices of the sorted entries, both
    relative to row ``first``.
    """
    starts, columns = rows.starts, rows.columns
    bounds = np.zeros(width + 1, np.int64)
    for p in range(starts[first], starts[last]):
        bounds[columns[p] + 1] += 1
    for j in range(width):
        bounds[j + 1] += bounds[j]
    following = bounds[:-1].copy()
    row_of = np.empty(starts[last] - starts[first], np.int32)
    index_of = np.empty(len(row_of), np.int32)
    for t in range(first, last):
        for p in range(starts[t], starts[t + 1]):
            q = following[columns[p]]
            row_of[q] = t - first
            index_of[q] = p - starts[first]
            following[columns[p]] += 1
    return bounds, row_of, index_of


@compiled
def _add_gram(rows: _Rows, gram: Floats) -> None:
    """Add Σ_t x_t x_tᵀ to the upper triangle of ``gram``."""
    starts, columns, values = rows
    bounds, row_of, index_of = _by_column(rows, 0, len(starts) - 1, gram.shape[0])
    for i in range(gram.shape[0]):
        total = gram[i]
        for q in range(bounds[i], bounds[i + 1]):
            first = index_of[q]
            value = np.float64(values[first])
            for p in range(first, starts[row_of[q] + 1]):
                total[columns[p]] += value * values[p]


@compiled
def _add_quadratic(
    rows: _Rows, first: int, columns_of: _ByColumn, block: Floats, out: Floats
) -> None:
    """Add the terms of one packed block of M to x_tᵀ M x_t of every row."""
    starts, columns, values = rows
    bounds, row_of, index_of = columns_of
    corner = len(bounds) - 1 - block.shape[1]
    for i in range(corner, corner + block.shape[0]):
        row = block[i - corner]
        for q in range(bounds[i], bounds[i + 1]):
            p = starts[first] + index_of[q]
            end = starts[first + row_of[q] + 1]
            value = np.float64(values[p])
            diagonal = row[i - corner] * value
            # Four independent sums, so that additions can overlap.
            a = b = c = d = 0.0
            p += 1
            while p + 4 <= end:
                a += row[columns[p] - corner] * values[p]
                b += row[columns[p + 1] - corner] * values[p + 1]
                c += row[columns[p + 2] - corner] * values[p + 2]
                d += row[columns[p + 3] - corner] * values[p + 3]
                p += 4
            while p < end:
                a += row[columns[p] - corner] * values[p]
                p += 1
            out[first + row_of[q]] += value * (2.0 * ((a + b) + (c + d)) + diagonal)


@compiled
def _times(rows: _Rows, first: int, last: int, weights: Floats, out: Floats) -> None:
    """Write rows ``first`` to ``last`` of X W to ``out``."""
    starts, columns, values = rows
    for t in range(first, last):
        total = out[t - first]
        total[:] = 0.0
        for p in range(starts[t], starts[t + 1]):
            value = np.float64(values[p])
            weight = weights[columns[p]]
            for k in range(len(total)):
                total[k] += value * weight[k]


@compiled
def _transposed_times(rows: _Rows, z: Floats, out: Floats) -> None:
    """Add XᵀZ to ``out``, skipping the rows of Z that are zero."""
    starts, columns, values = rows
    for t in range(z.shape[0]):
        row = z[t]
        empty = True
        for k in range(len(row)):
            if row[k] != 0.0:
                empty = False
        if empty:
            continue
        for p in range(starts[t], starts[t + 1]):
            value = np.float64(values[p])
            total = out[columns[p]]
            for k in range(len(row)):
                total[k] += value * row[k]


class PackedSymmetricMatrix:
    """A symmetric matrix in half the memory, multiplied at the speed of a full one.

    It stores the upper triangle in consecutive blocks of rows: rows i … i+63 from column i on.
    ``memory`` is the flat array of all blocks; each block is rectangular, so products use BLAS
    without unpacking.
    """

    def __init__(self, memory: Floats, width: int) -> None:
        self.memory = memory
        self.width = width

    @staticmethod
    def of(matrix: Floats) -> "PackedSymmetricMatrix":
        """Pack a matrix given by its upper triangle.

        Its memory is reused and shrunk, so that there is never a second copy. The matrix must own
        its memory, and cannot be used afterwards.
        """
        width = len(matrix)
        flat = matrix.reshape(-1)
        end = 0
        for first in range(0, width, BLOCK):
            last = min(first + BLOCK, width)
            square = matrix[first:last, first:last]
            square[:] = np.triu(square) + np.triu(square, 1).T
            for i in range(first, last):
                # Rows only move towards the front, over rows that have been moved already.
                flat[end : end + width - first] = matrix[i, first:].copy()
                end += width - first
        del flat, square
        matrix.resize(end, refcheck=False)
        return PackedSymmetricMatrix(matrix, width)

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """Yield the first row of every block, and the block."""
        start = 0
        for first in range(0, self.width, BLOCK):
            rows, columns = min(BLOCK, self.width - first), self.width - first
            yield first, self.memory[start : start + rows * columns].reshape(rows, columns)
            start += rows * columns

    def submatrix(self, indices: NDArray[np.int64]) -> Floats:
        """Return the full matrix of some rows and the same columns; ``indices`` are sorted."""
        out = np.empty((len(indices), len(indices)))
        for first, block in self.blocks():
            begin, end = np.searchsorted(indices, [first, first + len(block)])
            rows, columns = indices[begin:end] - first, indices[begin:] - first
            out[begin:end, begin:] = block[np.ix_(rows, columns)]
            out[begin:, begin:end] = out[begin:end, begin:].T
        return out

    def __matmul__(self, right: Floats) -> Floats:
        """M R."""
        out = np.zeros(right.shape)
        for first, block in self.blocks():
            last = first + len(block)
            out[first:last] += block @ right[first:]
            out[last:] += block[:, len(block) :].T @ right[first:last]
        return out


class CompressedRows:
    """X as compressed rows (CSR)."""

    def __init__(self, rows: _Rows, width: int) -> None:
        self.rows = rows
        self.width = width

    @staticmethod
    def of(videos: Sequence[NDArray[np.float32]]) -> "CompressedRows":
        """Compress the rows of every video, one after the other."""
        counts = [np.count_nonzero(x, axis=1) for x in videos]
        starts = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)
        width = videos[0].shape[1]
        columns = np.empty(starts[-1], np.uint16 if width <= 1 << 16 else np.uint32)
        values = np.empty(starts[-1], videos[0].dtype)
        row = 0
        for x in videos:
            _compress(np.ascontiguousarray(x), starts[row], columns, values)
            row += len(x)
        return CompressedRows(_Rows(starts, columns, values), width)

    def quadratic(self, matrix: PackedSymmetricMatrix) -> Floats:
        """x_tᵀ M x_t of every row."""
        count = len(self.rows.starts) - 1
        out = np.zeros(count)
        for first in range(0, count, _BLOCK_ROWS):
            last = min(first + _BLOCK_ROWS, count)
            columns_of = _by_column(self.rows, first, last, self.width)
            for _, block in matrix.blocks():
                _add_quadratic(self.rows, first, columns_of, block, out)
        return out

    def times(self, weights: Floats, first: int, last: int) -> Floats:
        """Rows ``first`` to ``last`` of X W."""
        out = np.empty((last - first, weights.shape[1]))
        _times(self.rows, first, last, weights, out)
        return out

    def hat(self, matrix: PackedSymmetricMatrix, first: int, last: int) -> Floats:
        """X_n M X_nᵀ of the rows ``first`` to ``last``."""
        starts = self.rows.starts[first : last + 1]
        entries = slice(starts[0], starts[-1])
        # One narrator uses few of all words, so few columns of M are needed.
        used, inverse = np.unique(self.rows.columns[entries], return_inverse=True)
        columns = inverse.astype(self.rows.columns.dtype)
        x = _Rows(starts - starts[0], columns, self.rows.values[entries])
        product, out = np.empty((last - first, len(used))), np.empty((last - first, last - first))
        _times(x, 0, last - first, matrix.submatrix(used.astype(np.int64)), product)
        _times(x, 0, last - first, np.ascontiguousarray(product.T), out)
        return out

    def transposed_times(self, z: Floats) -> Floats:
        """XᵀZ."""
        out = np.zeros((self.width, z.shape[1]))
        _transposed_times(self.rows, z, out)
        return out


class CompressedVideos(Sequence[NDArray[np.float32]]):
    """Features of videos, stored as compressed rows; an item is the dense array of a video."""

    def __init__(self, videos: Iterable[NDArray[np.float32]]) -> None:
        self._videos = [CompressedRows.of((x,)) for x in videos]

    def __len__(self) -> int:
        return len(self._videos)

    @overload
    def __getitem__(self, index: int) -> NDArray[np.float32]: ...
    @overload
    def __getitem__(self, index: slice) -> list[NDArray[np.float32]]: ...
    def __getitem__(self, index: int | slice) -> NDArray[np.float32] | list[NDArray[np.float32]]:
        """Return the features of a video as a dense array, T_n×d."""
        if isinstance(index, slice):
            return [self[n] for n in range(*index.indices(len(self)))]
        (starts, columns, values), width = self._videos[index].rows, self._videos[index].width
        out = np.zeros((len(starts) - 1, width), values.dtype)
        out[np.repeat(np.arange(len(out)), np.diff(starts)), columns] = values
        return out


def gram(videos: Sequence[NDArray[np.float32]]) -> Floats:
    """Return the upper triangle of XᵀX; few videos are compressed at a time, to save memory."""
    width = videos[0].shape[1]
    total = np.zeros((width, width))
    group: list[NDArray[np.float32]] = []
    for n, video in enumerate(videos):
        group.append(video)
        if sum(map(len, group)) >= _BLOCK_ROWS or n == len(videos) - 1:
            _add_gram(CompressedRows.of(tuple(group)).rows, total)
            group = []
    return total
