"""``howsteps demo``, with and without video: the result is scored against the ground truth."""

import shutil
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from howsteps._cli.app import app
from howsteps.demo import job
from howsteps.errors import CannotWrite, Extra

FIVE = ("dee.en.vtt", "ines.en.srt", "jo.tsv", "priya.json", "rico.json")  # the shortest


@pytest.fixture
def without_eyes(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Extra("demo", "drawing", ("no_such_module",))
    monkeypatch.setattr("howsteps._cli.demo.DEMO", absent)


def demo(out: Path) -> Result:
    return CliRunner().invoke(app, ["demo", "--out", str(out), "--workers", "1", "--quiet"])


def scores(shown: str, of: str) -> tuple[float, ...]:
    """Precision, recall and F1 in a row of the table."""
    [line] = [line for line in shown.splitlines() if line.startswith(of)]
    return tuple(map(float, line.split()[-3:]))


@pytest.fixture
def five_narrators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five of the thirteen videos, at fewer frames a second: all of them would take minutes."""
    part = tmp_path / "part"
    with as_file(files("howsteps.demo")) as demo:
        (part / job.NAME).mkdir(parents=True)
        for captions in FIVE:
            shutil.copy(demo / job.NAME / captions, part / job.NAME)
        shutil.copy(demo / "judgement.json", part)
        heading, *rows = (demo / "steps.csv").read_text("utf-8").splitlines()
        names = {captions.split(".")[0] for captions in FIVE}
        ours = [row for row in rows if row.split(",")[0] in names]
        (part / "steps.csv").write_text("\n".join([heading, *ours]) + "\n", "utf-8")
    monkeypatch.setattr(job, "files", lambda _: part)
    monkeypatch.setattr(job, "DEMO_FRAME_RATE", 4)


@pytest.mark.slow
@pytest.mark.usefixtures("five_narrators")
def test_videos_are_rendered_and_the_steps_found(tmp_path: Path) -> None:
    done = demo(tmp_path / "demo")
    assert done.exit_code == 0
    assert "5 videos" in done.stdout
    assert min(scores(done.stdout, "the script")) >= 0.6
    assert min(scores(done.stdout, "the places: every step")) >= 0.6
    assert len(list((tmp_path / "demo" / "videos").rglob("*.mp4"))) == 5


@pytest.mark.slow
@pytest.mark.usefixtures("without_eyes")
def test_the_captions_alone_give_a_script_and_its_scores(tmp_path: Path) -> None:
    done = demo(tmp_path / "demo")
    assert done.exit_code == 0
    assert "pip install 'howsteps[demo]'" in " ".join(done.stderr.split())
    assert f"written to {tmp_path / 'demo' / 'steps'}" in done.stdout
    precision, recall, _ = scores(done.stdout, "the script")
    assert precision >= 0.65
    assert recall >= 0.5
    assert not list((tmp_path / "demo" / "videos").rglob("*.mp4"))


@pytest.mark.usefixtures("without_eyes")
def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert isinstance(demo(tmp_path / "file").exception, CannotWrite)
