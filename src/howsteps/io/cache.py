"""The cache: a folder of stage results, each named by the hash of all it was computed from."""

import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from howsteps.errors import InputError
from howsteps.io.arrays import unpack_arrays
from howsteps.io.files import Folder, read_bounded

_LARGEST = 8 * 2**30  # bytes of an entry
_CHECKSUM = 66  # bytes: a line break before and after 64 digits
_T = TypeVar("_T")


class Cache:
    """The entries of all stages, under one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, stage: str, key: str, kind: type[_T]) -> _T | None:
        """The value of an entry; None if it is missing or damaged."""
        content = self._read(self.path(stage, key, "json"))
        try:
            return None if content is None else msgspec.json.decode(content, type=kind)
        except msgspec.DecodeError:  # written by another version of this stage
            return None

    def put(self, stage: str, key: str, value: object) -> Path:
        """Write an entry as JSON."""
        return self._write(stage, f"{key}.json", msgspec.json.encode(value))

    def arrays(self, stage: str, key: str) -> dict[str, NDArray[Any]] | None:
        """The arrays of an entry by name; None if it is missing or damaged."""
        path = self.path(stage, key, "npz")
        content = self._read(path)
        try:
            return None if content is None else unpack_arrays(content, path)
        except InputError:
            return None

    def put_arrays(self, stage: str, key: str, arrays: Mapping[str, NDArray[Any]]) -> Path:
        """Write an entry of named arrays; the same arrays always give the same bytes."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, array in arrays.items():
                # Opened by name, an archive member is dated 1980 instead of now.
                with archive.open(f"{name}.npy", "w") as entry:
                    np.lib.format.write_array(entry, array, allow_pickle=False)
        return self._write(stage, f"{key}.npz", buffer.getvalue())

    def path(self, stage: str, key: str, kind: str) -> Path:
        """The path of an entry."""
        return self.folder / stage / f"{key}.{kind}"

    def _read(self, path: Path) -> bytes | None:
        try:
            entry = read_bounded(path, _LARGEST, "an entry of the cache")
        except InputError:
            return None
        content, checksum = entry[:-_CHECKSUM], entry[-_CHECKSUM:]
        return content if _checksum(content) == checksum else None

    def _write(self, stage: str, name: str, content: bytes) -> Path:
        return (Folder(self.folder) / stage).write(name, (content, _checksum(content)))


def _checksum(content: bytes) -> bytes:
    """The last line of an entry, which shows whether it is damaged."""
    return f"\n{hashlib.sha256(content).hexdigest()}\n".encode()
