"""``howsteps script``, as people and scripts call it."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from howsteps._cli.script import script
from howsteps.task import Task
from tests.script import spoken

CAPTION = "1\n00:00:01,000 --> 00:00:05,000\nfill the tub\n\n"
NARRATIONS = ("fill tub; catch cat; dry off cat", "fill tub; dry off cat", "fill tub; catch cat")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Caption files, and an ear that hears the same narrations in any of them."""

    def extract_relations(task: Task, **_: object) -> Task:
        return spoken.task(*NARRATIONS[: len(task.videos)], name=task.name)

    monkeypatch.setattr("howsteps.narration.hear", extract_relations, raising=False)
    captions = tmp_path / "wash a cat"
    captions.mkdir()
    for n in range(3):
        (captions / f"v{n}.srt").write_text(CAPTION)
    return captions


def run(*arguments: str | Path) -> tuple[int, str, str]:
    app = typer.Typer()
    app.command()(script)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return result.exit_code, result.stdout, result.stderr


def test_the_steps_are_listed_in_order(folder: Path) -> None:
    code, out, _ = run(folder, "--quiet", "--steps", "9")
    assert code == 0
    assert "wash a cat: 3 steps from 3 videos" in out
    assert out.index("fill the tub") < out.index("catch the cat") < out.index("dry off the cat")
    assert "alike" in out


def test_the_paper_shows_its_alignment(folder: Path) -> None:
    _, out, _ = run(folder, "--quiet", "--steps", "9", "--mode", "paper")
    assert "alignment" in out


def test_columns_show_where_every_video_names_every_step(folder: Path) -> None:
    _, out, _ = run(folder, "--quiet", "--steps", "9", "--columns")
    row = next(line for line in out.splitlines() if line.startswith("v1"))
    assert row.split() == ["v1", "0:00", "·", "0:10"]


def test_a_certificate_on_request(folder: Path) -> None:
    _, out, _ = run(folder, "--quiet", "--mode", "paper", "--certify", "5")
    assert "proved to be the best" in out


def test_json_has_the_documented_shape(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "script.json"
    code, _, _ = run(folder, "--quiet", "--mode", "paper", "--json", target)
    found = json.loads(target.read_text("utf-8"))
    assert code == 0
    assert found["version"] == 1
    assert found["steps"][0]["label"] == "fill the tub"
    assert found["alignment"]["bound"] <= found["alignment"]["objective"]


def test_json_to_stdout_is_json_and_nothing_else(folder: Path) -> None:
    _, out, _ = run(folder, "--quiet", "--json", "-")
    assert json.loads(out)["task"] == "wash a cat"


def test_silence_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("howsteps.narration.hear", lambda task, **_: task, raising=False)
    (tmp_path / "one.srt").write_text(CAPTION)
    code, _, err = run(tmp_path / "one.srt", "--quiet")
    assert code == 1
    assert "one: no relation found" in err


def test_nothing_stands_out_in_one_narration(folder: Path) -> None:
    code, out, _ = run(folder / "v0.srt", "--quiet", "--mode", "paper", "--steps", "2")
    assert code == 0
    assert "no relation stands out" in out
