"""``howsteps demo`` without eyes: the captions alone, scored against the truth."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from howsteps._cli.app import app
from howsteps.errors import CannotWrite
from howsteps.extras import Extra


@pytest.fixture(autouse=True)
def without_eyes(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Extra("vision", "looking", ("no_such_module",))
    monkeypatch.setattr("howsteps._cli.demo.VISION", absent)


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "file"), "--quiet"])
    assert isinstance(done.exception, CannotWrite)


def test_the_captions_alone_give_a_script_and_its_scores(tmp_path: Path) -> None:
    arguments = ["demo", "--out", str(tmp_path / "demo"), "--workers", "1", "--quiet"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0
    assert "pip install 'howsteps[vision]'" in " ".join(done.stderr.split())
    assert f"written to {tmp_path / 'demo' / 'steps'}" in done.stdout
    [line] = [line for line in done.stdout.splitlines() if line.startswith("the script")]
    precision, recall, _ = map(float, line.split()[-3:])
    assert precision >= 0.7
    assert recall >= 0.5
    assert not list((tmp_path / "demo" / "videos").rglob("*.mp4"))
