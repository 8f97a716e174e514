"""Read files within a size limit, write them atomically, and hash them."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from howsteps.errors import CannotWrite, InputError

_BLOCK = 1 << 20


def read_bounded(path: Path, largest: int, kind: str) -> bytes:
    """Return the bytes of a file of at most ``largest`` bytes.

    Raises
    ------
    InputError
        The file cannot be opened, is not a regular file, is too large to be of its ``kind``, or
        changes while it is read.
    """
    try:
        # Reading a pipe or a device could block forever.
        if not path.is_file():
            raise InputError(path, "is not a file" if path.exists() else "no such file")
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > largest:
                limit = f"{size / 2**20:.0f} MB; the limit is {largest // 2**20} MB"
                raise InputError(path, f"is too large to be {kind} ({limit})")
            data = file.read(size + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(path, f"cannot be read: {reason}") from error
    if len(data) != size:
        raise InputError(path, "changed while it was read; wait until it is written, and try again")
    return data


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file under a temporary name and rename it, so that it is never half written."""
    # The name is unique, also among machines that share the folder.
    temporary = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            # Without this a power cut can leave the new name on an empty file.
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error


def sha256_of_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, read in blocks."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from error
    return digest.hexdigest()
