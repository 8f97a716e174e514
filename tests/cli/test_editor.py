"""A language model that edits the script, from the command line to the work folder."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from howsteps import read_result
from howsteps._cli.app import app
from howsteps.reader.client import KEY_VARIABLE
from tests.jobs import write_tea_folder
from tests.reader.server import Served, fails, says, serving

KEY = "no-key-at-all"


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tea_folder(tmp_path_factory.mktemp("videos") / "make tea")


@pytest.fixture(scope="module")
def question(videos: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("question") / "question.md"
    assert howsteps("script", videos, "--ask", path, "--quiet")[0] == 0
    return path.read_text()


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "home"))
    monkeypatch.setenv(KEY_VARIABLE, KEY)


def howsteps(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return result.exit_code, f"{result.output}{result.exception or ''}"


def answer(question: str, **changes: Any) -> str:
    """An answer with three steps: boil, put in, pour and stir."""
    acts = {
        act.split()[0]: id_ for id_, act in re.findall(r"^(a\d+) \| ([^|]+) \|", question, re.M)
    }
    key = re.search(r'"question": "(\w+)"', question)
    assert key is not None
    steps = [
        {"name": "boil the water", "acts": [acts["boil"]]},
        {"name": "put the bag in the cup", "acts": [acts["put"]]},
        {"name": "pour the water and stir", "acts": [acts["pour"], acts["stir"]]},
    ]
    return json.dumps({"question": key[1], "steps": steps, **changes})


def labels(path: Path) -> list[str]:
    return [step["label"] for step in json.loads(path.read_text())["steps"]]


EDITED = ["boil the water", "put the bag in the cup", "pour the water and stir"]


def edited_run(videos: Path, out: Path, served: Served) -> tuple[int, str]:
    arguments = ("--editor", served.url, "--model", "small", "--out", out, "--quiet")
    return howsteps("run", videos, "--no-vision", *arguments)


@pytest.mark.slow
def test_a_question_is_written_and_an_answer_read(
    videos: Path, question: str, tmp_path: Path
) -> None:
    reply = tmp_path / "answer.json"
    reply.write_text(f"Sure!\n```json\n{answer(question)}\n```")
    code, _ = howsteps("script", videos, "--answer", reply, "--out", tmp_path / "steps", "--quiet")
    assert code == 0
    assert labels(tmp_path / "steps" / "script.json") == EDITED
    assert labels(tmp_path / "steps" / "script.unedited.json") != EDITED


@pytest.mark.slow
def test_a_server_edits_the_script_of_a_run(videos: Path, question: str, tmp_path: Path) -> None:
    out = tmp_path / "steps"
    with serving(says(answer(question))) as served:
        code, output = edited_run(videos, out, served)
    assert code == 0
    assert served.url in output.replace("\n", "")
    [sent] = served.requests
    assert sent["messages"] == [{"role": "user", "content": question}]
    result = read_result(out)
    assert [step.label for step in result.script.steps] == EDITED
    assert result.script.editor == "small"
    assert result.script.changes
    page = (out / "report.html").read_text()
    assert "Edited by small" in page
    assert "script.unedited.json" in page


@pytest.mark.slow
def test_a_second_run_sends_nothing_and_has_the_same_bytes(
    videos: Path, question: str, tmp_path: Path
) -> None:
    out = tmp_path / "steps"
    with serving(says(answer(question))) as served:
        edited_run(videos, out, served)
        first = (out / "result.json").read_bytes()
        edited_run(videos, out, served)
    assert len(served.requests) == 1
    assert (out / "result.json").read_bytes() == first


@pytest.mark.slow
def test_the_key_is_not_in_any_file_or_output(videos: Path, question: str, tmp_path: Path) -> None:
    out = tmp_path / "steps"
    with serving(fails(500, 1, says("nonsense", answer(question)))) as served:
        _, output = edited_run(videos, out, served)
    assert served.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in output
    assert not [p for p in out.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]


@pytest.mark.slow
def test_after_two_invalid_answers_the_script_is_kept_with_a_problem(
    videos: Path, tmp_path: Path
) -> None:
    out = tmp_path / "steps"
    with serving(says("I would rather not.")) as served:
        code, output = edited_run(videos, out, served)
    assert code == 3
    assert "was not edited" in output
    assert labels(out / "script.json") == labels(out / "script.unedited.json")
    assert (out / "report.html").exists()


@pytest.mark.slow
def test_a_dead_server_loses_nothing(videos: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("howsteps.reader.client._FIRST_PAUSE", 0.0)
    with serving(says("")) as served:
        pass
    code, output = edited_run(videos, tmp_path / "steps", served)
    assert code == 3
    assert "cannot be reached" in output.replace("\n", " ")
    assert (tmp_path / "steps" / "result.json").exists()


@pytest.mark.slow
def test_videos_of_another_job_are_set_aside_and_named(
    videos: Path, question: str, tmp_path: Path
) -> None:
    out = tmp_path / "steps"
    with serving(says(answer(question, other_job=["v1"]))) as served:
        code, output = edited_run(videos, out, served)
    assert code == 0
    assert "another job" in output
    assert "v0" not in {video.id for video in read_result(out).task.videos}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--editor", "http://localhost/v1"),
        ("--model", "small"),
        ("--ask", "q.md", "--answer", "a.json"),
    ],
)
def test_incompatible_options_are_refused(videos: Path, arguments: tuple[str, ...]) -> None:
    assert howsteps("script", videos, *arguments)[0] == 2
