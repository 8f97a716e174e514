"""What the run that made a work folder was asked for, for who goes on with it."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import get_args

from howsteps.datasets.text import read_json
from howsteps.engine.files import write_whole
from howsteps.engine.options import Options
from howsteps.errors import InputError
from howsteps.task import Mode

FILE = "options.json"


def remember(options: Options, out: Path) -> None:
    """Write the options into the work folder."""
    write_whole(
        out / FILE, f"{json.dumps(asdict(options), ensure_ascii=False, indent=1)}\n".encode()
    )


def remembered(out: Path) -> Options | None:
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
    is_whole = isinstance(value, dict) and value.keys() == asdict(Options()).keys()
    if not is_whole or value["mode"] not in get_args(Mode):
        raise InputError(path, "are not the options of a run; delete it to go on without")
    return Options(**value)
