"""Runs on video files: each is decoded once, also after a kill, and broken ones are reported."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from howsteps._cli.app import app
from howsteps.pipeline.apply import apply
from howsteps.pipeline.context import Event, StageEnded
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import Run, run
from tests.films import film
from tests.pipeline.jobs import captions, narration, written

pytestmark = pytest.mark.slow

LOOKING = RunOptions(vision=True, quick=True)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = captions(tmp_path_factory.mktemp("films") / "wash a cat", ("ann", "bob", "eve"))
    for name in ("ann", "bob"):
        film(folder / f"{name}.mp4", 46.0 if name == "ann" else 47.0)
    (folder / "eve.mp4").write_bytes(b"no film at all")
    (folder / "noise.mp4").write_bytes(b"no film either, and no captions")
    return folder


@pytest.fixture(scope="module")
def done(job: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    out = tmp_path_factory.mktemp("looked") / "out"
    return out, run(job, out, LOOKING, workers=2)


def test_a_broken_video_keeps_its_captions_and_does_not_affect_others(
    job: Path, done: tuple[Path, Run]
) -> None:
    _, found = done
    result = found.results["wash a cat"]
    assert [video.id for video in result.task.videos] == ["ann", "bob", "eve"]
    problems = {p.path: p.reason for p in found.problems if not p.harmless}
    assert set(problems) == {job / "eve.mp4", job / "noise.mp4"}
    assert problems[job / "eve.mp4"].endswith("; its captions are used")
    durations = {video.id: video.duration for video in result.task.videos}
    assert durations["ann"] == pytest.approx(46.0, abs=0.2)
    assert all(
        any(p.video == v and p.time is not None for p in result.localisations) for v in durations
    )


def test_an_unusable_file_is_reported_once(job: Path, done: tuple[Path, Run]) -> None:
    _, found = done
    [line] = [p.reason for p in found.problems if p.path == job / "noise.mp4"]
    assert line.startswith("not used: is not a readable video file")


def test_videos_are_decoded_once_and_one_worker_gives_the_same_bytes(
    job: Path, done: tuple[Path, Run], tmp_path: Path
) -> None:
    out, _ = done
    copy = Path(shutil.copytree(out, tmp_path / "copy"))
    events: list[Event] = []
    run(job, copy, LOOKING, callback=events.append)
    [looked] = [e for e in events if isinstance(e, StageEnded) and e.stage == "features"]
    assert looked.cached == 2
    assert written(copy) == written(out)


def test_the_features_command_reuses_descriptors_of_a_run(
    job: Path, done: tuple[Path, Run], tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(done[0], tmp_path / "copy"))
    said = CliRunner().invoke(app, ["features", str(job), "--quick", "--out", str(copy), "-q"])
    assert "2 of 4 videos described (2 cached)" in said.stdout


def test_a_model_of_frames_needs_video_files(
    job: Path, done: tuple[Path, Run], tmp_path: Path
) -> None:
    told = tmp_path / "flo.srt"
    told.write_text(narration("flo"))
    found = apply(done[0], [job / "bob.mp4", told], tmp_path / "out")
    [result] = found.results.values()
    assert [video.id for video in result.task.videos] == ["bob"]
    assert len(result.localisations) == len(result.script.steps) > 0
    assert [str(problem) for problem in found.problems if not problem.harmless] == [
        "flo: not used: the model needs video frames, but there is no video file"
    ]


KILLED = """
import sys
from pathlib import Path
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
import os, signal
def callback(event):
    if type(event).__name__ == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)
options = RunOptions(vision=True, quick=True)
run(sys.argv[1], Path(sys.argv[2]), options, workers=2, callback=callback)
"""


def test_a_run_killed_while_decoding_resumes_to_the_same_bytes(
    job: Path, done: tuple[Path, Run], tmp_path: Path
) -> None:
    out, _ = done
    program = [sys.executable, "-c", KILLED, str(job), str(tmp_path / "out"), "ItemAt"]
    assert subprocess.run(program, check=False).returncode == -9  # noqa: S603
    run(job, tmp_path / "out", LOOKING, workers=2)
    assert written(tmp_path / "out") == written(out)
