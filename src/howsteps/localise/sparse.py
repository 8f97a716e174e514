"""Products with features that are mostly zeros, as histograms are: only other entries count.

The rows are kept in compressed form (values float32, columns as narrow as d allows), and every sum
is in float64. For the Gram matrix and the leverages the loop goes feature by feature, so that the
row of the d×d matrix it works on stays in the nearest cache.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled
from howsteps.localise.backend import Floats

BLOCK = 64  # rows of a packed matrix; thin products run a tenth faster than with 128
_BLOCK_ROWS = 2048  # rows of X that are sorted by column at a time


class _Rows(NamedTuple):
    """Row t has ``values[starts[t]:starts[t + 1]]`` in the columns at the same places."""

    starts: NDArray[np.int64]
    columns: NDArray[np.uint32]
    values: NDArray[np.float32]


@compiled
def _compress(
    x: NDArray[np.float32], first: int, columns: NDArray[np.uint32], values: NDArray[np.float32]
) -> None:
    """Write the entries of the rows of ``x`` that are not zero, from place ``first`` on."""
    place = first
    for t in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[t, j] != 0.0:
                values[place] = x[t, j]
                columns[place] = j
                place += 1


_ByColumn = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]


@compiled
def _by_column(rows: _Rows, first: int, last: int, width: int) -> _ByColumn:
    """Sort the entries of rows ``first`` to ``last`` by column: bounds, then rows and places."""
    starts, columns = rows.starts, rows.columns
    bounds = np.zeros(width + 1, np.int64)
    for p in range(starts[first], starts[last]):
        bounds[columns[p] + 1] += 1
    for j in range(width):
        bounds[j + 1] += bounds[j]
    free = bounds[:-1].copy()
    row_of = np.empty(starts[last] - starts[first], np.int32)
    place_of = np.empty(len(row_of), np.int32)
    for t in range(first, last):
        for p in range(starts[t], starts[t + 1]):
            at = free[columns[p]]
            row_of[at] = t - first
            place_of[at] = p - starts[first]
            free[columns[p]] += 1
    return bounds, row_of, place_of


@compiled
def _add_gram(rows: _Rows, gram: Floats) -> None:
    """Add Σ_t x_t x_tᵀ to the upper triangle of ``gram``."""
    starts, columns, values = rows
    bounds, row_of, place_of = _by_column(rows, 0, len(starts) - 1, gram.shape[0])
    for i in range(gram.shape[0]):
        total = gram[i]
        for q in range(bounds[i], bounds[i + 1]):
            at = place_of[q]
            value = np.float64(values[at])
            for p in range(at, starts[row_of[q] + 1]):
                total[columns[p]] += value * values[p]


@compiled
def _add_quadratic(
    rows: _Rows, first: int, columns_of: _ByColumn, block: Floats, out: Floats
) -> None:
    """Add to x_tᵀ M x_t what the last rows of M give that ``block`` holds, from its diagonal on."""
    starts, columns, values = rows
    bounds, row_of, place_of = columns_of
    corner = len(bounds) - 1 - block.shape[1]
    for i in range(corner, corner + block.shape[0]):
        row = block[i - corner]
        for q in range(bounds[i], bounds[i + 1]):
            p = starts[first] + place_of[q]
            end = starts[first + row_of[q] + 1]
            value = np.float64(values[p])
            diagonal = row[i - corner] * value
            # Four sums, because one alone would wait for each addition before the next.
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
    """Rows ``first`` to ``last`` of X W."""
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
    """XᵀZ, passing over the rows of Z that are zero."""
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

    It holds the upper triangle in blocks of rows, one after the other: rows i … i+63 from column i
    on.

    ``memory`` is the flat array of all blocks; a block is a rectangle of it, so that products go
    through BLAS without unpacking.
    """

    def __init__(self, memory: Floats, width: int) -> None:
        self.memory = memory
        self.width = width

    @staticmethod
    def of(matrix: Floats) -> "PackedSymmetricMatrix":
        """Pack a matrix given by its upper triangle.

        Its own memory is reused and shortened, so that the two never exist side by side. The
        matrix must own its memory, and cannot be used afterwards.
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
        return PackedSymmetricMatrix(matrix, width)

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """Yield the first row of every block, and the block."""
        place = 0
        for first in range(0, self.width, BLOCK):
            rows, columns = min(BLOCK, self.width - first), self.width - first
            yield first, self.memory[place : place + rows * columns].reshape(rows, columns)
            place += rows * columns

    def part(self, chosen: NDArray[np.int64]) -> Floats:
        """The full matrix of some rows and the same columns; ``chosen`` is sorted."""
        out = np.empty((len(chosen), len(chosen)))
        for first, block in self.blocks():
            begin, end = np.searchsorted(chosen, [first, first + len(block)])
            rows, columns = chosen[begin:end] - first, chosen[begin:] - first
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
    """X without its zeros."""

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
        own = slice(starts[0], starts[-1])
        # One narrator uses few of all words.
        used, places = np.unique(self.rows.columns[own], return_inverse=True)
        columns = places.astype(self.rows.columns.dtype)
        x = _Rows(starts - starts[0], columns, self.rows.values[own])
        product, out = np.empty((last - first, len(used))), np.empty((last - first, last - first))
        _times(x, 0, last - first, matrix.part(used.astype(np.int64)), product)
        _times(x, 0, last - first, np.ascontiguousarray(product.T), out)
        return out

    def transposed_times(self, z: Floats) -> Floats:
        """XᵀZ."""
        out = np.zeros((self.width, z.shape[1]))
        _transposed_times(self.rows, z, out)
        return out


class CompressedVideos(Sequence[NDArray[np.float32]]):
    """Features of videos, kept without their zeros; those of one video are whole when asked for."""

    def __init__(self, videos: Iterable[NDArray[np.float32]]) -> None:
        self._videos = [CompressedRows.of((x,)) for x in videos]

    def __len__(self) -> int:
        return len(self._videos)

    @overload
    def __getitem__(self, number: int) -> NDArray[np.float32]: ...
    @overload
    def __getitem__(self, number: slice) -> list[NDArray[np.float32]]: ...
    def __getitem__(self, number: int | slice) -> NDArray[np.float32] | list[NDArray[np.float32]]:
        """The features of a video, T×d."""
        if isinstance(number, slice):
            return [self[n] for n in range(*number.indices(len(self)))]
        (starts, columns, values), width = self._videos[number].rows, self._videos[number].width
        out = np.zeros((len(starts) - 1, width), values.dtype)
        out[np.repeat(np.arange(len(out)), np.diff(starts)), columns] = values
        return out


def gram(videos: Sequence[NDArray[np.float32]]) -> Floats:
    """Upper triangle of XᵀX; only a few videos are compressed at a time, to leave it the memory."""
    width = videos[0].shape[1]
    total = np.zeros((width, width))
    group: list[NDArray[np.float32]] = []
    for number, video in enumerate(videos):
        group.append(video)
        if sum(map(len, group)) >= _BLOCK_ROWS or number == len(videos) - 1:
            _add_gram(CompressedRows.of(tuple(group)).rows, total)
            group = []
    return total
