"""The options of a run, and ``options.json`` in the work folder."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from howsteps.errors import HowstepsError, InputError
from howsteps.io.checked import Malformed, boolean, integer, optional, part
from howsteps.io.files import write_atomically
from howsteps.io.text import read_json
from howsteps.task import Mode

# In the order in which they run; also the names of the cache folders.
STAGES = ("transcribe", "narration", "script", "editor", "features", "localise")

INTERVAL = 1 / 3  # seconds: ten frames at thirty a second
FILE = "options.json"
_DEVICES = ("cpu", "cuda")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options that affect the result; an invalid value raises a ``HowstepsError``.

    Parameters
    ----------
    steps
        The maximum number of steps of the script; chosen automatically if None.
    mode
        ``default``, ``paper`` or ``authors``, in every stage.
    seed
        The random seed; the same seed gives the same result.
    parser
        A spaCy pipeline, by name or folder, instead of the one that ships.
    speech
        The Whisper model that transcribes videos without captions; None: do not transcribe.
    vision
        Whether to use the video frames: True, False, or None for "if the extra is installed".
    quick
        Use small frames at one scale, in any mode. Several times faster, and enough if the steps
        look clearly different.
    device
        ``cpu`` or ``cuda``, for what can use it.
    title
        The name of the job, instead of the name of its folder. Doing the job is not one of its
        steps, so a good title makes a better script.
    keep_all
        Use all videos, including those that seem to be of another job.
    """

    steps: int | None = None
    mode: Mode = "default"
    seed: int = 0
    parser: str | None = None
    speech: str | None = None
    vision: bool | None = None
    quick: bool = False
    device: str = "cpu"
    title: str | None = None
    keep_all: bool = False

    def __post_init__(self) -> None:
        for name, check in _CHECKS.items():
            _checked(name, check, getattr(self, name))


def check_workers(workers: object) -> None:
    """Raise an error if ``workers`` is not a number of processes."""
    _checked("workers", _positive, workers)


def _checked(name: str, check: Callable[[object], object], value: object) -> None:
    try:
        part(name, lambda: check(value))
    except Malformed as error:
        raise HowstepsError(str(error)) from None


def _positive(value: object) -> int:
    if (count := integer(value)) < 1:
        raise Malformed(f"{value!r} is less than 1")
    return count


def _seed(value: object) -> int:
    if (seed := integer(value)) < 0:
        raise Malformed(f"{value!r} is negative")
    return seed


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise Malformed(f"{value!r} is not a string")
    return value


def _one_of(*choices: str) -> Callable[[object], object]:
    def check(value: object) -> object:
        if value not in choices:
            raise Malformed(f"{value!r} is not one of {', '.join(choices)}")
        return value

    return check


_CHECKS: Mapping[str, Callable[[object], object]] = {
    "steps": optional(_positive),
    "mode": _one_of(*get_args(Mode)),
    "seed": _seed,
    "parser": optional(_string),
    "speech": optional(_string),
    "vision": optional(boolean),
    "quick": boolean,
    "device": _one_of(*_DEVICES),
    "title": optional(_string),
    "keep_all": boolean,
}


def write_options(options: RunOptions, folder: Path) -> None:
    """Write the options into the work folder."""
    text = json.dumps(asdict(options), ensure_ascii=False, indent=1)
    write_atomically(folder / FILE, f"{text}\n".encode())


def read_options(folder: Path) -> RunOptions | None:
    """Read the options of the run that made a work folder; None if there is no file.

    Raises
    ------
    InputError
        The file is not what :func:`write_options` writes.
    """
    path = folder / FILE
    if not path.exists():
        return None
    value: Any = read_json(path)
    try:
        if not isinstance(value, dict) or not value.keys() >= _CHECKS.keys():
            raise HowstepsError("does not hold the options of a run")
        if unknown := sorted(value.keys() - _CHECKS.keys()):
            raise HowstepsError(f"holds {unknown[0]!r}, which is no option of this version")
        return RunOptions(**value)
    except HowstepsError as error:
        raise InputError(path, f"{error}; delete it to use the defaults") from None
