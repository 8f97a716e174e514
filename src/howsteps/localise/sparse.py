"""Histograms are mostly zeros: compiled products that touch only the other entries.

The rows are held in compressed form (values float32, columns as narrow as d allows) and every sum runs in
float64. For the Gram matrix and for the leverages the loop goes feature by feature, so that the row of the
d×d matrix it works on stays in the nearest cache.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from howsteps.localise.compiled import compiled

Floats = NDArray[np.float64]


@compiled
def _compress(
    x: NDArray[np.float32], first: int, values: NDArray[np.float32], columns: NDArray[np.uint32]
) -> None:
    """Write the entries of the rows of ``x`` that are not zero, from position ``first`` on."""
    position = first
    for t in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[t, j] != 0.0:
                values[position] = x[t, j]
                columns[position] = j
                position += 1


@compiled
def _by_column(
    starts: NDArray[np.int64], columns: NDArray[np.uint32], first: int, last: int, d: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Where each column stands in the rows ``first`` to ``last``: bounds, and from there rows, places."""
    bounds = np.zeros(d + 1, np.int64)
    for p in range(starts[first], starts[last]):
        bounds[columns[p] + 1] += 1
    for j in range(d):
        bounds[j + 1] += bounds[j]
    free = bounds[:-1].copy()
    rows = np.empty(starts[last] - starts[first], np.int32)
    positions = np.empty(len(rows), np.int32)
    for t in range(first, last):
        for p in range(starts[t], starts[t + 1]):
            at = free[columns[p]]
            rows[at] = t - first
            positions[at] = p - starts[first]
            free[columns[p]] += 1
    return bounds, rows, positions


@compiled
def _add_gram(
    starts: NDArray[np.int64],
    columns: NDArray[np.uint32],
    values: NDArray[np.float32],
    first: int,
    last: int,
    gram: Floats,
) -> None:
    """Add Σ_t x_t x_tᵀ to the upper triangle of ``gram``."""
    bounds, rows, positions = _by_column(starts, columns, first, last, gram.shape[0])
    for i in range(gram.shape[0]):
        row = gram[i]
        for q in range(bounds[i], bounds[i + 1]):
            at = starts[first] + positions[q]
            value = np.float64(values[at])
            for p in range(at, starts[first + rows[q] + 1]):
                row[columns[p]] += value * values[p]


@compiled
def _quadratic(
    starts: NDArray[np.int64],
    columns: NDArray[np.uint32],
    values: NDArray[np.float32],
    first: int,
    last: int,
    matrix: Floats,
    out: Floats,
) -> None:
    """x_tᵀ M x_t for a symmetric M, from its upper triangle."""
    bounds, rows, positions = _by_column(starts, columns, first, last, matrix.shape[0])
    for i in range(matrix.shape[0]):
        row = matrix[i]
        for q in range(bounds[i], bounds[i + 1]):
            at = starts[first] + positions[q]
            value = np.float64(values[at])
            # Four sums, because one alone would wait for each addition before the next.
            a = b = c = e = 0.0
            p = at + 1
            end = starts[first + rows[q] + 1]
            while p + 4 <= end:
                a += row[columns[p]] * values[p]
                b += row[columns[p + 1]] * values[p + 1]
                c += row[columns[p + 2]] * values[p + 2]
                e += row[columns[p + 3]] * values[p + 3]
                p += 4
            while p < end:
                a += row[columns[p]] * values[p]
                p += 1
            out[first + rows[q]] += value * (2.0 * ((a + b) + (c + e)) + row[i] * value)


@compiled
def _times(
    starts: NDArray[np.int64],
    columns: NDArray[np.uint32],
    values: NDArray[np.float32],
    first: int,
    last: int,
    weights: Floats,
    out: Floats,
) -> None:
    """Rows ``first`` to ``last`` of X W."""
    for t in range(first, last):
        row = out[t - first]
        row[:] = 0.0
        for p in range(starts[t], starts[t + 1]):
            value = np.float64(values[p])
            weight = weights[columns[p]]
            for k in range(len(row)):
                row[k] += value * weight[k]


@compiled
def _transposed_times(
    starts: NDArray[np.int64],
    columns: NDArray[np.uint32],
    values: NDArray[np.float32],
    z: Floats,
    out: Floats,
) -> None:
    """XᵀZ, passing over the rows of Z that are zero."""
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


@dataclass(frozen=True)
class CompressedRows:
    """X without its zeros: row t has ``values[starts[t]:starts[t+1]]`` in ``columns`` of the same."""

    starts: NDArray[np.int64]
    columns: NDArray[np.uint32]
    values: NDArray[np.float32]
    width: int

    @staticmethod
    def of(videos: tuple[NDArray[np.float32], ...]) -> "CompressedRows":
        """Compress the rows of every video, one after the other."""
        counts = [np.count_nonzero(x, axis=1) for x in videos]
        starts = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)
        width = videos[0].shape[1]
        columns = np.empty(starts[-1], np.uint16 if width <= 1 << 16 else np.uint32)
        values = np.empty(starts[-1], np.float32)
        row = 0
        for x in videos:
            _compress(np.ascontiguousarray(x), starts[row], values, columns)
            row += len(x)
        return CompressedRows(starts, columns, values, width)

    def _blocks(self, size: int = 2048) -> list[tuple[int, int]]:
        rows = len(self.starts) - 1
        return [(first, min(first + size, rows)) for first in range(0, rows, size)]

    def gram(self) -> Floats:
        """Upper triangle of XᵀX."""
        gram = np.zeros((self.width, self.width))
        for first, last in self._blocks():
            _add_gram(self.starts, self.columns, self.values, first, last, gram)
        return gram

    def quadratic(self, matrix: Floats) -> Floats:
        """x_tᵀ M x_t of every row, for a symmetric M."""
        out = np.zeros(len(self.starts) - 1)
        for first, last in self._blocks():
            _quadratic(self.starts, self.columns, self.values, first, last, matrix, out)
        return out

    def times(self, weights: Floats, first: int, last: int) -> Floats:
        """Rows ``first`` to ``last`` of X W."""
        out = np.empty((last - first, weights.shape[1]))
        _times(self.starts, self.columns, self.values, first, last, weights, out)
        return out

    def transposed_times(self, z: Floats) -> Floats:
        """XᵀZ."""
        out = np.zeros((self.width, z.shape[1]))
        _transposed_times(self.starts, self.columns, self.values, z, out)
        return out
