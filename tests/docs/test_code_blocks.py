"""Every code block of README and docs runs as printed."""

import ast
import json
from pathlib import Path
from types import ModuleType

import pytest

from . import commands
from .pages import PAGES, Block, blocks, name

# Languages of what is no code: layouts of folders, diagrams, tables.
PROSE = {"text", "csv", "toml"}
WITH_CODE = [page for page in PAGES if any(b.language not in PROSE for b in blocks(page))]


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_CODE, ids=name)
@pytest.mark.usefixtures("workplace")
def test_every_block_of_a_page_runs(page: Path) -> None:
    module = ModuleType("__page__")  # what one block defines, the next ones know
    for block in blocks(page):
        try:
            _LANGUAGES[block.language](block, module)
        except Exception as error:
            pytest.fail(f"{block}: {type(error).__name__}: {error}")


def _run_python(block: Block, module: ModuleType) -> None:
    tree = ast.parse(block.text, str(block))
    if block.not_run is not None:  # what it imports is there
        tree.body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    exec(compile(tree, str(block), "exec"), module.__dict__)  # noqa: S102 - our own pages


def _run_commands(block: Block, _: ModuleType) -> None:
    for words in commands.command_lines(block.text):
        (commands.run if block.not_run is None else commands.check)(words)


def _read_json(block: Block, _: ModuleType) -> None:
    json.loads(block.text)


def _leave(*_: object) -> None:
    pass


_LANGUAGES = {
    "python": _run_python,
    "sh": _run_commands,
    "json": _read_json,
    **dict.fromkeys(PROSE, _leave),
}
