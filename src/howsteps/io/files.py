"""Read files within a size limit, write them atomically, and hash them."""

import hashlib
import json
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from howsteps.errors import CannotWrite, InputError

_BLOCK = 1 << 20
_CHANGED = "changed while it was read; wait until it is written, and try again"


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading; a pipe or a device could block forever.

    Raises
    ------
    InputError
        There is no such file, it is not a regular file, or it cannot be opened.
    """
    try:
        file: BinaryIO = open(path, "rb", opener=_open_nonblocking)  # noqa: SIM115
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(path, "no such file") from error
    except IsADirectoryError as error:
        raise InputError(path, "is not a file") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise _unreadable(path, error) from error
    if not stat.S_ISREG(os.stat(file.fileno()).st_mode):
        file.close()
        raise InputError(path, "is not a file")
    return file


def _open_nonblocking(path: str, flags: int) -> int:
    """Open a file without blocking on a pipe whose other end is not open."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _unreadable(path: Path, error: OSError | ValueError) -> InputError:
    return InputError(path, f"cannot be read: {getattr(error, 'strerror', None) or error}")


def check_exists(path: Path) -> None:
    """Raise an ``InputError`` if a path does not exist or is invalid."""
    try:
        if path.exists():
            return
    except (OSError, ValueError) as error:  # such as a name of thousands of characters
        raise _unreadable(path, error) from error
    raise InputError(path, "no such file or folder")


def read_bounded(path: Path, largest: int, kind: str) -> bytes:
    """Return the bytes of a file of at most ``largest`` bytes.

    Raises
    ------
    InputError
        The file cannot be opened, is not a regular file, is too large to be of its ``kind``, or
        changes while it is read.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > largest:
            limit = f"{size / 2**20:.0f} MB; the limit is {largest // 2**20} MB"
            raise InputError(path, f"is too large to be {kind} ({limit})")
        try:
            data = file.read(size + 1)
        except OSError as error:
            raise _unreadable(path, error) from error
    if len(data) != size:
        raise InputError(path, _CHANGED)
    return data


def fingerprint(path: Path) -> tuple[int, int]:
    """Return the size and modification time (ns) of a file.

    Raises
    ------
    InputError
        There is no such file, or it cannot be accessed.
    """
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise InputError(path, "no such file") from error
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    return status.st_size, status.st_mtime_ns


def check_unchanged(path: Path, before: tuple[int, int]) -> None:
    """Raise an ``InputError`` if a file has changed since its :func:`fingerprint` was taken."""
    if fingerprint(path) != before:
        raise InputError(path, _CHANGED)


def own_folder(root: Path, *names: str) -> Path:
    """Return the folder ``root/names…`` that howsteps writes to, or deletes its own files from.

    A work folder may come from somebody else, and a link in it may lead to any folder of the user.

    Raises
    ------
    CannotWrite
        Below ``root``, the path leads through a link.
    """
    path = root
    for name in names:
        path = path / name
        if path.is_symlink():
            raise CannotWrite(f"{path} is a link; howsteps only writes to folders of its own")
    return path


def write_atomically(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file under a temporary name and rename it, so that it is never incomplete.

    Large content may be given in parts, to limit memory. A device or pipe, such as ``/dev/stdout``,
    is written to and not replaced.
    """
    parts = [content] if isinstance(content, bytes) else content
    if path.exists() and not path.is_file():
        try:
            # A pipe that nobody reads is an error; one that is read may be slow.
            with open(path, "wb", opener=_open_nonblocking) as file:
                os.set_blocking(file.fileno(), True)
                file.writelines(parts)
        except OSError as error:
            raise CannotWrite(f"cannot write {path}: {error.strerror}") from error
        return
    # Unique even among machines that share the folder.
    temporary = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.writelines(parts)
            file.flush()
            # Otherwise the renamed file may be empty after a power failure.
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error
    finally:
        with suppress(OSError):  # after an error or Ctrl-C
            temporary.unlink()


def sha256_of_file(path: Path) -> str:
    """Return the SHA-256 of a regular file's bytes, read in blocks."""
    digest = hashlib.sha256()
    try:
        with open_regular(path) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise _unreadable(path, error) from error
    return digest.hexdigest()


def key_of(version: int, **parts: object) -> str:
    """The key of a result: a hash of its version, its inputs and its options.

    Parts are JSON values, dataclasses of them, or other keys. Anything else is
    rejected, so that two different inputs never share a key.
    """
    text = json.dumps(
        {"version": version, **parts}, sort_keys=True, default=_plain, allow_nan=False
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object) -> object:
    """Convert a dataclass to a dictionary, under the name of its class."""
    if is_dataclass(value) and not isinstance(value, type):
        return {type(value).__name__: asdict(value)}
    raise TypeError(f"{type(value).__name__} cannot be part of a key")
