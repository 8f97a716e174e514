"""Codebooks: centres of k-means on local descriptors (visual words)."""

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import InputError, MissingExtra
from howsteps.io.arrays import read_arrays

SAMPLE = 100  # training descriptors per codeword
_BLOCK = 4096  # descriptors whose distances are in memory at once


@dataclass(frozen=True, slots=True)
class Codebook:
    """The codewords of one kind of descriptors.

    Attributes
    ----------
    centres
        k×d.
    origin
        Identifies how the descriptors were computed: the codebook is valid for such ones only.
    """

    centres: NDArray[np.float32]
    origin: str

    def __len__(self) -> int:
        return len(self.centres)

    @property
    def digest(self) -> str:
        """SHA-256 of the centres, in hexadecimal."""
        return hashlib.sha256(np.ascontiguousarray(self.centres).tobytes()).hexdigest()

    def assign(self, descriptors: NDArray[np.float32]) -> NDArray[np.int32]:
        """Return the nearest codeword of each descriptor (n×d).

        argmin_k ‖x − c_k‖² = argmax_k (x·c_k − ‖c_k‖²/2).
        """
        half_norms = (self.centres**2).sum(axis=1) / 2
        codewords = np.empty(len(descriptors), np.int32)
        for start in range(0, len(descriptors), _BLOCK):
            block = slice(start, start + _BLOCK)
            codewords[block] = (descriptors[block] @ self.centres.T - half_norms).argmax(axis=1)
        return codewords


def learn_codebook(
    descriptors: NDArray[np.float32], size: int, origin: str, seed: int = 0
) -> Codebook:
    """Learn a codebook of ``size`` codewords from descriptors (n×d) by mini-batch k-means.

    If there are no more than ``size`` distinct descriptors, these are the codewords.
    """
    try:
        from sklearn.cluster import MiniBatchKMeans  # noqa: PLC0415 - slow to load
    except ImportError as error:
        raise MissingExtra("paper", "learning a codebook") from error
    # Sorting a large sample would be slow, and it has enough distinct descriptors.
    if len(descriptors) < 2 * size:
        distinct = np.unique(descriptors, axis=0)
        if len(distinct) <= size:
            return Codebook(distinct, origin)
    kmeans = MiniBatchKMeans(
        size,
        batch_size=_BLOCK,
        max_iter=10,
        n_init=1,
        init_size=3 * size,
        random_state=seed,
        reassignment_ratio=0.001,
    )
    kmeans.fit(descriptors)
    return Codebook(kmeans.cluster_centers_.astype(np.float32), origin)


def to_bytes(codebooks: dict[str, Codebook]) -> bytes:
    """Return codebooks by kind as the content of an ``.npz`` file."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for kind, codebook in codebooks.items():
        arrays[f"{kind}.centres"] = codebook.centres
        arrays[f"{kind}.origin"] = np.array(codebook.origin)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # names come from a dictionary
    return buffer.getvalue()


def read_codebooks(path: Path) -> dict[str, Codebook]:
    """Read codebooks by kind from a file that :func:`to_bytes` made.

    Raises
    ------
    InputError
        If it is not such a file.
    """
    arrays = read_arrays(path)
    kinds = [name.removesuffix(".centres") for name in arrays if name.endswith(".centres")]
    if not kinds or any(f"{kind}.origin" not in arrays for kind in kinds):
        raise InputError(path, "holds no codebook")
    codebooks = {
        kind: Codebook(arrays[f"{kind}.centres"], str(arrays[f"{kind}.origin"])) for kind in kinds
    }
    for centres in (codebook.centres for codebook in codebooks.values()):
        if centres.ndim != 2 or centres.dtype != np.float32 or not np.isfinite(centres).all():
            raise InputError(path, "holds no codebook")
    return codebooks
