"""Download data sets from the servers of their authors, and unpack them safely."""

import json
import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import httpx

from howsteps.errors import HowstepsError, InputError, shown
from howsteps.io.files import Folder, sha256_of_file
from howsteps.store import read_record

_BROKEN = (
    *(OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile, tarfile.TarError),
    # A password or an unknown method; sizes and empty names that zipfile does not expect.
    *(lzma.LZMAError, RuntimeError, OverflowError, LookupError),
)
# Compression ratio; no data set has a higher one, but a zip bomb has.
_MAX_RATIO = 100
RECORD = "fetched.json"  # the SHA-256 of every archive, by name
_TIMEOUT = 60.0  # seconds without data


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
        Archive("data_new.tar.gz", f"{_NIV}/data_new.tar.gz", "the videos", False),
    )
}

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of bytes so far, and the total."""


def fetch_archive(
    archive: Archive, folder: Path, progress: Progress = lambda done, total: None
) -> bool:
    """Download an archive into ``folder`` and unpack it; return False if that was done before.

    An archive that is there is not downloaded. Checksums are not published: that of the first
    download is recorded, and later ones have to agree.
    """
    path = folder / archive.name
    checksum = _fetch(archive.address, path, progress)
    known = read_record(folder / RECORD, dict[str, str]) if (folder / RECORD).exists() else {}
    if known.get(archive.name) == checksum:
        return False
    if archive.name in known:
        reason = f"is not the file that was fetched before (delete {folder / RECORD} to accept it)"
        raise InputError(_set_aside(path), reason)
    try:
        unpack(path, folder)
    except InputError as error:
        raise InputError(_set_aside(path), error.problem.reason) from error
    # Recorded after unpacking: the checksum of a broken archive must not become the reference.
    text = json.dumps({**known, archive.name: checksum}, indent=1)
    Folder(folder).write(RECORD, text.encode())
    return True


def fetch_file(address: str, path: Path, begins: str) -> None:
    """Download one file, unless it exists, and check that its SHA-256 starts with ``begins``."""
    if not _fetch(address, path, lambda done, total: None).startswith(begins):
        raise InputError(_set_aside(path), f"is not the file of {address}: its checksum differs")


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a .zip or .tar.gz into ``folder``; existing files of the same names are replaced.

    Nothing is written outside the folder, nor anything but files and folders. Refused is what
    would not fit on the disk, or has an impossible compression ratio.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as zipped:
                _check_size(archive, folder, [member.file_size for member in zipped.infolist()])
                # Links become files, and names lose what leads outside.
                zipped.extractall(folder)  # noqa: S202  # nosec B202
        else:
            with tarfile.open(archive) as tar:
                _check_size(archive, folder, [member.size for member in tar.getmembers()])
                tar.extractall(folder, filter="data")
    except _BROKEN as error:
        reason = shown(" ".join(str(error).split()))
        raise InputError(archive, f"cannot be unpacked: {reason}") from error


def _check_size(archive: Path, folder: Path, sizes: list[int]) -> None:
    if not sizes:  # zeros, for example, are a tar of nothing
        raise InputError(archive, "is not an archive with files")
    room = min(shutil.disk_usage(folder).free, _MAX_RATIO * archive.stat().st_size)
    if sum(sizes) > room:
        needed = f"{sum(sizes) / 2**20:,.0f} MB"
        raise InputError(archive, f"would unpack to {needed}, which is too much for it or the disk")


def _fetch(address: str, path: Path, progress: Progress) -> str:
    """Download a file, unless it exists, and return its SHA-256."""
    if not path.exists():
        try:
            _download(address, path, progress)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            why = " ".join(str(error).split()).rstrip(".") or type(error).__name__
            raise HowstepsError(
                f"cannot fetch {address}: {shown(why)}. Try again or, without a network, "
                f"put {path.name} into {path.parent} by hand"
            ) from error
    return sha256_of_file(path)


def _set_aside(path: Path) -> Path:
    """Rename a bad file, so that it can be inspected and is downloaded again next time."""
    return path.replace(path.with_name(f"{path.name}.bad"))


def _download(address: str, path: Path, progress: Progress) -> None:
    """Download ``address`` to ``path``, which is never incomplete."""
    headers = {"User-Agent": "howsteps", "Accept-Encoding": "identity"}
    with (
        httpx.stream(
            "GET", address, headers=headers, follow_redirects=True, timeout=_TIMEOUT
        ) as response,
        Folder(path.parent).writing(path.name) as file,
    ):
        response.raise_for_status()
        if {hop.url.scheme for hop in response.history} - {response.url.scheme}:
            raise HowstepsError(f"{address} is redirected from https to http")
        # Said before, so that it cannot be endless.
        said = response.headers.get("Content-Length", "")
        if not said.isdecimal() or int(said) > shutil.disk_usage(path.parent).free:
            raise HowstepsError(
                f"{path.name} is not fetched: {said or 'an unknown number of'} bytes "
                f"may not fit into {path.parent}"
            )
        for block in response.iter_raw():
            file.write(block)
            progress(file.tell(), int(said))
