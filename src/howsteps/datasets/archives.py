"""Unpack archives safely: no file may end up outside the folder."""

import lzma
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from stat import S_ISLNK

from howsteps.errors import InputError

_BROKEN = (
    *(OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile, tarfile.TarError),
    *(lzma.LZMAError, RuntimeError, OverflowError),  # RuntimeError: a password, an unknown method
)
# Compression ratio; no data set has a higher one, but a zip bomb has.
_MAX_RATIO = 100


def unpack(archive: Path, folder: Path) -> list[Path]:
    """Unpack a .zip or .tar.gz into ``folder``; in case of an error, nothing is unpacked.

    Returns
    -------
    The unpacked paths at the top level of the archive. Existing files of the same names are
    replaced, others are kept.

    Raises
    ------
    InputError
        The archive is truncated, needs more than the free disk space, has an impossible compression
        ratio, or contains a link, a device or a name outside the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".unpacking-") as temporary:
        try:
            if zipfile.is_zipfile(archive):
                _unzip(archive, Path(temporary))
            else:
                _untar(archive, Path(temporary))
            return [_move(path, folder / path.name) for path in sorted(Path(temporary).iterdir())]
        except _BROKEN as error:
            raise InputError(archive, f"cannot be unpacked: {error}") from error


def _unzip(path: Path, target: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        _check(path, target, ((m.filename, m.file_size) for m in members))
        for member in members:
            if S_ISLNK(member.external_attr >> 16):
                raise InputError(path, f"contains the link {member.filename!r}")
        archive.extractall(target)  # every name was checked  # noqa: S202  # nosec B202


def _untar(path: Path, target: Path) -> None:
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        _check(path, target, ((m.name, m.size) for m in members))
        for member in members:
            if not (member.isreg() or member.isdir()):
                raise InputError(path, f"contains {member.name!r}, which is not a file or folder")
        archive.extractall(target, filter="data")


def _check(path: Path, target: Path, members: Iterable[tuple[str, int]]) -> None:
    """Check the names and the total size of the members of an archive."""
    total = 0
    for name, size in members:
        parts = PurePosixPath(name.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts or ":" in name or not parts.parts:
            raise InputError(path, f"contains {name!r}, a name outside the folder")
        total += size
    if total > _MAX_RATIO * path.stat().st_size:
        raise InputError(path, f"claims to contain {total / 2**20:,.0f} MB, which is impossible")
    if total > (free := shutil.disk_usage(target).free):
        sizes = f"{total / 2**20:,.0f} MB, and {free / 2**20:,.0f} MB are free"
        raise InputError(path, f"needs {sizes}")


def _move(source: Path, target: Path) -> Path:
    """Move a file or folder; folders are merged."""
    if source.is_dir() and target.is_dir():
        for path in source.iterdir():
            _move(path, target / path.name)
    else:
        source.replace(target)
    return target
