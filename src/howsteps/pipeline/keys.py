"""The keys of cached results: hashes of everything a result was computed from.

That includes the source code of the stage, but of this stage only: a change to the localiser does
not cause thousands of narrations to be parsed again.
"""

from collections.abc import Collection
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import howsteps
from howsteps.engine.cache import key_of
from howsteps.io.files import sha256_of_file
from howsteps.records import narration_record
from howsteps.task import Video

# The packages and modules that a stage runs, without those for input, output and evaluation.
_NARRATION = ("captions", "wordnet", "narration", "task.py", "compiled.py")
SOURCES = {
    "narration": _NARRATION,
    "script": (*_NARRATION, "script"),
    "localise": (*_NARRATION, "script", "localise", "localisation.py"),
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
    return key_of(1, narration=narration_record(video))


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
