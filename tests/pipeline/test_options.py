"""The options of a run in its work folder."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from howsteps.errors import HowstepsError, InputError
from howsteps.pipeline.options import RunOptions, check_workers, read_options, write_options

INVALID: dict[str, list[Any]] = {
    "steps": [0, 1.5, "3", True],
    "mode": ["zzz", None],
    "seed": [-1, 2**70],
    "vision": ["maybe"],
    "quick": [None],
    "device": ["zzz"],
    "title": [5],
}


def test_options_are_read_back(tmp_path: Path) -> None:
    options = RunOptions(
        steps=7, mode="paper", vision=False, quick=True, title="Bain du chat, à deux"
    )
    write_options(options, tmp_path)
    assert read_options(tmp_path) == options


def test_a_folder_without_options_has_none(tmp_path: Path) -> None:
    assert read_options(tmp_path) is None


@pytest.mark.parametrize("value", [[], {}, {"steps": 7}])
def test_invalid_options_are_an_error_that_names_the_file(tmp_path: Path, value: object) -> None:
    (tmp_path / "options.json").write_text(json.dumps(value))
    with pytest.raises(InputError, match=r"options\.json: .*delete it"):
        read_options(tmp_path)


@pytest.mark.parametrize("name", INVALID)
def test_an_invalid_option_is_an_error_that_names_it(tmp_path: Path, name: str) -> None:
    for value in INVALID[name]:
        with pytest.raises(HowstepsError, match=f"^{name}: "):
            RunOptions(**{name: value})
        (tmp_path / "options.json").write_text(json.dumps({**asdict(RunOptions()), name: value}))
        with pytest.raises(InputError, match=rf"options\.json: {name}: .*delete it"):
            read_options(tmp_path)


def test_an_unknown_option_is_named(tmp_path: Path) -> None:
    value = {**asdict(RunOptions()), "speed": 9}
    (tmp_path / "options.json").write_text(json.dumps(value))
    with pytest.raises(InputError, match=r"'speed', which is no option of this version; delete it"):
        read_options(tmp_path)


@pytest.mark.parametrize("workers", [0, 1.5, "x", True])
def test_workers_are_counted(workers: object) -> None:
    with pytest.raises(HowstepsError, match=r"^workers: "):
        check_workers(workers)
