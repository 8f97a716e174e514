"""Download data sets from the servers of their authors, and unpack them safely."""

import json
import lzma
import shutil
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from stat import S_ISLNK
from typing import BinaryIO, TypeAlias

import httpx

from howsteps.errors import HowstepsError, InputError, shown
from howsteps.io.files import Folder, sha256_of_file
from howsteps.store import read_record

_BROKEN = (
    *(OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile, tarfile.TarError),
    *(lzma.LZMAError, RuntimeError, OverflowError),  # RuntimeError: a password, an unknown method
)
# Compression ratio; no data set has a higher one, but a zip bomb has.
_MAX_RATIO = 100


def unpack(archive: Path, folder: Path) -> list[Path]:
    """Unpack a .zip or .tar.gz into ``folder``; return the unpacked paths at its top level.

    Existing files of the same names are replaced, others are kept. Nothing is unpacked if the
    archive is truncated, needs more than the free disk space, has an impossible compression ratio,
    or contains a link, a device or a name outside the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".unpacking-") as temporary:
        try:
            _unpack(archive, Path(temporary))
            return [_move(path, folder / path.name) for path in sorted(Path(temporary).iterdir())]
        except _BROKEN as error:
            raise InputError(archive, f"cannot be unpacked: {error}") from error


def _unpack(path: Path, target: Path) -> None:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            found = archive.infolist()
            links = {m.filename for m in found if S_ISLNK(m.external_attr >> 16)}
            _check(path, target, [(m.filename, m.file_size) for m in found], links)
            archive.extractall(target)  # every name was checked  # noqa: S202  # nosec B202
    else:
        with tarfile.open(path) as tar:
            members = tar.getmembers()
            special = {m.name for m in members if not (m.isreg() or m.isdir())}
            _check(path, target, [(m.name, m.size) for m in members], special)
            tar.extractall(target, filter="data")


def _check(path: Path, target: Path, members: Sequence[tuple[str, int]], special: set[str]) -> None:
    """Check the names and kinds of the members of an archive, and their total size."""
    if not members:  # zeros, for example, are a tar of nothing
        raise InputError(path, "is not an archive with files")
    total = sum(size for _, size in members)
    for name, _ in members:
        place = PurePosixPath(name.replace("\\", "/"))
        outside = place.is_absolute() or ".." in place.parts or ":" in name or not place.parts
        if outside or name in special:
            raise InputError(path, f"contains {name!r}, which is no file or folder inside it")
    if total > _MAX_RATIO * path.stat().st_size:
        raise InputError(path, f"claims to contain {total / 2**20:,.0f} MB, which is impossible")
    if short := _no_space(target, total):
        raise InputError(path, f"needs {short}")


def _no_space(folder: Path, size: int) -> str:
    """Return a message if so many bytes do not fit on the disk, and else nothing."""
    free = shutil.disk_usage(folder).free
    return f"{size / 2**20:,.0f} MB, and {free / 2**20:,.0f} MB are free" if size > free else ""


def _move(source: Path, target: Path) -> Path:
    """Move a file or folder; folders are merged."""
    if source.is_dir() and target.is_dir() and not target.is_symlink():
        for path in source.iterdir():
            _move(path, target / path.name)
    else:
        source.replace(target)
    return target


RECORD = "fetched.json"  # the SHA-256 of every archive, by name
_TIMEOUT = 60.0  # seconds without data
_CONNECTIONS = 20  # that may break off in a download
_PAUSE = 1.0  # seconds before the next one


@dataclass(frozen=True, slots=True)
class Archive:
    """One archive of a data set; if not ``wanted``, it is fetched only on request."""

    name: str
    address: str
    contents: str
    wanted: bool = True


_NIV = "https://www.di.ens.fr/willow/research/instructionvideos"

# Addresses from the project page and the authors' program.
DOWNLOADS = {
    "niv": (
        Archive("NLP_data.zip", f"{_NIV}/release/NLP_data.zip", "narrations"),
        Archive("VISION_data.zip", f"{_NIV}/release/VISION_data.zip", "features, ground truth"),
        Archive("NLP_results.zip", f"{_NIV}/release/NLP_results.zip", "the paper's scripts", False),
        Archive(
            "VISION_results.zip",
            f"{_NIV}/release/VISION_results.zip",
            "the paper's localisations",
            False,
        ),
        Archive("data_new.tar.gz", f"{_NIV}/data_new.tar.gz", "the videos", False),
    )
}

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of bytes so far, and the total."""


