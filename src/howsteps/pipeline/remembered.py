"""What the run that made a work folder was asked for, for who goes on with it."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import get_args

from howsteps.errors import InputError
from howsteps.io.files import write_atomically
from howsteps.io.text import read_json
from howsteps.pipeline.options import RunOptions
from howsteps.task import Mode

FILE = "options.json"


def remember(options: RunOptions, out: Path) -> None:
    """Write the options into the work folder."""
    write_atomically(
        out / FILE, f"{json.dumps(asdict(options), ensure_ascii=False, indent=1)}\n".encode()
    )


def remembered(out: Path) -> RunOptions | None:
    """The options that were written; None where there are none.

    Raises
    ------
    InputError
        The file is not what :func:`remember` writes.
    """
    path = out / FILE
    if not path.exists():
        return None
    value = read_json(path)
    is_whole = isinstance(value, dict) and value.keys() == asdict(RunOptions()).keys()
    if not is_whole or value["mode"] not in get_args(Mode):
        raise InputError(path, "are not the options of a run; delete it to go on without")
    return RunOptions(**value)
