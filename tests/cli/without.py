"""Run commands of howsteps where some modules are not installed: ``python without.py``.

Cases come as JSON on stdin, a list of [modules, arguments]; exit code and output of each go to
stdout. Every case is a fork of one process that has loaded nothing optional, which takes a tenth of
the time of a program of its own.
"""

import importlib.util
import json
import os
import sys
import tempfile
import traceback
from typing import Any

import howsteps.localise.method
import howsteps.narration.relevance
import howsteps.pipeline.run
import howsteps.report.exports
import howsteps.script  # noqa: F401 - loaded once, for all cases
from howsteps import errors
from howsteps._cli.app import main


class Absent:
    """An import hook that hides some modules."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def find_spec(self, name: str, *_: object) -> None:
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def run(modules: list[str], arguments: list[str]) -> dict[str, Any]:
    assert not [name for name in modules if name in sys.modules]
    with tempfile.TemporaryFile("w+") as said:
        child = os.fork()
        if not child:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            os._exit(in_child(modules, arguments))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        return {"code": code, "said": said.read()}


def in_child(modules: list[str], arguments: list[str]) -> int:
    real = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> Any:
        return None if name.partition(".")[0] in modules else real(name, package)

    sys.meta_path.insert(0, Absent(modules))
    importlib.util.find_spec = errors.find_spec = find_spec
    sys.argv = ["howsteps", *arguments]
    code: Any = 0
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
        code = 99
    sys.stdout.flush()
    sys.stderr.flush()
    return int(code)


if __name__ == "__main__":
    json.dump([run(*case) for case in json.load(sys.stdin)], sys.stdout)
