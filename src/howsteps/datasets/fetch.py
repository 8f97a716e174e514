"""Fetching data sets from where their authors keep them.

An archive is fetched into a folder, resumed where it was cut off, and its SHA-256 written down
(``fetched.json``). Nobody publishes checksums of these archives, so the first one is trusted; every
later fetch is held to it. An archive that lies in the folder already is not fetched again: on a
machine without a network, put it there by hand.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage, HTTPResponse
from pathlib import Path
from typing import IO, TypeAlias
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from howsteps.datasets.archives import unpack
from howsteps.errors import HowstepsError, InputError
from howsteps.io.text import read_json

RECORD = "fetched.json"
_BLOCK = 2**20
_SILENCE = 60.0  # seconds without a byte after which a connection is given up
_ATTEMPTS = 5  # in a row that bring nothing new


@dataclass(frozen=True, slots=True)
class Archive:
    """One file of a data set, and what it holds; fetched only when asked for if not ``wanted``."""

    name: str
    address: str
    holds: str
    wanted: bool = True


_NIV = "https://www.di.ens.fr/willow/research/instructionvideos"

# Addresses as the project page and the authors' program name them; the server offers https.
DATA_SETS = {
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
"""Called with the bytes that are there, and how many there will be if that is known."""


def fetch(archive: Archive, folder: Path, progress: Progress = lambda done, total: None) -> bool:
    """Fetch an archive into ``folder`` and unpack it there; say whether anything was done.

    Raises
    ------
    HowstepsError
        The server cannot be reached, or sends another file than the first time. What came so far
        is kept, and the next call goes on from there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(folder, f"cannot be made: {error.strerror}") from error
    path = folder / archive.name
    if not path.exists():
        _download(archive.address, path, progress)
    known = _record(folder).get(archive.name)
    checksum = sha256(path)
    if known is not None and known["sha256"] == checksum:
        return False
    if known is not None:
        raise InputError(
            _put_aside(path),
            f"is not the file that was fetched before: its SHA-256 is {checksum}, that of the "
            f"other {known['sha256']}. Fetch again, or delete {folder / RECORD} to accept it",
        )
    try:
        unpacked = [found.name for found in unpack(path, folder)]
    except InputError as error:
        raise InputError(_put_aside(path), error.problem.reason) from error
    # Only now: the checksum of a broken archive must not be the one that all others are held to.
    entry = {
        "address": archive.address,
        "sha256": checksum,
        "bytes": path.stat().st_size,
        "unpacked": unpacked,
    }
    _write_down(folder, archive.name, entry)
    return True


def fetch_file(
    address: str, path: Path, begins: str, progress: Progress = lambda done, total: None
) -> None:
    """Fetch one file whose SHA-256 is known to begin with ``begins``, unless it is there already.

    Raises
    ------
    HowstepsError
        The server cannot be reached, or sends another file.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(path.parent, f"cannot be made: {error.strerror}") from error
    if not path.exists():
        _download(address, path, progress)
    checksum = sha256(path)
    if not checksum.startswith(begins):
        raise InputError(
            _put_aside(path),
            f"is not the file of {address}: its SHA-256 begins {checksum[:12]}, not {begins}",
        )


def _put_aside(path: Path) -> Path:
    """Keep a bad archive for people to look at, out of the way of the next fetch."""
    return path.replace(path.with_name(f"{path.name}.bad"))


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _record(folder: Path) -> dict[str, dict[str, object]]:
    path = folder / RECORD
    if not path.exists():
        return {}
    record = read_json(path)
    if not isinstance(record, dict) or not all(
        isinstance(entry, dict) and "sha256" in entry for entry in record.values()
    ):
        raise InputError(path, "is not a record of what was fetched; delete it to fetch anew")
    return record


def _write_down(folder: Path, name: str, entry: dict[str, object]) -> None:
    fresh = folder / f".{RECORD}"
    fresh.write_text(json.dumps({**_record(folder), name: entry}, indent=1) + "\n", "utf-8")
    fresh.replace(folder / RECORD)


def _download(address: str, path: Path, progress: Progress) -> None:
    """Fetch ``address`` to ``path`` through ``path.part``, going on where a connection broke."""
    part, mark = path.with_name(f"{path.name}.part"), path.with_name(f"{path.name}.part.mark")
    host = urlsplit(address).hostname
    failures, whole = 0, False
    while not whole:
        before = part.stat().st_size if part.exists() else 0
        try:
            whole = _stream(address, part, mark, progress)
            why = "the connection ended early"
        except HTTPError as error:
            raise HowstepsError(f"{address}: {host} answers {error.code} {error.reason}") from error
        except URLError as error:
            why = str(error.reason)
        except (OSError, HTTPException) as error:
            why = str(error) or type(error).__name__
        after = part.stat().st_size if part.exists() else 0
        failures = 0 if after > before else failures + 1
        if not whole and (failures >= _ATTEMPTS or not after):
            raise HowstepsError(
                f"cannot fetch {address}: {why}. Without a network, bring {path.name} from "
                f"elsewhere, put it into {path.parent} and run this again"
            )
    part.replace(path)
    mark.unlink(missing_ok=True)


def _stream(address: str, part: Path, mark: Path, progress: Progress) -> bool:
    """One connection: add to ``part`` what comes, and say whether it is whole then.

    ``mark`` holds the server's mark of the version that ``part`` is of, so that two versions are
    never mixed: the server sends the whole file when the mark is another by now.
    """
    done = part.stat().st_size if part.exists() and mark.exists() else 0
    request = Request(address, headers={"User-Agent": "howsteps"})  # noqa: S310 - from the table
    if done:
        request.add_header("Range", f"bytes={done}-")
        request.add_header("If-Range", mark.read_text("utf-8"))
    try:
        response: HTTPResponse = build_opener(_NeverToHttp).open(request, timeout=_SILENCE)
    except HTTPError as error:
        if error.code != 416 or not done:
            raise
        part.unlink()  # it has more than the server: begin again
        return _stream(address, part, mark, progress)
    with response, part.open("ab" if response.status == 206 else "wb") as file:
        if response.status != 206:
            done = 0
            tag = response.headers.get("ETag") or response.headers.get("Last-Modified")
            mark.write_text(tag, "utf-8") if tag else mark.unlink(missing_ok=True)
        # What the server's own words of a length come to, if they come to a number.
        total = None if response.length is None else done + response.length
        while block := response.read(_BLOCK):
            file.write(block)
            done += len(block)
            progress(done, total)
    return total is None or done == total


class _NeverToHttp(HTTPRedirectHandler):
    """Follows redirects, but not from an address that is safe to one that is not."""

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
            raise HowstepsError(f"{req.full_url} leads to {newurl}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
