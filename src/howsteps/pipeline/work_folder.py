"""What a run leaves in its work folder, for people and for programs."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from howsteps.engine.context import Context
from howsteps.engine.events import Wrote
from howsteps.errors import Problem
from howsteps.io.files import write_atomically
from howsteps.result import FILE, read_result, text_of
from howsteps.script import record as script_file
from howsteps.task import Result, Script

CACHE = "cache"
SCRIPT = "script.json"
MODEL = "model"
EXPORTS = "exports"


class Written(Mapping[str, Result]):
    """Results by the names of their tasks, each read from its file when it is looked at.

    Thousands of them take no memory that way.
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders

    def __getitem__(self, task: str) -> Result:
        return read_result(self._folders[task])

    def __iter__(self) -> Iterator[str]:
        return iter(self._folders)

    def __len__(self) -> int:
        return len(self._folders)


def write_result(result: Result, folder: Path, work: Context) -> None:
    """Write ``result.json``."""
    write_atomically(folder / FILE, text_of(result, folder).encode())
    work.callback(Wrote(result.task.name, folder / FILE))


def write_learnt(task: str, script: Script, model: Path, folder: Path) -> None:
    """Write the script for people to edit, and a copy of the model for new videos."""
    edited = json.dumps(script_file.record({task: script}), ensure_ascii=False, indent=1)
    write_atomically(folder / SCRIPT, f"{edited}\n".encode())
    for path in sorted(model.iterdir()):
        write_atomically(folder / MODEL / path.name, path.read_bytes())


def write_report(result: Result, folder: Path, work: Context) -> list[Problem]:
    """Write what people look at, and what other programs read."""
    from howsteps.report import write_page  # noqa: PLC0415 - not needed by who only wants the result
    from howsteps.report.exports import TEXT, export  # noqa: PLC0415

    name = result.task.name
    problems: list[Problem] = []
    page = write_page(result, folder, on_problem=problems.append)
    work.callback(Wrote(name, page))
    _, unwritten = export(result, folder / EXPORTS, TEXT)
    work.callback(Wrote(name, folder / EXPORTS))
    # Nobody asked for a format by name, so one that a video is too short for is not worth a line.
    return problems + [problem for problem in unwritten if not problem.harmless]
