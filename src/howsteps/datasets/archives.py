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
# No data set is compressed more strongly; a higher ratio would only fill the disk.
_LARGEST_RATIO = 100


def unpack(archive: Path, folder: Path) -> list[Path]:
    """Unpack a .zip or .tar.gz into ``folder``, completely or not at all.

    Returns
    -------
    The paths that were unpacked: the first level of the archive. Existing files of the same names
    are replaced, others are left alone.

    Raises
    ------
    InputError
        The archive is truncated, unpacks to more than the free disk space or an impossible size, or
        has a link, a device or a name outside the folder. Then nothing was unpacked.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".unpacking-") as place:
        try:
            if zipfile.is_zipfile(archive):
                _unzip(archive, Path(place))
            else:
                _untar(archive, Path(place))
            return [_move(path, folder / path.name) for path in sorted(Path(place).iterdir())]
        except _BROKEN as error:
            raise InputError(archive, f"cannot be unpacked: {error}") from error


def _unzip(path: Path, place: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        _check(path, place, ((m.filename, m.file_size) for m in members))
        for member in members:
            if S_ISLNK(member.external_attr >> 16):
                raise InputError(path, f"contains the link {member.filename!r}")
        archive.extractall(place)  # every name was checked  # noqa: S202  # nosec B202


def _untar(path: Path, place: Path) -> None:
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        _check(path, place, ((m.name, m.size) for m in members))
        for member in members:
            if not (member.isreg() or member.isdir()):
                raise InputError(path, f"contains {member.name!r}, which is not a file or folder")
        archive.extractall(place, filter="data")


def _check(path: Path, place: Path, members: Iterable[tuple[str, int]]) -> None:
    total = 0
    for name, size in members:
        parts = PurePosixPath(name.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts or ":" in name or not parts.parts:
            raise InputError(path, f"contains {name!r}, a name outside the folder")
        total += size
    if total > _LARGEST_RATIO * path.stat().st_size:
        raise InputError(path, f"claims to contain {total / 2**20:,.0f} MB, which is impossible")
    if total > (free := shutil.disk_usage(place).free):
        need = f"{total / 2**20:,.0f} MB, and {free / 2**20:,.0f} MB are free"
        raise InputError(path, f"needs {need}")


def _move(source: Path, target: Path) -> Path:
    """Move a file or folder; the contents of folders are merged."""
    if source.is_dir() and target.is_dir():
        for path in source.iterdir():
            _move(path, target / path.name)
    else:
        source.replace(target)
    return target
