"""The options of a run, and ``options.json`` in the work folder."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from howsteps.errors import InputError
from howsteps.io.files import write_atomically
from howsteps.io.text import read_json
from howsteps.task import Mode

# In the order in which they run; also the names of the cache folders.
STAGES = ("transcribe", "narration", "script", "editor", "features", "localise")

INTERVAL = 1 / 3  # seconds: ten frames at thirty a second
FILE = "options.json"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options that affect the result.

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
    value = read_json(path)
    is_complete = isinstance(value, dict) and value.keys() == asdict(RunOptions()).keys()
    if not is_complete or value["mode"] not in get_args(Mode):
        raise InputError(
            path, "does not hold the options of a run; delete it to continue without them"
        )
    return RunOptions(**value)
