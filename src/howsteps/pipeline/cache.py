"""The cache: a folder of stage results, each named by the hash of all it was computed from."""

import hashlib
import io
import os
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

import howsteps
from howsteps.errors import InputError
from howsteps.io.arrays import unpack_arrays
from howsteps.io.files import Folder, key_of, read_bounded, sha256_of_file
from howsteps.task import Video

_LARGEST = 8 * 2**30  # bytes of an entry
_CHECKSUM = 66  # bytes: a line break before and after 64 digits
_T = TypeVar("_T")


class Cache:
    """The entries of all stages, under one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, stage: str, key: str, kind: type[_T]) -> _T | None:
        """The value of an entry; None if it is missing or damaged."""
        content = self._read(self.path(stage, key, "json"))
        try:
            return None if content is None else msgspec.json.decode(content, type=kind)
        except msgspec.DecodeError:  # written by another version of this stage
            return None

    def put(self, stage: str, key: str, value: object) -> Path:
        """Write an entry as JSON."""
        return self._write(stage, f"{key}.json", msgspec.json.encode(value))

    def json(self, stage: str, key: str) -> Any | None:
        """The JSON value of an entry; None if it is missing or damaged."""
        return self.get(stage, key, Any)

    put_json = put

    def arrays(self, stage: str, key: str) -> dict[str, NDArray[Any]] | None:
        """The arrays of an entry by name; None if it is missing or damaged."""
        path = self.path(stage, key, "npz")
        content = self._read(path)
        try:
            return None if content is None else unpack_arrays(content, path)
        except InputError:
            return None

    def put_arrays(self, stage: str, key: str, arrays: Mapping[str, NDArray[Any]]) -> Path:
        """Write an entry of named arrays; the same arrays always give the same bytes."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, array in arrays.items():
                # Opened by name, an archive member is dated 1980 instead of now.
                with archive.open(f"{name}.npy", "w") as entry:
                    np.lib.format.write_array(entry, array, allow_pickle=False)
        return self._write(stage, f"{key}.npz", buffer.getvalue())

    def path(self, stage: str, key: str, kind: str) -> Path:
        """The path of an entry."""
        return self.folder / stage / f"{key}.{kind}"

    def _read(self, path: Path) -> bytes | None:
        try:
            entry = read_bounded(path, _LARGEST, "an entry of the cache")
        except InputError:
            return None
        content, checksum = entry[:-_CHECKSUM], entry[-_CHECKSUM:]
        return content if _checksum(content) == checksum else None

    def _write(self, stage: str, name: str, content: bytes) -> Path:
        return (Folder(self.folder) / stage).write(name, (content, _checksum(content)))


def _checksum(content: bytes) -> bytes:
    """The last line of an entry, which shows whether it is damaged."""
    return f"\n{hashlib.sha256(content).hexdigest()}\n".encode()


@contextmanager
def user_cache() -> Iterator[Cache]:
    """The cache of commands without a work folder, in the user's cache folder.

    If that cannot be written, as in a container, a temporary folder is used instead.
    """
    try:
        base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
        folder = (Path(base) if base else Path.home() / ".cache") / "howsteps"
        folder.mkdir(parents=True, exist_ok=True)
        usable = os.access(folder, os.W_OK)
    except (OSError, RuntimeError):  # RuntimeError: a user without a home
        usable = False
    if usable:
        yield Cache(folder)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            yield Cache(Path(temporary))


# The packages and modules that a stage runs, without those for input, output and evaluation.
_NARRATION = ("captions", "narration", "task.py", "compiled.py")
_PAPER_SCRIPT = (
    *("paper/alignment.py", "paper/alignment_problem.py"),
    *("paper/alignment_search.py", "paper/script.py"),
)
_PAPER_LOCALISE = (
    *("paper/clustering.py", "paper/clustering_problem.py", "paper/clustering_solvers.py"),
    *("paper/localise.py", "paper/windows.py"),
)
SOURCES = {
    "narration": _NARRATION,
    "script": (*_NARRATION, "script", *_PAPER_SCRIPT),
    "localise": (*_NARRATION, "script", "localise", *_PAPER_LOCALISE),
}
_CODE = {".py", ".json", ".npz"}  # source code, and the data that ship with it


def stage_key(stage: str, **parts: object) -> str:
    """The key of a result: a hash of its inputs (``parts``) and of the stage's source code."""
    return key_of(1, code=_code(stage), **parts)


@cache
def _code(stage: str) -> str:
    """A hash of the source code that a stage runs."""
    package = Path(howsteps.__file__).parent
    return key_of(1, sources=[_digest(package / name, _CODE) for name in SOURCES[stage]])


def narration_key(video: Video) -> str:
    """A hash of one narration, so that thousands of them need not be hashed as one text."""
    return hashlib.sha256(msgspec.json.encode([video.sentences, video.mentions])).hexdigest()


def _digest(path: Path, suffixes: Collection[str] = (), without: Collection[str] = ()) -> str:
    """A hash of a file, or of the names and contents of the (selected) files under a folder."""
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    wanted = [p for p in files if (not suffixes or p.suffix in suffixes) and p.name not in without]
    return key_of(0, files=[[p.relative_to(path).as_posix(), sha256_of_file(p)] for p in wanted])


def parser_identity(parser: str | None) -> str:
    """What identifies a parser: the content of its folder, or its name and version."""
    from howsteps.narration.parser import SHIPPED  # noqa: PLC0415 - loads spaCy

    folder = SHIPPED if parser is None else Path(parser)
    if folder.is_dir():
        # Weights and configuration only: a corrected README does not make it another parser.
        return _digest(folder, without=("LICENSE", "README.md", "meta.json"))
    try:
        return f"{parser} {version(str(parser))}"
    except PackageNotFoundError:
        return str(parser)
