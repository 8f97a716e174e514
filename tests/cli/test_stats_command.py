"""``howsteps evaluate stats`` and ``howsteps fetch`` from the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from howsteps._cli.app import app
from howsteps.errors import InputError
from tests.jobs import write_tea_folder

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


def test_the_published_numbers_are_shown_next_to_ours(table):
    code, out, _ = run("evaluate", "stats", table)
    assert code == 0
    [coffee] = [line for line in out.splitlines() if line.startswith("coffee  ")][:1]
    # Σu = Σg = 4, Σl = 3, K·N = 4; the paper prints 3, 28 and 11.
    assert "25.0 (3)" in coffee
    assert "0.0 (28)" in coffee
    assert "0.0 (11)" in coffee
    assert "(" not in next(line for line in out.splitlines() if line.startswith("tea"))
    assert "tea, order found: boil" in out


def test_headings_and_names_are_whole_at_80_columns(tmp_path):
    path = tmp_path / "steps.csv"
    long = "Build Simple Floating Shelves in the Garage"
    path.write_text(TABLE + f"{long},u,drill,0,10\nchanging_tire,w,put the jack,0,4\n")
    found = CliRunner().invoke(app, ["evaluate", "stats", str(path)], env={"COLUMNS": "80"})
    words = found.stdout.partition("order found")[0].split()
    headings = "videos steps order error missing repeated %"
    assert {*headings.split(), *long.split(), "changing_tire"} <= set(words)
    assert "…" not in found.stdout


def test_json_has_one_entry_for_each_task(table):
    code, out, _ = run("evaluate", "stats", table, "--json", "-", "--quiet")
    assert code == 0
    coffee, tea = json.loads(out)["tasks"]
    assert coffee["order_error"] == 0.25
    assert (tea["order"], tea["annotated"]) == (["boil"], 1)


def test_fetch_reports_what_it_did(tmp_path, monkeypatch):
    fetched = []

    def fake(archive, folder, progress):
        fetched.append(archive.name)
        progress(1, 2)
        return len(fetched) == 1

    monkeypatch.setattr("howsteps._cli.doctor.fetch_archive", fake)
    code, out, _ = run("fetch", "niv", "--to", tmp_path)
    assert code == 0
    assert fetched == ["NLP_data.zip", "VISION_data.zip"]
    assert "NLP_data.zip: fetched" in out
    assert "VISION_data.zip: already here" in out
    run("fetch", "niv", "--to", tmp_path, "--all")
    assert "data_new.tar.gz" in fetched


def test_a_folder_without_ground_truth_is_reported(tmp_path):
    (tmp_path / "notes.json").write_text("{}")
    result = CliRunner().invoke(app, ["evaluate", "stats", str(tmp_path)])
    assert isinstance(result.exception, InputError)
    assert "contains no ground truth" in str(result.exception)


def test_ground_truth_is_found_under_a_folder(tmp_path):
    write_tea_folder(tmp_path / "data" / "deep" / "tea")
    code, out, _ = run("evaluate", "stats", tmp_path / "data", "--json", "-", "--quiet")
    assert (code, [row["task"] for row in json.loads(out)["tasks"]]) == (0, ["tea"])
