"""The features of the videos: checked, and products with all of them.

The features stay one array per video, possibly memory-mapped. If most entries are zero, as in
features of words, they are stacked as compressed rows; otherwise products go over blocks of dense
rows, and X is never copied into one array. Every product is accumulated in float64.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import blas, lapack
from scipy.sparse import csr_array, issparse, vstack

from howsteps.errors import HowstepsError

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.int64]
Indices = NDArray[np.uint32]
SparseArrays = tuple[Indices, Indices, Floats, Indices, Indices]
# T_n×d per video: NumPy arrays, or SciPy's compressed rows.
Videos: TypeAlias = Sequence[Any]

SPARSE_BELOW = 0.15  # share of non-zeros below which compressed rows are faster
_BLOCK_ROWS = 512


def too_short(video: int, length: int, steps: int) -> HowstepsError:
    """Return the error for a video with fewer intervals than steps."""
    return HowstepsError(
        f"video {video} has {length} intervals: too few to place {steps} steps in order"
    )


def checked_features(features: Sequence[ArrayLike], steps: int) -> tuple[NDArray[np.floating], ...]:
    """Return the features as arrays of one width, in float32 or float64.

    Raises
    ------
    HowstepsError
        If there is no video, or a video has another width, too few intervals for the steps, or an
        entry that is not a finite number.
    """
    if steps < 1:
        raise HowstepsError(f"at least one step is needed, not {steps}")
    videos: list[NDArray[np.floating]] = []
    for index, rows in enumerate(features):
        x = _array(rows, f"video {index}: features")
        if x.ndim != 2 or x.shape[1] == 0:
            raise HowstepsError(f"video {index}: features are T×d, not of shape {x.shape}")
        if x.dtype.kind not in "biuf":
            raise HowstepsError(f"video {index}: features are numbers, not {x.dtype}")
        if videos and x.shape[1] != videos[0].shape[1]:
            raise HowstepsError(
                f"video {index} has {x.shape[1]} features per interval, "
                f"video 0 has {videos[0].shape[1]}"
            )
        if len(x) < steps:
            raise too_short(index, len(x), steps)
        if not np.isfinite(x).all():
            row = int(np.flatnonzero(~np.isfinite(x).all(axis=1))[0])
            raise HowstepsError(f"video {index} has a feature that is not finite in interval {row}")
        videos.append(x if x.dtype in (np.float32, np.float64) else x.astype(np.float32))
    if not videos:
        raise HowstepsError("no video: at least one is needed")
    return tuple(videos)


def checked_windows(
    windows: Sequence[ArrayLike] | None, lengths: Sequence[int], steps: int
) -> tuple[Mask, ...]:
    """Return the windows as one boolean T_n×K array per video; all True without windows.

    Raises
    ------
    HowstepsError
        If they do not have the shape of the videos.
    """
    if windows is None:
        return tuple(np.ones((length, steps), np.bool_) for length in lengths)
    if len(windows) != len(lengths):
        raise HowstepsError(f"{len(lengths)} videos have features, {len(windows)} have windows")
    arrays = [_array(window, f"video {n}: windows") for n, window in enumerate(windows)]
    for video, (window, length) in enumerate(zip(arrays, lengths, strict=True)):
        if window.shape != (length, steps):
            raise HowstepsError(
                f"video {video}: windows of shape {window.shape}, "
                f"but {length} intervals and {steps} steps"
            )
    return tuple(np.asarray(window, np.bool_) for window in arrays)


def _array(rows: ArrayLike, description: str) -> NDArray[Any]:
    try:
        return np.asarray(rows)
    except ValueError:
        raise HowstepsError(f"{description} have rows of different lengths") from None


class FeatureProducts:
    """X (T×d), the features of all videos one below the other, and products with it.

    ``offsets`` (N + 1) has the first row of every video, and T.
    """

    def __init__(self, videos: Videos) -> None:
        self.offsets = np.concatenate([[0], np.cumsum([x.shape[0] for x in videos])])
        self.shape = int(self.offsets[-1]), int(videos[0].shape[1])
        nonzeros = sum(int(x.nnz if issparse(x) else np.count_nonzero(x)) for x in videos)
        self.sparse = bool(nonzeros < SPARSE_BELOW * self.shape[0] * self.shape[1])
        if self.sparse:
            self._dtype = videos[0].dtype
            self._rows = vstack([csr_array(x, dtype=np.float64) for x in videos], format="csr")
        else:
            self._videos = [x.toarray() if issparse(x) else x for x in videos]

    def video(self, video: int) -> Any:
        """X_n, in float64; compressed rows or a dense array."""
        if self.sparse:
            return self._rows[self.offsets[video] : self.offsets[video + 1]]
        return np.asarray(self._videos[video], np.float64)

    def blocks(self, video: int | None = None) -> Iterator[tuple[slice, Any]]:
        """Yield rows and blocks of X, or of one video, in float64, compressed or dense."""
        if self.sparse:
            block = self._rows if video is None else self.video(video)
            yield slice(0, block.shape[0]), block
            return
        offset = 0
        for x in self._videos if video is None else [self._videos[video]]:
            for first in range(0, len(x), _BLOCK_ROWS):
                block = x[first : first + _BLOCK_ROWS].astype(np.float64)
                yield slice(offset + first, offset + first + len(block)), block
            offset += len(x)

    def _dense_blocks(self) -> Iterator[Floats]:
        if not self.sparse:
            yield from (block for _, block in self.blocks())
            return
        for first in range(0, self.shape[0], _BLOCK_ROWS):
            yield self._rows[first : first + _BLOCK_ROWS].toarray()

    def times(self, weights: Floats, video: int | None = None) -> Floats:
        """X W, or its rows of one video."""
        return np.vstack([block @ weights for _, block in self.blocks(video)])

    def transposed_times(self, z: Floats) -> Floats:
        """XᵀZ."""
        if self.sparse:
            used = np.flatnonzero(z.any(axis=1))
            if 2 * len(used) < len(z):  # a placement has only K ones per video
                return cast(Floats, self._rows[used].T @ z[used])
            return cast(Floats, self._rows.T @ z)
        out = np.zeros((self.shape[1], z.shape[1]))
        for rows, block in self.blocks():
            if z[rows].any():
                out += block.T @ z[rows]
        return out

    def rows(self, indices: NDArray[np.int64]) -> Floats:
        """Rows of X, dense."""
        if self.sparse:
            return cast(Floats, self._rows[indices].toarray())
        owners = np.searchsorted(self.offsets, indices, side="right") - 1
        rows = [self._videos[n][t - self.offsets[n]] for n, t in zip(owners, indices, strict=True)]
        return np.array(rows, np.float64).reshape(len(indices), self.shape[1])

    def inverse(self, ridge: float) -> Floats:
        """(XᵀX + ridge·I)⁻¹."""
        gram = np.zeros((self.shape[1], self.shape[1]), order="F")
        for block in self._dense_blocks():
            gram = blas.dsyrk(1.0, block.T, beta=1.0, c=gram, lower=1, overwrite_c=1)
        return _inverse(gram.T, ridge)

    def sparse_arrays(self) -> SparseArrays:
        """Compressed rows, and the rows of the entries of every column."""
        by_column, rows = self._rows.tocsc(), self._rows
        # Narrow values and unsigned indices, none of which counts from the end, are faster.
        arrays = rows.indptr, rows.indices, by_column.indptr, by_column.indices
        starts, columns, column_starts, row_of = (each.astype(np.uint32) for each in arrays)
        return starts, columns, rows.data.astype(self._dtype), column_starts, row_of

    def kernel_inverse(self, ridge: float) -> Floats:
        """(XXᵀ + ridge·I)⁻¹; meant for T < d."""
        x = self._rows.toarray() if self.sparse else np.vstack(self._videos).astype(np.float64)
        return _inverse(x @ x.T, ridge)

    def hat(self, matrix: Floats, video: int) -> Floats:
        """X_n M X_nᵀ of one video, for a symmetric M (d×d)."""
        x = self.video(video)
        if self.sparse:
            # One narrator uses few of all words, so few columns of M are needed.
            used = np.unique(x.indices)
            x, matrix = x[:, used], matrix[np.ix_(used, used)]
        product: Floats = x @ (x @ matrix).T if self.sparse else x @ matrix @ x.T
        return product


def _inverse(upper: Floats, ridge: float) -> Floats:
    """Return (M + ridge·I)⁻¹ of a symmetric M ⪰ 0, given by its upper triangle, in its memory."""
    upper[np.diag_indices(len(upper))] += ridge
    factor, failed = lapack.dpotrf(upper.T, lower=1, overwrite_a=1, clean=0)
    if not failed:
        _, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if failed:
        raise HowstepsError("the Gram matrix is not positive definite: raise the regularisation")
    for first in range(0, len(upper), _BLOCK_ROWS):  # mirror the triangle, without a second copy
        last = min(first + _BLOCK_ROWS, len(upper))
        upper[last:, first:last] = upper[first:last, last:].T
        square = upper[first:last, first:last]
        square[:] = np.triu(square) + np.triu(square, 1).T
    return upper
