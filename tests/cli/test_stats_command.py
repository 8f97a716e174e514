"""``howsteps stats`` and ``howsteps fetch``, as people call them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from howsteps._cli.app import app
from howsteps.datasets import fetch as fetching

TABLE = """\
task,video,step,start,end
coffee,u,grind,0,4
coffee,u,pour,5,9
coffee,v,pour,2,4
coffee,v,grind,6,8
tea,w,boil,0,10
"""


def run(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "120"})
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "steps.csv"
    path.write_text(TABLE)
    return path


def test_the_papers_numbers_stand_beside_ours(table):
    code, out, _ = run("stats", table)
    assert code == 0
    [coffee] = [line for line in out.splitlines() if line.startswith("coffee  ")][:1]
    # Σu = Σg = 4, Σl = 3, K·N = 4; the paper prints 3, 28 and 11.
    assert "25.0 (3)" in coffee
    assert "0.0 (28)" in coffee
    assert "0.0 (11)" in coffee
    assert "(" not in next(line for line in out.splitlines() if line.startswith("tea"))
    assert "tea, order found: boil" in out


def test_the_listed_order_can_be_taken(table):
    _, out, _ = run("stats", table, "--listed")
    assert "coffee, order listed: grind → pour" in out


def test_json_has_one_entry_for_each_task(table):
    code, out, _ = run("stats", table, "--json", "-", "--quiet")
    assert code == 0
    coffee, tea = json.loads(out)["tasks"]
    assert coffee["order_error"] == 0.25
    assert (tea["order"], tea["step_length"], tea["video_length"]) == (["boil"], 10.0, None)


def test_what_was_mended_is_said(tmp_path):
    value = {
        "step_names": ["boil"],
        "videos": {"u": {"duration": 9, "steps": [[1, 0, 4], [1, 3, 5]]}},
    }
    path = tmp_path / "tea.json"
    path.write_text(json.dumps(value))
    code, out, err = run("stats", path)
    assert code == 0
    assert "made one" in err
    assert "56" in out  # 5 of 9 seconds are in a step


def test_a_judgement_needs_narrations(table, tmp_path):
    judge = tmp_path / "judge.json"
    judge.write_text('{"rules": {}}')
    result = CliRunner().invoke(app, ["stats", str(table), "--judge", str(judge)])
    assert result.exit_code != 0


def test_fetch_says_what_it_did(tmp_path, monkeypatch):
    fetched = []

    def fake(archive, folder, progress):
        fetched.append(archive.name)
        progress(1, 2)
        return len(fetched) == 1

    monkeypatch.setattr(fetching, "fetch", fake)
    code, out, _ = run("fetch", "niv", "--to", tmp_path)
    assert code == 0
    assert fetched == ["NLP_data.zip", "VISION_data.zip"]
    assert "NLP_data.zip: fetched" in out
    assert "VISION_data.zip: already here" in out
    run("fetch", "niv", "--to", tmp_path, "--all")
    assert "data_new.tar.gz" in fetched


def test_an_unknown_data_set_is_a_wrong_command():
    assert run("fetch", "everything")[0] == 2
