"""The options of a run in its work folder."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from howsteps.errors import InputError
from howsteps.pipeline.options import RunOptions, read_options, write_options


def test_options_are_read_back(tmp_path: Path) -> None:
    options = RunOptions(
        steps=7, mode="paper", vision=False, quick=True, title="Bain du chat, à deux"
    )
    write_options(options, tmp_path)
    assert read_options(tmp_path) == options


def test_a_folder_without_options_has_none(tmp_path: Path) -> None:
    assert read_options(tmp_path) is None


@pytest.mark.parametrize(
    "value",
    [[], {}, {"steps": 7}, {"quick": True, "speed": 9}, {**asdict(RunOptions()), "mode": "x"}],
)
def test_invalid_options_are_an_error_that_names_the_file(tmp_path: Path, value: object) -> None:
    (tmp_path / "options.json").write_text(json.dumps(value))
    with pytest.raises(InputError, match=r"options\.json: .*delete it"):
        read_options(tmp_path)
