"""Words: the centres of k-means on local descriptors, and the nearest one to each."""

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import InputError, MissingExtra
from howsteps.io.arrays import read_arrays

SAMPLE = 100  # descriptors for each word that the centres are learnt from
_BLOCK = 4096  # descriptors whose distances are held at once


@dataclass(frozen=True, slots=True)
class Codebook:
    """Words of one kind of descriptors.

    Attributes
    ----------
    centres
        k×d.
    origin
        What the descriptors are made with: only such descriptors have these words.
    """

    centres: NDArray[np.float32]
    origin: str

    def __len__(self) -> int:
        return len(self.centres)

    @property
    def digest(self) -> str:
        """What the vocabulary is by its content."""
        return hashlib.sha256(np.ascontiguousarray(self.centres).tobytes()).hexdigest()

    def words(self, descriptors: NDArray[np.float32]) -> NDArray[np.int32]:
        """The nearest centre of each: argmin_k ‖x − c_k‖² = argmax_k (x·c_k − ‖c_k‖²/2)."""
        half = (self.centres**2).sum(axis=1) / 2
        found = np.empty(len(descriptors), np.int32)
        for start in range(0, len(descriptors), _BLOCK):
            block = slice(start, start + _BLOCK)
            found[block] = (descriptors[block] @ self.centres.T - half).argmax(axis=1)
        return found


def learn_codebook(
    descriptors: NDArray[np.float32], words: int, origin: str, seed: int = 0
) -> Codebook:
    """Mini-batch k-means; fewer distinct descriptors than words are words themselves."""
    try:
        from sklearn.cluster import MiniBatchKMeans  # noqa: PLC0415 - slow to load
    except ImportError as error:
        raise MissingExtra("paper", "learning a vocabulary") from error
    # Only a small sample can be too few, and only then is it worth the sorting.
    if len(descriptors) < 2 * words:
        distinct = np.unique(descriptors, axis=0)
        if len(distinct) <= words:
            return Codebook(distinct, origin)
    means = MiniBatchKMeans(
        words,
        batch_size=_BLOCK,
        max_iter=10,
        n_init=1,
        init_size=3 * words,
        random_state=seed,
        reassignment_ratio=0.001,
    )
    means.fit(descriptors)
    return Codebook(means.cluster_centers_.astype(np.float32), origin)


def to_bytes(vocabularies: dict[str, Codebook]) -> bytes:
    """Vocabularies by kind as an ``.npz``, to be used again by another collection."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for kind, vocabulary in vocabularies.items():
        arrays[f"{kind}.centres"] = vocabulary.centres
        arrays[f"{kind}.origin"] = np.array(vocabulary.origin)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # names come from a dictionary
    return buffer.getvalue()


def read_codebooks(path: Path) -> dict[str, Codebook]:
    """Read vocabularies that were saved.

    Raises
    ------
    InputError
        It is no such file.
    """
    arrays = read_arrays(path)
    kinds = [name.removesuffix(".centres") for name in arrays if name.endswith(".centres")]
    if not kinds or any(f"{kind}.origin" not in arrays for kind in kinds):
        raise InputError(path, "holds no vocabulary")
    found = {
        kind: Codebook(arrays[f"{kind}.centres"], str(arrays[f"{kind}.origin"])) for kind in kinds
    }
    for centres in (codebook.centres for codebook in found.values()):
        if centres.ndim != 2 or centres.dtype != np.float32 or not np.isfinite(centres).all():
            raise InputError(path, "holds no vocabulary")
    return found
