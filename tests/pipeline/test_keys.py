"""Cache keys depend on the source code of their stage, and on no other."""

from pathlib import Path

import pytest

import howsteps
from howsteps.pipeline import cache
from tests.test_architecture import imported

PACKAGE = Path(howsteps.__file__).parent
# What they do cannot change a result: they read, check, or fail.
HARMLESS = {"errors", "io", "store"}


def modules(names: tuple[str, ...]) -> list[Path]:
    return [path for name in names for path in [PACKAGE / name, *(PACKAGE / name).rglob("*.py")]]


@pytest.mark.parametrize("stage", cache.SOURCES)
def test_imports_of_a_stage_are_part_of_its_key(stage: str) -> None:
    own = {name.partition("/")[0].removesuffix(".py") for name in cache.SOURCES[stage]}
    for path in modules(cache.SOURCES[stage]):
        if path.is_file():
            assert set(imported(path)) <= own | HARMLESS, path


def test_a_change_to_the_localiser_keeps_cached_narrations_and_scripts() -> None:
    for stage in ("narration", "script"):
        assert "localise" not in cache.SOURCES[stage]
    assert "script" not in cache.SOURCES["narration"]
