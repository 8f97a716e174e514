"""``howsteps demo``, with and without video: its scores, and the places that the default finds."""

import shutil
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from howsteps._cli.app import app
from howsteps.demo import job
from howsteps.errors import CannotWrite, Extra
from howsteps.store import read_result

FIVE = ("dee.en.vtt", "ines.en.srt", "jo.tsv", "priya.json", "rico.json")  # the shortest

# What the default finds in the captions alone. Whoever means to change it changes it here, and says
# in the commit what became better.
SUPPORT = {
    "turn the bike upside down": 10,
    "open the quick release": 4,
    "take off the wheel": 11,
    "let out the air": 8,
    "pry off the tire": 8,
    "pull out the tube": 12,
    "check the tire": 7,
    "push back the tire on the rim": 7,
    "pump up the tire with the pump": 12,
    "put back the wheel": 10,
    "tighten the nuts": 6,
}
PLACES = {  # seconds and confidence of each step; without a time, it is absent
    "dee": [
        *((26.5, 0.73), (37.5, 0.50), (41.5, 0.57), (47.5, 0.74)),
        *((None, 0.00), (63.5, 0.76), (75.5, 0.15), (86.5, 0.65)),
        *((97.5, 0.83), (106.5, 0.36), (106.83, 0.39)),
    ],
    "jo": [
        *((9.5, 0.28), (15.5, 0.13), (16.5, 0.82), (20.5, 0.55)),
        *((31.5, 0.50), (37.5, 0.66), (44.5, 0.76), (76.5, 0.74)),
        *((89.5, 0.85), (100.5, 0.58), (None, 0.00)),
    ],
    "priya": [
        *((9.5, 0.74), (17.5, 0.30), (16.5, 0.66), (27.5, 0.53)),
        *((44.5, 0.42), (50.5, 0.85), (57.5, 0.71), (86.5, 0.75)),
        *((99.5, 0.75), (107.5, 0.61), (111.5, 0.14)),
    ],
}


@pytest.fixture(scope="module")
def without_eyes() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        absent = Extra("demo", "drawing", ("no_such_module",))
        patch.setattr("howsteps._cli.demo.DEMO", absent)
        yield


@pytest.fixture(scope="module")
def captions_alone(
    without_eyes: None, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Result]:
    out = tmp_path_factory.mktemp("captions") / "demo"
    return out, demo(out)


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
def test_the_captions_alone_give_a_script_and_its_scores(
    captions_alone: tuple[Path, Result],
) -> None:
    out, done = captions_alone
    assert done.exit_code == 0
    assert "pip install 'howsteps[demo]'" in " ".join(done.stderr.split())
    assert f"written to {out / 'steps'}" in done.stdout
    precision, recall, _ = scores(done.stdout, "the script")
    assert precision >= 0.65
    assert recall >= 0.5
    assert not list((out / "videos").rglob("*.mp4"))


@pytest.mark.slow
def test_the_default_finds_these_steps_at_these_places(captions_alone: tuple[Path, Result]) -> None:
    result = read_result(captions_alone[0] / "steps")
    assert {step.label: step.support for step in result.script.steps} == SUPPORT
    for video, wanted in PLACES.items():
        places = [place for place in result.localisations if place.video == video]
        found = [(place.time, round(place.confidence, 2)) for place in places]
        assert found == [
            (time and pytest.approx(time, abs=0.1), pytest.approx(sure, abs=0.011))
            for time, sure in wanted
        ], video


@pytest.mark.usefixtures("without_eyes")
def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert isinstance(demo(tmp_path / "file").exception, CannotWrite)
