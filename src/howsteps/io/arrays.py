"""Read ``.npy`` and ``.npz`` files from untrusted sources.

Nothing is unpickled, sizes are checked before anything is decompressed, and of the many exceptions
of ``np.load`` each is an ``InputError``.
"""

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import InputError
from howsteps.io.files import read_bounded

_LARGEST = 8 * 2**30  # bytes of a file


def read_matrix(path: Path) -> NDArray[Any]:
    """Read the array of a ``.npy`` file."""
    content = read_bounded(path, _LARGEST, "arrays")
    try:
        return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except Exception as error:
        raise InputError(path, f"is not a complete .npy file ({error})") from error


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read the arrays of a ``.npz`` file that is not compressed, by name."""
    return unpack_arrays(read_bounded(path, _LARGEST, "arrays"), path)


def unpack_arrays(content: bytes, path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays in the bytes of a ``.npz`` file; ``path`` is used in messages."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            # A zip bomb claims to be larger than its file; no more than it claims is read.
            size = sum(member.file_size for member in archive.zip.infolist())
            if size > len(content):
                raise ValueError("it is compressed, or damaged")
            found = dict(archive)
    except Exception as error:
        raise InputError(path, f"is not a complete .npz file ({error})") from error
    if other := [name for name, array in found.items() if not isinstance(array, np.ndarray)]:
        raise InputError(path, f"is not a complete .npz file ({other[0]} is not an array)")
    return found
