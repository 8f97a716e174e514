"""Read ``.npy`` and ``.npz`` files from untrusted sources.

``np.load`` trusts the size in the header, decompresses without limit, and raises many types of
exceptions. Here nothing is unpickled, sizes are checked against the size of the file, and every
error is an ``InputError``.
"""

import io
import zipfile
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from howsteps.errors import InputError
from howsteps.io.files import read_bounded

_LARGEST = 8 * 2**30  # bytes of a file
MAX_COMPRESSION = 100  # bytes of arrays per byte stored; features take a tenth at best


def read_matrix(path: Path) -> NDArray[Any]:
    """Read the array of a ``.npy`` file.

    Raises
    ------
    InputError
        The file is missing, truncated or of another format.
    """
    content = read_bounded(path, _LARGEST, "arrays")
    try:
        return _array(content)
    except Exception as error:  # the header parser raises many types
        raise InputError(path, f"is not a complete .npy file ({error})") from error


def read_arrays(path: Path, *, compressed: bool = False) -> dict[str, NDArray[Any]]:
    """Read the arrays of a ``.npz`` file, by name.

    Raises
    ------
    InputError
        The file is missing, truncated, of another format, or compressed: at all or, if
        ``compressed`` is allowed, beyond ``MAX_COMPRESSION``.
    """
    return unpack_arrays(read_bounded(path, _LARGEST, "arrays"), path, compressed=compressed)


def unpack_arrays(
    content: bytes, path: Path, *, compressed: bool = False
) -> dict[str, NDArray[Any]]:
    """Return the arrays in the bytes of a ``.npz`` file; ``path`` is used in messages."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            # A zip bomb claims to be larger than its file; no more than it claims is read.
            size = sum(member.file_size for member in members)
            if size > len(content) and not compressed:
                raise ValueError("it is compressed, or damaged")
            if size > min(MAX_COMPRESSION * len(content), _LARGEST):
                raise ValueError("it holds far more than its size")
            return {m.filename.removesuffix(".npy"): _array(archive.read(m)) for m in members}
    except Exception as error:  # zipfile and the header parser raise many types
        raise InputError(path, f"is not a complete .npz file ({error})") from error


def _array(content: bytes) -> NDArray[Any]:
    """Return the array in the bytes of a ``.npy`` file."""
    file = io.BytesIO(content)
    version = npy.read_magic(file)
    if version not in {(1, 0), (2, 0)}:
        raise ValueError(f"version {version} of the format")
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, is_fortran, dtype = read_header(file)
    if dtype.hasobject:
        raise ValueError("it contains objects")
    if prod(shape) * dtype.itemsize != len(content) - file.tell() or min(shape, default=0) < 0:
        raise ValueError("its header does not fit its size")
    if prod(shape) == 0:
        return np.empty(shape, dtype)
    numbers = np.frombuffer(content, dtype, offset=file.tell())
    return numbers.reshape(shape, order="F" if is_fortran else "C").copy()
