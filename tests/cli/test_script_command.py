"""``howsteps script`` from the command line."""

from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from howsteps._cli.app import app
from howsteps._cli.script import script, show_script
from howsteps.task import Script, Step, Task
from tests.pipeline.jobs import captions
from tests.script import spoken

CAPTION = "1\n00:00:01,000 --> 00:00:05,000\nfill the tub\n\n"
NARRATIONS = ("fill tub; catch cat; dry off cat", "fill tub; dry off cat", "fill tub; catch cat")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Caption files, and a fake parser with a prepared narration for each."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))

    def extract_relations(task: Task, **_: object) -> Task:
        [video] = task.videos
        [found] = spoken.task(NARRATIONS[int(video.id[1:])]).videos
        mentions = tuple(replace(mention, video=video.id) for mention in found.mentions)
        return replace(task, videos=(replace(found, id=video.id, mentions=mentions),))

    monkeypatch.setattr("howsteps.narration.extract_relations", extract_relations)
    captions = tmp_path / "wash a cat"
    captions.mkdir()
    for n in range(3):
        (captions / f"v{n}.srt").write_text(CAPTION)
    return captions


def run(*arguments: str | Path) -> tuple[int, str, str]:
    alone = typer.Typer()
    alone.command()(script)
    result = CliRunner().invoke(alone, [str(argument) for argument in arguments])
    return result.exit_code, result.stdout, result.stderr


def test_the_steps_are_listed_in_order(folder: Path) -> None:
    code, out, _ = run(folder, "--quiet", "--steps", "9")
    assert code == 0
    assert "wash a cat: 3 steps from 3 videos" in out
    assert out.index("fill the tub") < out.index("catch the cat") < out.index("dry off the cat")


def test_a_video_is_dropped_by_its_youtube_id(folder: Path) -> None:
    (folder / "v1.info.json").write_text('{"id": "dQw4w9WgXcQ", "extractor_key": "Youtube"}')
    _, out, _ = run(folder, "--quiet", "--steps", "9", "--drop", "dQw4w9WgXcQ")
    assert "from 2 videos" in out


def test_a_video_to_drop_must_be_there(folder: Path) -> None:
    code, out, _ = run(folder, "--quiet", "--drop", "zoe")
    assert (code, out) == (1, "")


def test_one_narration_may_have_no_steps(folder: Path) -> None:
    code, out, _ = run(folder / "v0.srt", "--quiet", "--mode", "paper", "--steps", "2")
    assert code == 0
    assert "no relation stands out" in out


def test_a_step_without_mentions_has_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    task = spoken.task("fill tub; dry cat", "fill tub")
    mentions = tuple(video.mentions[0] for video in task.videos)
    show_script(task, Script((Step("fill the tub", mentions), Step("sing", ()))))
    rows = [
        line.split() for line in capsys.readouterr().out.splitlines() if line.strip()[:1].isdigit()
    ]
    assert rows == [["1", "fill", "the", "tub", "2", "█" * 10], ["2", "sing", "0"]]


@pytest.mark.slow
@pytest.mark.parametrize("asked", [(), ("--steps", "3"), ("--mode", "paper", "--seed", "3")])
def test_script_and_run_give_the_same_steps(tmp_path: Path, asked: tuple[str, ...]) -> None:
    job = captions(tmp_path / "wash a cat")
    calls = [
        ["script", job, "--out", tmp_path / "work"],
        ["run", job, "--out", tmp_path / "run", "--workers", "1"],
    ]
    for call in calls:
        done = CliRunner().invoke(app, [*map(str, call), *asked, "--quiet"])
        assert done.exit_code == 0, done.output
    [same, text] = ((tmp_path / name / "script.md").read_bytes() for name in ("work", "run"))
    assert same == text
