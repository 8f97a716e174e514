"""Files that are either whole or not there."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from howsteps.errors import CannotWrite, InputError

_BLOCK = 1 << 20


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file beside its place and rename it, so that a killed run leaves no half of it."""
    # No other process, on this machine or one that shares the folder, writes under the same name.
    beside = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            # Without this a power cut can leave the new name on an empty file.
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error


def sha256_of_file(path: Path) -> str:
    """SHA-256 of a file's bytes, read in blocks: what a file *is*, wherever it lies."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from error
    return digest.hexdigest()
