"""Page and exports of many videos take linear time."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from howsteps.api import export
from howsteps.report.content import content
from howsteps.report.exports import TEXT_FORMATS
from howsteps.task import Result

from .job import tea

VIDEOS = 24
MAX_PASSES = 12  # over all localisations, or all mentions of a step


class Counted(tuple[Any, ...]):
    """A tuple that counts how often it is iterated over."""

    times: int

    def __iter__(self):
        self.times = getattr(self, "times", 0) + 1
        return super().__iter__()


@pytest.fixture
def result() -> Result:
    whole = tea(VIDEOS, 4)
    steps = tuple(replace(step, mentions=Counted(step.mentions)) for step in whole.script.steps)
    script = replace(whole.script, steps=steps)
    return replace(whole, script=script, localisations=Counted(whole.localisations))


def max_passes(result: Result) -> int:
    seen = [result.localisations, *(step.mentions for step in result.script.steps)]
    return max(getattr(each, "times", 0) for each in seen)


def test_the_page(result: Result) -> None:
    content(result, Path("out"), {})
    assert 0 < max_passes(result) <= MAX_PASSES


@pytest.mark.parametrize("name", TEXT_FORMATS)
def test_an_export(result: Result, name: str, tmp_path: Path) -> None:
    export(result, tmp_path, [name])
    assert 0 < max_passes(result) <= MAX_PASSES
