"""A folder of what was computed before, each entry named by what it was computed from.

An entry is one file under ``folder/stage/`` with its checksum beside it. The checksum is written
last: an entry that was cut off, or damaged later, does not agree with it, counts as missing and
is made again.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.io.arrays import unpack_arrays
from howsteps.io.files import write_atomically


def key_of(version: int, **parts: object) -> str:
    """The name of an entry: a hash of the stage's version, its inputs and its options.

    Parts are what JSON can say, frozen dataclasses of it, or the keys of other entries. Anything
    else is refused: two different inputs must never share a name because they print alike.
    """
    text = json.dumps(
        {"version": version, **parts}, sort_keys=True, default=_plain, allow_nan=False
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object) -> object:
    """A dataclass as a dictionary, under the name of its class."""
    if is_dataclass(value) and not isinstance(value, type):
        return {type(value).__name__: asdict(value)}
    raise TypeError(f"{type(value).__name__} cannot be part of a cache key")


class Cache:
    """Entries of all stages under one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def json(self, stage: str, key: str) -> Any | None:
        """What JSON was kept; None when there is none that can be trusted."""
        content = self._read(self.path(stage, key, "json"))
        return None if content is None else json.loads(content)

    def put_json(self, stage: str, key: str, content: object) -> Path:
        """Keep what JSON can say."""
        text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
        return self._write(self.path(stage, key, "json"), f"{text}\n".encode())

    def arrays(self, stage: str, key: str) -> dict[str, NDArray[Any]] | None:
        """The arrays that were kept under their names; None when none can be trusted."""
        path = self.path(stage, key, "npz")
        content = self._read(path)
        return None if content is None else unpack_arrays(content, path)

    def put_arrays(self, stage: str, key: str, arrays: Mapping[str, NDArray[Any]]) -> Path:
        """Keep arrays under their names; the same arrays always give the same bytes."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, array in arrays.items():
                # Opened by name, an entry is dated 1980 instead of now.
                with archive.open(f"{name}.npy", "w") as entry:
                    np.lib.format.write_array(entry, array, allow_pickle=False)
        return self._write(self.path(stage, key, "npz"), buffer.getvalue())

    def holds(self, stage: str, key: str, kind: str) -> bool:
        """Whether there is an entry that can be trusted."""
        return self._read(self.path(stage, key, kind)) is not None

    def path(self, stage: str, key: str, kind: str) -> Path:
        """Where an entry lies."""
        return self.folder / stage / f"{key}.{kind}"

    def _read(self, path: Path) -> bytes | None:
        try:
            content = path.read_bytes()
            checksum = _checksum_file(path).read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None
        return content if hashlib.sha256(content).hexdigest() == checksum else None

    def _write(self, path: Path, content: bytes) -> Path:
        write_atomically(path, content)
        write_atomically(_checksum_file(path), f"{hashlib.sha256(content).hexdigest()}\n".encode())
        return path


def _checksum_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")
