"""The benchmark on real narrations, on a made-up job."""

import json

import pytest

from benchmarks import real
from howsteps.evaluate.experiment import Plan
from tests.jobs import write_rules, write_tea

pytestmark = pytest.mark.slow


def test_scores_are_appended_with_what_they_were_measured_with(tmp_path, monkeypatch, capsys):
    write_tea(tmp_path / "tea.json")
    write_rules(tmp_path / "judge.json")
    results = tmp_path / "results.jsonl"
    command = ["real", str(tmp_path), "--results", str(results), "--methods", "uniform,paper"]
    few = ["--steps", "4", "--seeds", "1", "--videos", "4"]
    monkeypatch.setattr("sys.argv", [*command, *few])
    real.main()
    first = results.read_text()
    lines = [json.loads(line) for line in first.splitlines()]
    assert {line["method"] for line in lines} == {"uniform", "paper", "frequent", "text-free"}
    assert {line["protocol"] for line in lines} == {"paper-f1", "script", "script-judged"}
    assert all(line["version"] and line["revision"] and line["machine"] for line in lines)
    assert "| Make tea | uniform | paper-f1 |" in capsys.readouterr().out
    picture = tmp_path / "over-time.svg"
    monkeypatch.setattr("sys.argv", [*command[:-1], "uniform", *few, "--plot", str(picture)])
    real.main()
    assert results.read_text().startswith(first)
    assert picture.stat().st_size > 0


def test_tasks_without_narrations_are_left_out(tmp_path):
    (tmp_path / "steps.csv").write_text("video,step,start,end\nu,boil,0,4\n")
    assert list(real.records(tmp_path, Plan())) == []
