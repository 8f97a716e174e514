"""``howsteps evaluate methods`` and ``evaluate paper`` from the command line."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from howsteps._cli import screen
from howsteps._cli.app import app, commands
from howsteps._cli.evaluate import _show
from howsteps.evaluate.protocols import PROTOCOLS
from howsteps.paper.methods import ALL_METHODS
from howsteps.paper.tables import TextTable
from tests.films import film
from tests.jobs import LENGTH, write_rules, write_tea, write_tea_folder

GOLDEN = Path(__file__).parents[1] / "golden" / "data"
KEYS = ["task", "method", "steps", "protocol", "f1", "precision", "recall", "low", "high", "seed"]


def run(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "120"})
    return result.exit_code, result.stdout, result.stderr + str(result.exception or "")


@pytest.fixture(scope="module")
def tea(tmp_path_factory) -> Path:
    return write_tea(tmp_path_factory.mktemp("tea") / "tea.json")


def test_what_is_learnt_from_without_ground_truth_is_said(tmp_path):
    folder = write_tea_folder(tmp_path / "tea", 5)
    rows = (folder / "steps.csv").read_text().splitlines()
    kept = [row for row in rows if row.startswith(("video", "v1", "v3"))]
    (folder / "steps.csv").write_text("\n".join(kept))
    code, out, _ = run("evaluate", "methods", folder, "--methods", "uniform", "--quiet")
    assert code == 0
    assert "tea: all 5 videos" in out
    assert "2 of 5 videos have ground truth: methods learn from all" in out
    assert "--captions" not in out
    (tmp_path / "steps.csv").write_text("\n".join(kept))
    table = tmp_path / "steps.csv"
    _, out, _ = run("evaluate", "methods", table, "--methods", "default", "--quiet")
    assert "no narrations: '--captions PATH' says where they are" in out


@pytest.mark.slow
def test_methods_are_compared_in_tables(tea, tmp_path):
    rules = write_rules(tmp_path / "judge.json")
    files = [tmp_path / name for name in ("scores.json", "f1.svg")]
    code, out, _ = run(
        *(
            "evaluate",
            "methods",
            tea,
            "--methods",
            "uniform,narration,text-free,default",
            "--steps",
            "4,3",
        ),
        *("--seeds", "2", "--videos", "5", "--judge", rules),
        *("--json", files[0], "--figure", files[1], "--quiet"),
    )
    assert code == 0
    assert "Make tea: 5 of 6 videos, 4 true steps, 2 seeds" in out
    assert "words are used instead" in out
    assert "script (steps are matched with the true ones by time)" in out
    assert "script (steps are matched with the true ones by people)" in out
    assert "not measured by script: uniform, narration (without a script to compare)" in out
    rows = json.loads(files[0].read_text())
    assert list(rows) == ["rows"]
    assert all(list(row) == KEYS for row in rows["rows"])
    placed = [row for row in rows["rows"] if row["protocol"] == "paper-f1"]
    assert [(r["seed"], r["steps"], r["method"]) for r in placed] == [
        (seed, steps, method)
        for seed in (0, 1)
        for steps in (3, 4)
        for method in ("uniform", "narration", "default")
    ]
    controls = {row["method"] for row in rows["rows"] if row["protocol"] == "script"}
    assert controls == {"default", "text-free"}
    assert files[1].read_text().lstrip().startswith("<?xml")


def test_stdout_has_only_json(tea):
    options = ("--methods", "uniform", "--protocol", "paper-f1", "--json", "-", "--quiet")
    code, out, _ = run("evaluate", "methods", tea, *options)
    assert code == 0
    [row] = json.loads(out)["rows"]
    assert (row["method"], row["steps"], row["seed"]) == ("uniform", 10, 0)


def test_unused_videos_are_mentioned(tmp_path):
    folder = write_tea_folder(tmp_path / "tea")
    film(folder / "v0.mp4", LENGTH)
    options = ("--methods", "uniform", "--protocol", "paper-f1", "--quiet")
    _, out, _ = run("evaluate", "methods", folder, *options)
    assert "words are used instead ('howsteps features FOLDER --out WORK'" in out
    for n in range(6):
        np.save(tmp_path / f"v{n}.npy", np.ones((30, 2), np.float32))
    _, out, _ = run("evaluate", "methods", folder, *options, "--features", tmp_path)
    assert "words are used instead" not in out


def test_the_release_is_measured_and_gaps_are_listed(tmp_path):
    options = ("--steps", "3", "--methods", "uniform,supervised", "--protocol", "paper-f1", "-q")
    code, out, _ = run("evaluate", "methods", GOLDEN, *options)
    assert code == 0
    assert "small: all 4 videos, 3 true steps, 1 seed" in out
    assert "stand in" not in out
    assert "not measured by paper-f1: supervised (4 videos are too few for 5 folds)" in out


def test_a_broken_data_set_among_others_is_named(tmp_path):
    write_tea(tmp_path / "tea.json")
    (tmp_path / "bad.csv").write_text("video,step,start,end\nu,blow,5,4\n")
    code, out, err = run("evaluate", "methods", tmp_path, "--methods", "uniform", "--quiet")
    assert code == 3
    assert "Make tea" in out
    assert "bad.csv" in err


def test_a_data_set_that_allows_no_measurement_exits_with_one(tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text("video,step,start,end\nu,boil,0,4\n")
    code, out, _ = run("evaluate", "methods", path, "--quiet")
    assert code == 1
    assert "uniform, text-free (the length of the videos is not known)" in out


def test_the_help_lists_every_method_and_protocol():
    parameters = {p.name: p for p in commands()["evaluate methods"].params}
    assert parameters["names"].default == ",".join(ALL_METHODS)
    assert all(name in parameters["protocol"].help for name in PROTOCOLS)


@pytest.mark.parametrize(
    ("options", "code", "reason"),
    [
        (("--steps", "ten"), 2, "is not a list of numbers"),
        (("--steps", "0"), 2, "at least one step"),
        (("--figure", "f1.doc"), 2, "not one of .svg"),
        (("--methods", "magic"), 2, "unknown method 'magic'"),
        (("--protocol", "f1"), 2, "unknown protocol 'f1'"),
    ],
)
def test_invalid_options_are_reported(tea, options, code, reason):
    found, _, err = run("evaluate", "methods", tea, *options)
    assert found == code
    assert reason in err.replace("\n", " ")


@pytest.mark.slow
def test_the_paper_is_made_from_the_available_data(tmp_path):
    data, out = tmp_path / "data", tmp_path / "results"
    (data / "captions").mkdir(parents=True)
    write_tea(data / "captions" / "tea.json")
    write_rules(data / "judge_tea.json")
    (data / "coffee.csv").write_text("task,video,step,start,end\ncoffee,u,pour,0,4\n")
    for kind in ("NLP", "VISION"):
        shutil.copytree(GOLDEN / kind, data / "niv" / kind)
    code, shown, err = run(
        *("evaluate", "paper", data, "--out", out, "--methods", "uniform,paper,authors"),
        *("--steps", "3,4", "--quiet"),
    )
    assert code == 0, err
    page = (out / "paper.md").read_text()
    for heading in ("Statistics", "Scripts", "Alignment", "Localisation", "F1 against K"):
        assert f"## {heading}" in page
    assert "| coffee | 1 | 1 | 0.0 (3) | 0.0 (28) | 0.0 (11) |" in page
    assert "| changing_tire | printed | 11.30 | – | -5.18 | – | – |" in page
    assert "| Make tea | paper | judged |" in page
    assert "coffee: scripts, alignment, localisation; the paper's release is missing" in page
    assert "Missing" in shown
    files = {path.name for path in out.iterdir()}
    assert files == {"paper.md", "scores.json", "f1.svg"}


def test_numbers_that_do_not_fit_come_below_with_the_names(monkeypatch, capsys):
    monkeypatch.setattr(screen, "out", Console(width=80, highlight=False))
    headings = ("task", "method", *(f"K ≤ {k}" for k in (7, 10, 12, 15)))
    rows = tuple((name, "paper", *["0.667 (0.57–0.67)"] * 4) for name in ("Make tea", "jump_car"))
    _show(TextTable("localisation", "F1", headings, rows))
    lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()[2:]]
    first, second = ([cell.strip() for cell in lines[n] if cell] for n in (0, 3))
    assert (first, second) == (list(headings[:5]), ["task", "method", "K ≤ 15"])
    assert [line[0] for line in lines] == ["task", "Make tea", "jump_car"] * 2


def test_published_scripts_are_listed_next_to_ours(tmp_path):
    write_tea(tmp_path / "tea.json")
    run("evaluate", "paper", tmp_path, "--out", tmp_path / "r", "--methods", "uniform", "-q")
    page = (tmp_path / "r" / "paper.md").read_text()
    scores = "0.85/0.54 | 0.90/0.90 | 0.83/0.90 | 0.71/0.90"
    assert f"| changing_tire | printed | judged by eye | {scores} |" in page


def test_no_data_is_an_error_in_one_line(tmp_path):
    code, _, err = run("evaluate", "paper", tmp_path, "--out", tmp_path / "r")
    assert code == 1
    assert "contains no ground truth" in err
    assert not (tmp_path / "r").exists()
