"""The keys of stage results in the cache, and the cache of commands without a work folder."""

import hashlib
import os
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

import howsteps
from howsteps.io.cache import Cache
from howsteps.io.files import key_of, sha256_of_file
from howsteps.task import Video


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


def _digest(path: Path, suffixes: Collection[str] = ()) -> str:
    """A hash of a file, or of the names and contents of the files under a folder."""
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    wanted = [p for p in files if not suffixes or p.suffix in suffixes]
    return key_of(0, files=[[p.relative_to(path).as_posix(), sha256_of_file(p)] for p in wanted])


def parser_identity(parser: str | None) -> str:
    """What identifies a parser: the content of its folder, or its name and version."""
    from howsteps.narration.parser import SHIPPED  # noqa: PLC0415 - loads spaCy

    folder = SHIPPED if parser is None else Path(parser)
    if folder.is_dir():
        return _digest(folder)
    try:
        return f"{parser} {version(str(parser))}"
    except PackageNotFoundError:
        return str(parser)
