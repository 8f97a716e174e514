"""The options of a run in its work folder."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from howsteps.errors import HowstepsError, InputError
from howsteps.pipeline.options import (
    RunOptions,
    check_workers,
    read_options,
    read_project,
    write_options,
)

INVALID: dict[str, list[Any]] = {
    "steps": [0, 1.5, "3", True],
    "mode": ["zzz", None],
    "seed": [-1, 2**70],
    "vision": ["maybe"],
    "quick": [None],
    "device": ["zzz"],
    "title": [5],
    "extents": ["everything", None],
}


def test_options_are_read_back(tmp_path: Path) -> None:
    options = RunOptions(
        steps=7, mode="paper", vision=False, quick=True, title="Bain du chat, à deux"
    )
    write_options(options, tmp_path)
    assert read_options(tmp_path) == options


def test_a_folder_without_options_has_none(tmp_path: Path) -> None:
    assert read_options(tmp_path) is None


@pytest.mark.parametrize("name", INVALID)
def test_an_invalid_option_is_an_error_that_names_it(tmp_path: Path, name: str) -> None:
    for value in INVALID[name]:
        with pytest.raises(HowstepsError, match=f"^{name}: "):
            RunOptions(**{name: value})
        (tmp_path / "options.json").write_text(json.dumps({**asdict(RunOptions()), name: value}))
        with pytest.raises(InputError, match=rf"options\.json: {name}: "):
            read_options(tmp_path)


def test_options_of_another_version_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "options.json").write_text(json.dumps({"steps": 7, "speed": 9}))
    assert read_options(tmp_path) == RunOptions(steps=7)


@pytest.mark.parametrize("workers", [0, 1.5, "x", True])
def test_workers_are_counted(workers: object) -> None:
    with pytest.raises(HowstepsError, match=r"^workers: "):
        check_workers(workers)


class TestProjectFile:
    def write(self, folder: Path, text: str) -> Path:
        (folder / "howsteps.toml").write_text(text, "utf-8")
        return folder

    def test_options_have_their_names_of_the_command_line_or_of_python(
        self, tmp_path: Path
    ) -> None:
        self.write(tmp_path, 'title = "tea"\nkeep-all = true\nllm = "m"\ndrop = ["x"]\n')
        assert read_project(tmp_path) == {
            "title": "tea",
            "keep_all": True,
            "llm": "m",
            "drop": ("x",),
        }

    def test_a_folder_without_the_file_has_no_options(self, tmp_path: Path) -> None:
        assert read_project(tmp_path) == {}

    @pytest.mark.parametrize(
        ("text", "error"),
        [
            ('title = "tea"\n\nspeed = 9\n', "toml: speed: is no option here; the options are"),
            ('# steps = 3\nsteps = "ten"\n', "toml: steps: Expected int, got str"),
            ('keep = "all"\n', "toml: keep: "),
            ('device = "abacus"\n', "toml: device: "),
            ('mode = "best"\n', "mode: Expected one of 'default', 'paper', 'authors'"),
            ("quick = true\ntitle =\n", "toml: is not TOML: Invalid value (at line 2"),
            ('[llm]\nname = "x"\n', "toml: llm: Expected str, got object"),
            ('parser = "mine"\n', "toml: parser: is no option here"),
            ("workers = 1000\n", "toml: workers: is no option here"),
            ('llm_url = "http://theirs/v1"\n', "toml: llm_url: is no option here"),
            ("llm_tokens = 1000000000\n", "toml: llm_tokens: is no option here"),
            (f"steps = {'9' * 5000}\n", "toml: is not TOML: Exceeds the limit"),
            (f"keep = {'[' * 50_000}\n", "toml: is not TOML: maximum recursion depth"),
            (f"{'.'.join('a' * 100_000)} = 1\n", "toml: is too large to be a project file"),
            ('speech = "theirs/model"\n', "toml: speech: "),
            ("\0", "toml: is not TOML"),
            ('title = " "\n', "toml: title: "),
            ('keep = ["x"]\ndrop = ["x"]\n', "toml: a video cannot be both kept and dropped: 'x'"),
        ],
    )
    def test_an_error_names_the_option(self, tmp_path: Path, text: str, error: str) -> None:
        with pytest.raises(InputError) as raised:
            read_project(self.write(tmp_path, text))
        assert error in str(raised.value)

    def test_a_file_that_is_not_text_is_an_error(self, tmp_path: Path) -> None:
        (tmp_path / "howsteps.toml").write_bytes(b'title = "\xff"')
        with pytest.raises(InputError, match="is not TOML"):
            read_project(tmp_path)
