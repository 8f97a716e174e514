"""Read files within a size limit, write them atomically, and hash them."""

import hashlib
import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, is_dataclass
from io import BufferedReader
from pathlib import Path
from time import monotonic, sleep
from typing import Any, BinaryIO
from uuid import uuid4

from howsteps.errors import CannotWrite, InputError

_POLL_SECONDS = 0.1
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # for the other end of a pipe; not on Windows
_CHANGED = "changed while it was read; wait until it is written, and try again"


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading; a pipe or a device could block forever.

    Raises ``InputError`` if there is no such file, it is not a regular file, or it cannot be
    opened.
    """
    try:
        file = open(  # noqa: SIM115
            path, "rb", opener=lambda name, flags: os.open(name, flags | _NO_WAIT)
        )
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

    Raises ``InputError`` if the file cannot be opened, is not a regular file, is too large to be of
    its ``kind``, or changes while it is read.
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

    Raises ``InputError`` if there is no such file, or it cannot be accessed.
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


@dataclass(frozen=True)
class Folder:
    """A folder that howsteps writes to: ``root``, which the user named, or ``parts`` below it.

    A work folder may come from somebody else, and what is in it may be a pipe, or lead to any file
    of the user's. Below ``root`` no link is followed and only regular files are opened or removed;
    new files are written under random names and renamed.
    """

    root: Path
    parts: tuple[str, ...] = ()

    def __truediv__(self, name: str) -> "Folder":
        return Folder(self.root, (*self.parts, name))

    @property
    def path(self) -> Path:
        """The path, for messages and for reading."""
        return self.root.joinpath(*self.parts)

    def check(self, *, create: bool = False) -> None:
        """Raise ``CannotWrite`` if a part of the path is a link, or not a folder."""
        path = self.root
        if create:
            path.mkdir(parents=True, exist_ok=True)
        for name in self.parts:
            path = path / name
            if path.is_symlink():
                raise CannotWrite(f"{path} is a link; howsteps only writes to folders of its own")
            if path.exists() and not path.is_dir():
                raise CannotWrite(f"{path} is not a folder")
            if create:
                path.mkdir(exist_ok=True)

    def names(self) -> list[str]:
        """The sorted names of the regular files; none if there is no such folder."""
        self.check()
        try:
            with os.scandir(self.path) as entries:
                return sorted(e.name for e in entries if e.is_file(follow_symlinks=False))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise CannotWrite(f"cannot read {self.path}: {error.strerror}") from error

    def write(self, name: str, content: bytes | Iterable[bytes]) -> Path:
        """Write a file, and return its path; large content may be given in parts.

        Of a file that holds these bytes only the time is set: hundreds of exports take seconds.
        """
        if not (isinstance(content, bytes) and self._renewed(name, content)):
            with self.writing(name) as file:
                file.writelines([content] if isinstance(content, bytes) else content)
        return self.path / name

    def _renewed(self, name: str, content: bytes) -> bool:
        """Set the time of a file if it holds these bytes."""
        try:
            with self.open(name, "rb") as file:
                same_size = os.fstat(file.fileno()).st_size == len(content)
                if same := same_size and file.read() == content:
                    os.utime(file.fileno())
                return same
        except (CannotWrite, OSError):  # there is none, or it is somebody else's
            return False

    @contextmanager
    def writing(self, name: str, mode: int = 0o666) -> Iterator[BinaryIO]:
        """Open a file to write, which gets its name at the end: it is never incomplete.

        Raises ``CannotWrite`` if it cannot be written, or a part of the path is a link.
        """
        # Unique even among machines that share the folder.
        temporary = self.path / f".{uuid4().hex}.part"
        try:
            self.check(create=True)
            try:
                # The file is called by its final name, whose suffix tells PyAV the format.
                with open(name, "xb", opener=lambda _, how: os.open(temporary, how, mode)) as file:
                    yield file
                    file.flush()
                    # Otherwise the renamed file may be empty after a power failure.
                    os.fsync(file.fileno())
                temporary.replace(self.path / name)
            finally:
                with suppress(OSError):  # after an error or Ctrl-C
                    temporary.unlink()
        except OSError as error:
            raise CannotWrite(f"cannot write {self.path / name}: {error.strerror}") from error

    def open(self, name: str, mode: str) -> BinaryIO:
        """Open a regular file in place; ``mode`` is that of the builtin ``open``.

        Raises ``CannotWrite`` if it is something else, or cannot be opened.
        """
        path = self.path / name
        try:
            self.check(create=True)
            file: Any = open(path, mode, opener=_in_place)  # noqa: SIM115
        except OSError as error:
            is_other = path.is_symlink() or (path.exists() and not path.is_file())
            reason = "it is not a regular file" if is_other else error.strerror
            raise CannotWrite(f"cannot write {path}: {reason}") from error
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise CannotWrite(f"cannot write {path}: it is not a regular file")
        opened: BinaryIO = file
        return opened

    def lock(self, name: str, busy: str, seconds: float = 0.0) -> BinaryIO:
        """Open a file and lock it until it is closed; nothing is to clean up after a crash.

        Raises ``CannotWrite`` if another process still has locked it after some ``seconds``:
        ``busy`` is the message.
        """
        end = monotonic() + seconds
        while True:
            file = self.open(name, "ab")
            with suppress(FileNotFoundError):  # it was removed by the process that had locked it
                if _lock(file) and os.path.samestat(
                    os.fstat(file.fileno()), os.stat(self.path / name)
                ):
                    return file
            file.close()
            if monotonic() >= end:
                raise CannotWrite(busy)
            sleep(_POLL_SECONDS)

    def remove(self, name: str) -> None:
        """Remove a regular file, if it is there; anything else stays."""
        self.check()
        path = self.path / name
        try:
            if stat.S_ISREG(path.lstat().st_mode):
                path.unlink()
        except FileNotFoundError:
            pass
        except OSError as error:
            raise CannotWrite(f"cannot remove {path}: {error.strerror}") from error


def _in_place(path: str, flags: int) -> int:
    """Open a file without following a link, or waiting for the other end of a pipe."""
    return os.open(path, flags | _NO_WAIT | getattr(os, "O_NOFOLLOW", 0), 0o666)


def _lock(file: BinaryIO) -> bool:
    """Lock a file, unless another process has; True where files cannot be locked."""
    if sys.platform != "win32":
        import fcntl  # noqa: PLC0415 - not on Windows

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # of a file system without locks
            pass
    return True


def write_atomically(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file that the user named; a device or pipe, as ``/dev/stdout``, is not replaced."""
    if not path.exists() or path.is_file():
        Folder(path.parent).write(path.name, content)
        return
    try:
        with open(path, "wb") as file:
            file.writelines([content] if isinstance(content, bytes) else content)
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error


def sha256_of_file(path: Path) -> str:
    """Return the SHA-256 of a regular file's bytes."""
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(path, error) from error


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
