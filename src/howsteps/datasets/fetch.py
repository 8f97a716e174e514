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
from http.client import HTTPException, HTTPMessage, HTTPResponse
from pathlib import Path, PurePosixPath
from stat import S_ISLNK
from typing import IO, TypeAlias
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from howsteps.errors import HowstepsError, InputError, shown
from howsteps.io.files import read_bounded, sha256_of_file, write_atomically
from howsteps.io.text import read_json

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
        _check(path, target, [(m.filename, m.file_size) for m in members])
        for member in members:
            if S_ISLNK(member.external_attr >> 16):
                raise InputError(path, f"contains the link {member.filename!r}")
        archive.extractall(target)  # every name was checked  # noqa: S202  # nosec B202


def _untar(path: Path, target: Path) -> None:
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        _check(path, target, [(m.name, m.size) for m in members])
        for member in members:
            if not (member.isreg() or member.isdir()):
                raise InputError(path, f"contains {member.name!r}, which is not a file or folder")
        archive.extractall(target, filter="data")


def _check(path: Path, target: Path, members: Sequence[tuple[str, int]]) -> None:
    """Check the names and the total size of the members of an archive."""
    if not members:  # zeros, for example, are a tar of nothing
        raise InputError(path, "is not an archive with files")
    total = sum(size for _, size in members)
    for name, _ in members:
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
    if source.is_dir() and target.is_dir():
        for path in source.iterdir():
            _move(path, target / path.name)
    else:
        source.replace(target)
    return target


RECORD = "fetched.json"
_BLOCK = 2**20
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

    Raises
    ------
    HowstepsError
        The server cannot be reached, or the file is no archive or differs from the first download.
        A partial download is kept, and the next call resumes it.
    """
    path = folder / archive.name
    checksum = _fetch(archive.address, path, progress)
    record = _read_record(folder)
    if (known := record.get(archive.name)) is not None:
        if known["sha256"] == checksum:
            return False
        raise InputError(
            _set_aside(path),
            f"is not the file that was fetched before: its SHA-256 is {checksum}, not "
            f"{known['sha256']}. Fetch again, or delete {folder / RECORD} to accept it",
        )
    try:
        unpacked = [found.name for found in unpack(path, folder)]
    except InputError as error:
        raise InputError(_set_aside(path), _one_line(error.problem.reason)) from error
    # Recorded after unpacking: the checksum of a broken archive must not become the reference.
    record[archive.name] = {
        "address": archive.address,
        "sha256": checksum,
        "bytes": path.stat().st_size,
        "unpacked": unpacked,
    }
    write_atomically(folder / RECORD, (json.dumps(record, indent=1) + "\n").encode("utf-8"))
    return True


def fetch_file(
    address: str, path: Path, begins: str, progress: Progress = lambda done, total: None
) -> None:
    """Download one file, unless it exists, and check that its SHA-256 starts with ``begins``.

    Raises
    ------
    HowstepsError
        The server cannot be reached, or the checksum differs.
    """
    checksum = _fetch(address, path, progress)
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


def _read_record(folder: Path) -> dict[str, dict[str, object]]:
    path = folder / RECORD
    record = read_json(path) if path.exists() else {}
    if not isinstance(record, dict) or not all(
        isinstance(entry, dict) and "sha256" in entry for entry in record.values()
    ):
        raise InputError(path, "is not a record of downloads; delete it and fetch again")
    return record


def _download(address: str, path: Path, progress: Progress) -> None:
    """Download ``address`` to ``path`` through ``path.part``; resume after interruptions."""
    part, mark = path.with_name(f"{path.name}.part"), path.with_name(f"{path.name}.part.mark")
    failures = 0
    for _ in range(_MAX_REQUESTS):
        before = _size(part)
        try:
            if _stream(address, part, mark, progress):
                part.replace(path)
                mark.unlink(missing_ok=True)
                return
            why = "the connection ended early"
        except HTTPError as error:
            reason = _one_line(f"{error.code} {error.reason}")
            host = urlsplit(address).hostname
            raise HowstepsError(f"{address}: {host} answers {reason}") from error
        except (OSError, HTTPException) as error:
            why = _one_line(str(getattr(error, "reason", error))) or type(error).__name__
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


def _stream(address: str, part: Path, mark: Path, progress: Progress) -> bool:
    """Open one connection, append to ``part``, and return whether it is complete.

    ``mark`` contains the ETag of ``part``; if it has changed, the server sends the whole file, so
    that two versions are never mixed.
    """
    tag = read_bounded(mark, 2**16, "an ETag").decode("latin-1") if mark.exists() else ""
    done = _size(part) if tag else 0
    request = Request(address, headers={"User-Agent": "howsteps"})  # noqa: S310 - from the table
    if done:
        request.add_header("Range", f"bytes={done}-")
        request.add_header("If-Range", tag)
    try:
        response: HTTPResponse = build_opener(_HttpsOnly).open(request, timeout=_TIMEOUT)
    except HTTPError as error:
        if error.code != 416 or not done:
            raise
        part.unlink()  # longer than the file on the server: start again
        return _stream(address, part, mark, progress)
    except ValueError as error:
        raise HowstepsError(
            f"{address} redirects to no address ({_one_line(str(error))})"
        ) from error
    with response, part.open("ab" if response.status == 206 else "wb") as file:
        if response.status != 206:
            done = 0
            tag = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
            # A header that spans lines could not be sent back.
            mark.write_text(tag if tag.isprintable() else "", "latin-1", errors="ignore")
        left = response.length
        if left is not None and (short := _no_space(part.parent, left)):
            raise HowstepsError(f"{address} needs {short}")
        total = None if left is None else done + left
        while block := response.read(_BLOCK):
            file.write(block)
            done += len(block)
            progress(done, total)
            if total is None and done > _LARGEST:
                part.unlink()
                limit = f"{_LARGEST / 2**20:,.0f} MB"
                raise HowstepsError(f"{address} sends over {limit} and does not say how much")
    return total is None or done == total


def _one_line(reason: str) -> str:
    """Return the reason of an error, which a server or a library may spread over several lines."""
    return shown(" ".join(reason.split()))


class _HttpsOnly(HTTPRedirectHandler):
    """Follows redirects, except from https to another scheme."""

    def redirect_request(
        self,
        req: Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> Request | None:
        if req.type == "https" and urlsplit(newurl).scheme != "https":
            raise HowstepsError(f"{req.full_url} redirects to {shown(newurl)}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
