"""The options of a run; ``howsteps.toml`` beside the videos, and ``options.json`` of a result."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

from msgspec import Meta

from howsteps.datasets.collection import PROJECT
from howsteps.errors import HowstepsError, InputError, Problem
from howsteps.io.files import Folder, read_bounded
from howsteps.store import converted, read_record, write_record
from howsteps.task import Count, Extents, Index, Mode

# In the order in which they run; also the names of the cache folders.
STAGES = (
    "transcribe",
    "narration",
    "script",
    "editor",
    "reading",
    "features",
    "segments",
    "localise",
)

INTERVAL = 1 / 3  # seconds: ten frames at thirty a second
FILE = "options.json"
_LARGEST_PROJECT = 2**16  # bytes; tomllib takes quadratic time for long keys
_Device: TypeAlias = Annotated[str, Meta(pattern="^(cpu|cuda)$")]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options that affect the result; an invalid value raises a ``HowstepsError``.

    They are described where a user gives them: :func:`howsteps.discover`. ``llm`` is the language
    model that was asked; a later run without one goes by its answers.
    """

    steps: Count | None = None
    mode: Mode = "default"
    seed: Index = 0
    parser: str | None = None
    speech: str | None = None
    vision: bool | None = None
    quick: bool = False
    device: _Device = "cpu"
    title: str | None = None
    keep_all: bool = False
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    extents: Extents = "found"
    llm: str | None = None

    def __post_init__(self) -> None:
        if both := set(self.keep) & set(self.drop):
            raise HowstepsError(f"a video cannot be both kept and dropped: {min(both)!r}")
        for name, kind in _kinds().items():
            _check(name, getattr(self, name), kind)


@cache
def _kinds() -> dict[str, Any]:
    """The type of every option."""
    return get_type_hints(RunOptions, include_extras=True)


def one_or_more(ids: str | Sequence[str]) -> tuple[str, ...]:
    """Ids of videos; a single one may be given as it is."""
    return (ids,) if isinstance(ids, str) else tuple(ids)


def check_workers(workers: object) -> None:
    """Raise an error if ``workers`` is not a number of processes."""
    _check("workers", workers, Count)


def _check(name: str, value: object, kind: Any) -> None:
    try:
        converted(value, kind)
    except ValueError as error:
        raise HowstepsError(f"{name}: {error}, not {value!r}") from None


@cache
def _project_kinds() -> dict[str, Any]:
    """The type of every option in a project file.

    The videos may come from somebody else: none names code, another file or a server, or starts a
    thousand processes.
    """
    own = {name: kind for name, kind in _kinds().items() if name != "parser"}
    name = Annotated[str, Meta(pattern=r"^[\w.-]+$")]  # not a folder, and nobody's repository
    text = Annotated[str, Meta(pattern=r"\S")]
    return {**own, "title": text, "llm": text, "speech": name}


def project_file(source: Path) -> Path:
    """Where the ``howsteps.toml`` of a folder of videos, or of a single file in it, would be."""
    return (source.parent if source.is_file() else source) / PROJECT


def read_project(source: Path) -> dict[str, Any]:
    """The options in the ``howsteps.toml`` of a folder of videos; none without the file.

    Raises ``InputError`` if there is no such option, or its value is invalid.
    """
    path = project_file(source)
    if not path.exists():
        return {}
    try:
        given = tomllib.loads(read_bounded(path, _LARGEST_PROJECT, "a project file").decode())
    except (ValueError, RecursionError) as error:  # ValueError: also a number of many digits
        raise InputError(path, f"is not TOML: {error}") from None
    kinds, found = _project_kinds(), {}
    for key, value in given.items():
        if (name := key.replace("-", "_")) not in kinds:
            reason = f"is no option here; the options are {', '.join(sorted(kinds))}"
            raise InputError(path, f"{key}: {reason}")
        try:
            found[name] = converted(value, kinds[name])
        except ValueError as error:
            raise InputError(path, f"{key}: {str(error).replace(' | null', '')}") from None
    try:
        RunOptions(keep=found.get("keep", ()), drop=found.get("drop", ()))
    except HowstepsError as error:
        raise InputError(path, str(error)) from None
    return found


def write_options(options: RunOptions, folder: Path) -> None:
    """Write the options into the work folder."""
    write_record(Folder(folder), FILE, options)


def read_options(folder: Path) -> RunOptions | None:
    """Read the options of the run that made a work folder; None if there is no file.

    Raises ``InputError`` if a value is invalid.
    """
    path = folder / FILE
    try:
        return read_record(path, RunOptions) if path.exists() else None
    except HowstepsError as error:
        raise error if isinstance(error, InputError) else InputError(path, str(error)) from None


def trusted_options(folder: Path, parser: str | None = None) -> tuple[RunOptions, list[Problem]]:
    """The options of a work folder, except those that load code or models, and a remark on these.

    The folder may come from somebody else, so ``parser`` is what the user gives.
    """
    found = read_options(folder) or RunOptions()
    remarks = []
    if found.parser not in (None, parser):
        reason = f"the parser {found.parser!r} is not loaded; if you trust it, give it as `parser`"
        remarks = [Problem(folder / FILE, reason, harmless=True)]
    return replace(found, parser=parser, speech=None), remarks