def fetch_archive(
    archive: Archive, folder: Path, progress: Progress = lambda done, total: None
) -> bool:
    """Download an archive into ``folder`` and unpack it; return False if that was done before."""
    path = folder / archive.name
    checksum = _fetch(archive.address, path, progress)
    record = _read_record(folder / RECORD)
    known = record.get(archive.name)
    if known == checksum:
        return False
    try:
        if known is not None:
            raise InputError(
                path,
                f"is not the file that was fetched before: its SHA-256 is {checksum}, not {known}. "
                f"Fetch again, or delete {folder / RECORD} to accept it",
            )
        unpack(path, folder)
    except InputError as error:
        raise InputError(_set_aside(path), _one_line(error.problem.reason)) from error
    # Recorded after unpacking: the checksum of a broken archive must not become the reference.
    text = json.dumps({**record, archive.name: checksum}, indent=1)
    Folder(folder).write(RECORD, text.encode())
    return True


def fetch_file(address: str, path: Path, begins: str) -> None:
    """Download one file, unless it exists, and check that its SHA-256 starts with ``begins``."""
    checksum = _fetch(address, path, lambda done, total: None)
    if not checksum.startswith(begins):
        raise InputError(
            _set_aside(path),
            f"is not the file of {address}: its SHA-256 begins {checksum[:12]}, not {begins}",
        )


def _fetch(address: str, path: Path, progress: Progress) -> str:
    """Download a file, unless it exists, and return its SHA-256."""
    if not path.exists():
        _download(address, path, progress)
    return sha256_of_file(path)


def _set_aside(path: Path) -> Path:
    """Rename a bad archive, so that it can be inspected and is downloaded again next time."""
    return path.replace(path.with_name(f"{path.name}.bad"))


def _read_record(path: Path) -> dict[str, str]:
    try:
        return read_record(path, dict[str, str]) if path.exists() else {}
    except InputError as error:
        reason = "is not a record of downloads; delete it and fetch again"
        raise InputError(path, reason) from error


def _download(address: str, path: Path, progress: Progress) -> None:
    """Download ``address`` to ``path``, which is never incomplete.

    If a connection breaks off, the next one goes on where it stopped, provided that the server
    still has the same file, by its ETag.
    """
    tag, why = "", ""
    hooks = {"request": [_check_scheme] if address.startswith("https:") else []}
    with (
        httpx.Client(follow_redirects=True, timeout=_TIMEOUT, event_hooks=hooks) as client,
        Folder(path.parent).writing(path.name) as file,
    ):
        for _ in range(_CONNECTIONS):
            headers = {"User-Agent": "howsteps", "Accept-Encoding": "identity"}
            if tag:
                headers |= {"Range": f"bytes={file.tell()}-", "If-Range": tag}
            try:
                with client.stream("GET", address, headers=headers) as response:
                    response.raise_for_status()
                    if response.status_code != 206:
                        file.seek(0)
                        file.truncate()
                    tag = response.headers.get("ETag", "")
                    _append(response, file, path, progress)
                    return
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                why = _one_line(str(error)).rstrip(".") or type(error).__name__
            if not file.tell():  # nothing came at all
                break
            time.sleep(_PAUSE)
        raise HowstepsError(
            f"cannot fetch {address}: {why}. Without a network, put {path.name} "
            f"into {path.parent} by hand and run this again"
        )


def _append(response: httpx.Response, file: BinaryIO, path: Path, progress: Progress) -> None:
    """Append what a server sends; its length is known before, so it cannot be endless."""
    said = response.headers.get("Content-Length", "")
    if not said.isdecimal():
        raise HowstepsError(f"{response.url.host} does not say how much it sends")
    total = file.tell() + int(said)
    if short := _no_space(path.parent, int(said)):
        raise HowstepsError(f"{path.name} needs {short}")
    for block in response.iter_raw():
        file.write(block)
        progress(file.tell(), total)


def _check_scheme(request: httpx.Request) -> None:
    """Refuse a redirect from https to another scheme."""
    if request.url.scheme != "https":
        raise HowstepsError(f"a redirect leads to {shown(str(request.url))}, which is not https")


def _one_line(reason: str) -> str:
    """Return the reason of an error, which a server or a library may spread over several lines."""
    return shown(" ".join(reason.split()))
