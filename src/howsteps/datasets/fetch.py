"""Download data sets from the servers of their authors, and unpack them safely."""

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
from typing import TypeAlias

import httpx
import msgspec

from howsteps.errors import HowstepsError, InputError, shown
from howsteps.io.files import Folder, read_bounded, sha256_of_file
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
            plain = [not S_ISLNK(m.external_attr >> 16) for m in archive.infolist()]
            sizes = [(m.filename, m.file_size) for m in archive.infolist()]
            _check(path, target, sizes, plain)
            archive.extractall(target)  # every name was checked  # noqa: S202  # nosec B202
    else:
        with tarfile.open(path) as tar:
            plain = [m.isreg() or m.isdir() for m in tar.getmembers()]
            _check(path, target, [(m.name, m.size) for m in tar.getmembers()], plain)
            tar.extractall(target, filter="data")


def _check(
    path: Path, target: Path, members: Sequence[tuple[str, int]], plain: Sequence[bool]
) -> None:
    """Check the names and kinds of the members of an archive, and their total size."""
    if not members:  # zeros, for example, are a tar of nothing
        raise InputError(path, "is not an archive with files")
    total = sum(size for _, size in members)
    for (name, _), is_plain in zip(members, plain, strict=True):
        if not is_plain:
            raise InputError(path, f"contains {name!r}, which is not a file or folder")
        parts = PurePosixPath(name.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts or ":" in name or not parts.parts:
            raise InputError(path, f"contains {name!r}, a name outside the folder")
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


RECORD = "fetched.json"
_TIMEOUT = 60.0  # seconds without data
_ATTEMPTS = 5  # consecutive attempts without progress
_MAX_REQUESTS = 50  # in all: a server may pretend to make progress
_PAUSE = 0.5  # seconds before the next request; doubled after every attempt without progress
_LARGEST = 400 * 2**20  # bytes of a file whose length the server does not say


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

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the number of bytes so far, and the total if it is known."""


def fetch_archive(
    archive: Archive, folder: Path, progress: Progress = lambda done, total: None
) -> bool:
    """Download an archive into ``folder`` and unpack it; return False if that was done before.

    A partial download is kept, and the next call resumes it.
    """
    path = folder / archive.name
    checksum = _fetch(archive.address, path, progress)
    record = _read_record(folder)
    if (known := record.get(archive.name)) is not None:
        if known.sha256 == checksum:
            return False
        raise InputError(
            _set_aside(path),
            f"is not the file that was fetched before: its SHA-256 is {checksum}, not "
            f"{known.sha256}. Fetch again, or delete {folder / RECORD} to accept it",
        )
    try:
        unpacked = [found.name for found in unpack(path, folder)]
    except InputError as error:
        raise InputError(_set_aside(path), _one_line(error.problem.reason)) from error
    # Recorded after unpacking: the checksum of a broken archive must not become the reference.
    size = path.stat().st_size
    record[archive.name] = _Fetched(archive.address, checksum, size, unpacked)
    Folder(folder).write(RECORD, msgspec.json.format(msgspec.json.encode(record), indent=1))
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
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(path.parent, f"cannot be created: {error.strerror}") from error
    if not path.exists():
        _download(address, path, progress)
    return sha256_of_file(path)


def _set_aside(path: Path) -> Path:
    """Rename a bad archive, so that it can be inspected and is downloaded again next time."""
    return path.replace(path.with_name(f"{path.name}.bad"))


class _Fetched(msgspec.Struct):
    """An entry of the record of downloads."""

    address: str
    sha256: str
    bytes: int
    unpacked: list[str]


def _read_record(folder: Path) -> dict[str, _Fetched]:
    path = folder / RECORD
    try:
        return read_record(path, dict[str, _Fetched]) if path.exists() else {}
    except InputError as error:
        reason = "is not a record of downloads; delete it and fetch again"
        raise InputError(path, reason) from error


def _download(address: str, path: Path, progress: Progress) -> None:
    """Download ``address`` to ``path`` through ``path.part``; resume after interruptions."""
    part, mark = path.with_name(f"{path.name}.part"), path.with_name(f"{path.name}.part.mark")
    failures = 0
    for _ in range(_MAX_REQUESTS):
        before = _size(part)
        try:
            _stream(address, part, mark, progress)
        except (OSError, httpx.HTTPError, httpx.InvalidURL) as error:
            why = _one_line(str(error)).rstrip(".") or type(error).__name__
        else:
            part.replace(path)
            mark.unlink(missing_ok=True)
            return
        failures = 0 if _size(part) > before else failures + 1
        if failures == _ATTEMPTS or not _size(part):
            break
        time.sleep(_PAUSE * 2**failures)
    raise HowstepsError(
        f"cannot fetch {address}: {why}. Without a network, put {path.name} "
        f"into {path.parent} by hand and run this again"
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _stream(address: str, part: Path, mark: Path, progress: Progress) -> None:
    """Open one connection, and append to ``part`` until it is complete.

    ``mark`` contains the ETag of ``part``; if it has changed, the server sends the whole file, so
    that two versions are never mixed.
    """
    tag = read_bounded(mark, 2**16, "an ETag").decode("ascii", "ignore") if mark.exists() else ""
    done, folder = _size(part) if tag else 0, Folder(part.parent)
    headers = {"User-Agent": "howsteps", "Accept-Encoding": "identity"}
    if done:
        headers |= {"Range": f"bytes={done}-", "If-Range": tag}
    hooks = {"request": [_check_scheme] if address.startswith("https:") else []}
    with (
        httpx.Client(follow_redirects=True, timeout=_TIMEOUT, event_hooks=hooks) as client,
        client.stream("GET", address, headers=headers) as response,
    ):
        if response.status_code == 416 and done:
            part.unlink()  # longer than the file on the server: start again
            _stream(address, part, mark, progress)
            return
        if response.is_error:
            answer = _one_line(f"{response.status_code} {response.reason_phrase}")
            raise HowstepsError(f"{address}: {response.url.host} answers {answer}")
        resumed = response.status_code == 206
        if not resumed:
            done = 0
            tag = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
            # Another one could not be sent back.
            known = tag if tag.isascii() and tag.isprintable() else ""
            folder.write(mark.name, known.encode())
        said = response.headers.get("Content-Length")
        total = None if said is None else done + int(said)
        if total is not None and (short := _no_space(part.parent, total - done)):
            raise HowstepsError(f"{address} needs {short}")
        if not resumed:
            part.unlink(missing_ok=True)
        with folder.open(part.name, "ab") as file:
            for block in response.iter_raw():
                file.write(block)
                done += len(block)
                progress(done, total)
                if total is None and done > _LARGEST:
                    part.unlink()
                    limit = f"{_LARGEST / 2**20:,.0f} MB"
                    raise HowstepsError(f"{address} sends over {limit} and does not say how much")


def _check_scheme(request: httpx.Request) -> None:
    """Refuse a redirect from https to another scheme."""
    if request.url.scheme != "https":
        raise HowstepsError(f"a redirect leads to {shown(str(request.url))}, which is not https")


def _one_line(reason: str) -> str:
    """Return the reason of an error, which a server or a library may spread over several lines."""
    return shown(" ".join(reason.split()))
