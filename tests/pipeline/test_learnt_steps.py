"""The steps of a model, written and read back."""

import json
from pathlib import Path

import pytest

from howsteps.errors import InputError
from howsteps.pipeline.work_folder import (
    STEPS_FILE,
    LearntStep,
    LearntSteps,
    load_steps,
    save_steps,
)
from howsteps.script.matching import ActWithContext
from tests.report.job import tea

LEARNT = LearntSteps(
    "make tea",
    (
        LearntStep("fill the kettle", 4, (ActWithContext("fill", "up", "kettle", ("tap",)),)),
        LearntStep("hum", 0, ()),
    ),
)


def test_steps_are_read_back(tmp_path: Path) -> None:
    save_steps(LEARNT, tmp_path)
    assert load_steps(tmp_path, ("fill the kettle", "hum")) == LEARNT


def test_a_step_is_stored_with_its_acts() -> None:
    job = tea(4, 3)
    found = LearntSteps.of(job.task, job.script)
    assert found.job == job.task.name
    assert [step.support for step in found.steps] == [s.support for s in job.script.steps]
    assert found.steps[0].acts == (ActWithContext("fill", "", "kettle", ()),)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 9},
        {"job": 1},
        {"steps": None},
        {"steps": [{"label": "fill the kettle", "support": "x", "acts": []}]},
        {"steps": [{"label": "fill the kettle", "support": 1, "acts": [{"verb": "fill"}]}]},
        {"steps": []},
    ],
)
def test_anything_else_is_an_error(tmp_path: Path, change: dict[str, object]) -> None:
    save_steps(LEARNT, tmp_path)
    path = tmp_path / STEPS_FILE
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | change))
    with pytest.raises(InputError, match=r"steps\.json"):
        load_steps(tmp_path, ("fill the kettle", "hum"))
