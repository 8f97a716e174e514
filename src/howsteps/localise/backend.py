"""Products with the features of all videos, on the CPU or a GPU.

The features stay one float32 array per video, possibly memory-mapped: on the CPU, X is never copied
into one array. Every product is accumulated in float64. There are three implementations:

* ``NumpyBackend`` with compressed rows, if most entries are zero (:mod:`howsteps.localise.sparse`);
* ``NumpyBackend`` with blocks of dense rows otherwise;
* ``TorchBackend``, dense blocks through PyTorch on a CUDA device.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError, MissingExtra, unknown_name

if TYPE_CHECKING:
    from howsteps.localise.sparse import CompressedRows, PackedSymmetricMatrix

Floats = NDArray[np.float64]
# T_n×d per video; :class:`howsteps.localise.sparse.CompressedVideos` if most entries are zero.
Videos = Sequence[NDArray[np.float32]]

SPARSE_BELOW = 0.15  # share of non-zeros below which compressed rows are faster
_BLOCK_ROWS = 512


class Backend(Protocol):
    """Linear algebra with the features X (T×d); takes and returns NumPy arrays."""

    offsets: NDArray[np.int64]

    def inverse(self, ridge: float) -> Any:
        """(XᵀX + ridge·I)⁻¹, kept on the device."""
        ...

    def kernel_inverse(self, ridge: float) -> Any:
        """(XXᵀ + ridge·I)⁻¹, kept on the device; meant for T < d."""
        ...

    def apply(self, matrix: Any, right: Floats) -> Floats:
        """M R."""
        ...

    def quadratic(self, matrix: Any) -> Floats:
        """x_tᵀ M x_t of every row."""
        ...

    def diagonal(self, matrix: Any) -> Floats:
        """Diagonal of M."""
        ...

    def hat(self, matrix: Any, video: int) -> Floats:
        """X_n M X_nᵀ of one video; M is an :meth:`inverse`."""
        ...

    def times(self, weights: Floats, video: int | None = None) -> Floats:
        """X W, or its rows of one video."""
        ...

    def transposed_times(self, z: Floats) -> Floats:
        """XᵀZ."""
        ...

    def rows(self, indices: NDArray[np.int64]) -> Floats:
        """Rows of X."""
        ...


def make_backend(videos: Videos, device: str = "cpu") -> Backend:
    """Return the backend of a device.

    ``device`` is ``"cpu"`` (compressed or dense, by the share of zeros), ``"cuda"``, ``"cuda:N"``,
    or ``"torch-cpu"``: PyTorch on the CPU, to test the code for GPUs without one.
    """
    if device == "cpu":
        nonzeros = sum(np.count_nonzero(x) for x in videos)
        entries = sum(x.size for x in videos)
        return NumpyBackend(videos, compress=bool(nonzeros < SPARSE_BELOW * entries))
    if device == "torch-cpu" or device.partition(":")[0] == "cuda":
        return TorchBackend(videos, device.removeprefix("torch-"))
    raise HowstepsError(unknown_name("device", device, ("cpu", "cuda", "torch-cpu")))


def _offsets(videos: Videos) -> NDArray[np.int64]:
    """Return the first row of every video in X, and the number of rows; N + 1."""
    return np.concatenate([[0], np.cumsum([len(x) for x in videos])]).astype(np.int64)


def _blocks(videos: Videos) -> Iterator[tuple[int, int, NDArray[np.float32]]]:
    """Yield first row, end row and rows of blocks of X; no block crosses videos."""
    offset = 0
    for x in videos:
        for first in range(0, len(x), _BLOCK_ROWS):
            block = x[first : first + _BLOCK_ROWS]
            yield offset + first, offset + first + len(block), block
        offset += len(x)


def _mirror(matrix: Floats) -> None:
    """Copy the upper triangle of a C-ordered matrix to the lower one, in place, by blocks."""
    for first in range(0, len(matrix), _BLOCK_ROWS):
        last = min(first + _BLOCK_ROWS, len(matrix))
        matrix[last:, first:last] = matrix[first:last, last:].T
        square = matrix[first:last, first:last]
        square[:] = np.triu(square) + np.triu(square, 1).T


def _invert(upper: Floats, ridge: float) -> None:
    """Replace a symmetric M ⪰ 0 by (M + ridge·I)⁻¹ in place; only upper triangles are used."""
    from scipy.linalg import lapack  # noqa: PLC0415 - not needed on another device

    upper[np.diag_indices(len(upper))] += ridge
    factor, failed = lapack.dpotrf(upper.T, lower=1, overwrite_a=1, clean=0)
    if not failed:
        _, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if failed:
        raise HowstepsError("the Gram matrix is not positive definite: raise the regularisation")


class NumpyBackend:
    """Products on the CPU, with compressed rows or dense blocks."""

    def __init__(self, videos: Videos, compress: bool) -> None:
        self.offsets = _offsets(videos)
        self._videos = videos
        self.sparse = compress

    @cached_property
    def _compressed(self) -> "CompressedRows | None":
        """Compressed rows; made on first use, after the Gram matrix has been freed."""
        if not self.sparse:
            return None
        from howsteps.localise.sparse import CompressedRows  # noqa: PLC0415 - needs a compiler

        return CompressedRows.of(self._videos)

    def inverse(self, ridge: float) -> "Floats | PackedSymmetricMatrix":
        """(XᵀX + ridge·I)⁻¹."""
        if self.sparse:
            from howsteps.localise.sparse import (  # noqa: PLC0415 - needs a compiler
                PackedSymmetricMatrix,
            )
            from howsteps.localise.sparse import gram as sparse_gram  # noqa: PLC0415

            gram = sparse_gram(self._videos)
            _invert(gram, ridge)
            return PackedSymmetricMatrix.of(gram)
        from scipy.linalg import blas  # noqa: PLC0415 - not needed on another device

        width = self._videos[0].shape[1]
        gram = np.zeros((width, width), order="F")
        for _, _, block in _blocks(self._videos):
            wide = block.astype(np.float64)
            gram = blas.dsyrk(1.0, wide.T, beta=1.0, c=gram, lower=1, overwrite_c=1)
        _invert(gram.T, ridge)
        _mirror(gram.T)
        return gram

    def kernel_inverse(self, ridge: float) -> Floats:
        """(XXᵀ + ridge·I)⁻¹."""
        x = np.vstack(self._videos).astype(np.float64)
        gram = x @ x.T
        _invert(gram, ridge)
        _mirror(gram)
        return gram

    def apply(self, matrix: "Floats | PackedSymmetricMatrix", right: Floats) -> Floats:
        """M R."""
        return matrix @ right

    def diagonal(self, matrix: Floats) -> Floats:
        """Diagonal of M."""
        return np.diag(matrix).copy()

    def quadratic(self, matrix: "Floats | PackedSymmetricMatrix") -> Floats:
        """x_tᵀ M x_t of every row."""
        if self._compressed is not None:
            return self._compressed.quadratic(cast("PackedSymmetricMatrix", matrix))
        full = cast(Floats, matrix)
        out = np.empty(self.offsets[-1])
        for first, last, block in _blocks(self._videos):
            wide = block.astype(np.float64)
            out[first:last] = np.einsum("td,td->t", wide @ full, wide)
        return out

    def hat(self, matrix: "Floats | PackedSymmetricMatrix", video: int) -> Floats:
        """X_n M X_nᵀ of one video."""
        if self._compressed is not None:
            first, last = self.offsets[video : video + 2]
            return self._compressed.hat(cast("PackedSymmetricMatrix", matrix), first, last)
        x = np.asarray(self._videos[video], np.float64)
        product: Floats = x @ cast(Floats, matrix) @ x.T
        return product

    def times(self, weights: Floats, video: int | None = None) -> Floats:
        """X W, or the rows of one video."""
        first, last = (0, self.offsets[-1]) if video is None else self.offsets[video : video + 2]
        if self._compressed is not None:
            return self._compressed.times(np.ascontiguousarray(weights), first, last)
        videos = self._videos if video is None else (self._videos[video],)
        return np.vstack([block.astype(np.float64) @ weights for _, _, block in _blocks(videos)])

    def transposed_times(self, z: Floats) -> Floats:
        """XᵀZ."""
        if self._compressed is not None:
            return self._compressed.transposed_times(np.ascontiguousarray(z))
        out = np.zeros((self._videos[0].shape[1], z.shape[1]))
        for first, last, block in _blocks(self._videos):
            if z[first:last].any():
                out += block.astype(np.float64).T @ z[first:last]
        return out

    def rows(self, indices: NDArray[np.int64]) -> Floats:
        """Rows of X."""
        owners = np.searchsorted(self.offsets, indices, side="right") - 1
        return np.array(
            [self._videos[n][t - self.offsets[n]] for n, t in zip(owners, indices, strict=True)],
            np.float64,
        ).reshape(len(indices), self._videos[0].shape[1])


class TorchBackend:
    """The dense products through PyTorch; the features are copied to the device once."""

    def __init__(self, videos: Videos, device: str) -> None:
        try:
            import torch  # noqa: PLC0415 - an optional extra
        except ImportError:
            raise MissingExtra("gpu", f"device={device!r}") from None
        if device != "cpu" and not torch.cuda.is_available():
            raise HowstepsError(f"device {device!r} needs CUDA, and PyTorch finds no CUDA device")
        self._torch = torch
        self._device = torch.device(device)
        self.offsets = _offsets(videos)
        self._x: Any = torch.empty(
            (int(self.offsets[-1]), videos[0].shape[1]), dtype=torch.float32, device=self._device
        )
        for x, first in zip(videos, self.offsets, strict=False):
            self._x[first : first + len(x)] = torch.from_numpy(np.array(x, np.float32))

    def _wide_blocks(self) -> Iterator[tuple[int, int, Any]]:
        size = 8 * _BLOCK_ROWS
        for first in range(0, len(self._x), size):
            block = self._x[first : first + size].double()
            yield first, first + len(block), block

    def _put(self, array: Floats) -> Any:
        return self._torch.from_numpy(np.ascontiguousarray(array)).to(self._device)

    def _invert(self, matrix: Any, ridge: float) -> Any:
        matrix.diagonal().add_(ridge)
        return self._torch.cholesky_inverse(self._torch.linalg.cholesky(matrix))

    def inverse(self, ridge: float) -> Any:
        """(XᵀX + ridge·I)⁻¹."""
        width = self._x.shape[1]
        gram = self._torch.zeros((width, width), dtype=self._torch.float64, device=self._device)
        for _, _, block in self._wide_blocks():
            gram.addmm_(block.T, block)
        return self._invert(gram, ridge)

    def kernel_inverse(self, ridge: float) -> Any:
        """(XXᵀ + ridge·I)⁻¹."""
        x = self._x.double()
        return self._invert(x @ x.T, ridge)

    def apply(self, matrix: Any, right: Floats) -> Floats:
        """M R."""
        product: Floats = (matrix @ self._put(right)).cpu().numpy()
        return product

    def diagonal(self, matrix: Any) -> Floats:
        """Diagonal of M."""
        diagonal: Floats = matrix.diagonal().cpu().numpy().copy()
        return diagonal

    def quadratic(self, matrix: Any) -> Floats:
        """x_tᵀ M x_t of every row."""
        parts = [((block @ matrix) * block).sum(dim=1) for _, _, block in self._wide_blocks()]
        values: Floats = self._torch.cat(parts).cpu().numpy()
        return values

    def hat(self, matrix: Any, video: int) -> Floats:
        """X_n M X_nᵀ of one video."""
        first, last = self.offsets[video : video + 2]
        x = self._x[first:last].double()
        product: Floats = (x @ matrix @ x.T).cpu().numpy()
        return product

    def times(self, weights: Floats, video: int | None = None) -> Floats:
        """X W, or the rows of one video."""
        on_device = self._put(weights)
        product: Floats
        if video is None:
            parts = [block @ on_device for _, _, block in self._wide_blocks()]
            product = self._torch.cat(parts).cpu().numpy()
        else:
            first, last = self.offsets[video : video + 2]
            product = (self._x[first:last].double() @ on_device).cpu().numpy()
        return product

    def transposed_times(self, z: Floats) -> Floats:
        """XᵀZ."""
        on_device = self._put(z)
        out = self._torch.zeros(
            (self._x.shape[1], z.shape[1]), dtype=self._torch.float64, device=self._device
        )
        for first, last, block in self._wide_blocks():
            out += block.T @ on_device[first:last]
        product: Floats = out.cpu().numpy()
        return product

    def rows(self, indices: NDArray[np.int64]) -> Floats:
        """Rows of X."""
        chosen: Floats = self._x[self._torch.from_numpy(indices)].double().cpu().numpy()
        return chosen
