"""The keys of cached results: the code that a stage runs, and no other, is part of them."""

from pathlib import Path

import pytest

import howsteps
from howsteps.pipeline import keys
from tests.test_architecture import imported

PACKAGE = Path(howsteps.__file__).parent
# What they do cannot change a result: they read, check, or fail.
HARMLESS = {"errors", "extras", "io"}


def modules(names: tuple[str, ...]) -> list[Path]:
    return [path for name in names for path in [PACKAGE / name, *(PACKAGE / name).rglob("*.py")]]


@pytest.mark.parametrize("stage", keys.SOURCES)
def test_what_the_code_of_a_stage_imports_is_part_of_its_key(stage: str) -> None:
    own = {name.removesuffix(".py") for name in keys.SOURCES[stage]}
    for path in modules(keys.SOURCES[stage]):
        if path.is_file():
            assert set(imported(path)) <= own | HARMLESS, path


def test_a_change_of_how_steps_are_placed_leaves_narrations_and_scripts_alone() -> None:
    for stage in ("narration", "script"):
        assert not {"localise", "localisation.py"} & {*keys.SOURCES[stage]}
    assert "script" not in keys.SOURCES["narration"]
