"""Experiments: which methods run on which videos, and the reasons why others do not."""

import inspect
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import howsteps
from howsteps.datasets import registry
from howsteps.errors import HowstepsError
from howsteps.evaluate import compare
from howsteps.evaluate.experiment import (
    Plan,
    Row,
    run_plan,
    subsampled,
    summarise,
    with_narrations,
)
from howsteps.evaluate.methods import Sample, choose, frequent
from howsteps.evaluate.protocols import Prediction
from howsteps.paper.methods import ALL_METHODS as METHODS
from howsteps.paper.methods import supervised
from howsteps.paper.script import discover
from howsteps.paper.tables import compare_aligners
from howsteps.store import rounded
from howsteps.task import Localisation, Result
from tests.jobs import tea as tea_file
from tests.jobs import write_tea

GOLDEN = Path(__file__).parents[1] / "golden" / "data"


@pytest.fixture(scope="module")
def tea(tmp_path_factory):
    [one] = registry.read_labelled(write_tea(tmp_path_factory.mktemp("tea") / "tea.json")).tasks
    return one


@pytest.fixture(scope="module")
def narrated(tea):
    return with_narrations(tea, Plan(METHODS))


@pytest.fixture(scope="module")
def release():
    [one] = registry.read_labelled(GOLDEN).tasks
    return one


BASELINES = {"frequent", "text-free"}  # of scripts


@pytest.mark.slow
def test_every_method_runs_on_captions(tea, narrated):
    plan = Plan(METHODS, steps=(4,))
    rows = run_plan(tea, narrated, plan).rows
    places = {row.method: row for row in rows if row.protocol == "paper-f1"}
    assert set(places) == set(METHODS) - BASELINES
    assert {row.method for row in rows if row.protocol == "script"} == {
        *("paper", "authors", "default"),
        *BASELINES,
    }
    # Steps are done a second after they are named; two seconds after a mention is in all of them.
    assert places["narration"].f1 > max(0.9, places["uniform"].f1)
    barred = {name: row for name, row in places.items() if row.low is not None}
    assert set(barred) == {"video-only", "video+bow", "paper", "authors"}
    assert all(0 <= row.low <= row.f1 <= row.high <= 1 for row in barred.values())


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["paper", "authors", "default"])
def test_a_mode_is_what_a_run_does(tmp_path, mode):
    entries = tea_file()
    entries["videos"] = dict(reversed(entries["videos"].items()))
    path = tmp_path / "tea.json"
    path.write_text(json.dumps(entries))
    [labelled] = registry.read_labelled(path)
    sample = Sample(labelled, with_narrations(labelled, Plan()), entries["videos"])
    found = METHODS[mode](sample, 4, 0)
    # Mentions of another mode do not count.
    for task in (labelled.task, sample.narrated()):
        result = howsteps.discover(task, mode=mode, steps=4)
        assert result.script.steps == found.script.steps
        assert result.localisations == tuple(map(rounded, found.localisations))


@pytest.mark.slow
def test_every_method_that_needs_no_folds_runs_on_the_release(release):
    plan = Plan(METHODS, steps=(3,))
    found = run_plan(release, with_narrations(release, plan), plan)
    placed = {row.method for row in found.rows if row.protocol == "paper-f1"}
    assert placed == set(METHODS) - {"supervised", *BASELINES}
    [reason] = {each.reason for each in found.unscored if each.method == "supervised"}
    assert reason == "4 videos are too few for 5 folds"


def test_without_narrations_only_methods_on_video_run(release):
    silent = replace(
        release,
        task=replace(
            release.task, videos=tuple(replace(v, mentions=()) for v in release.task.videos)
        ),
    )
    plan = Plan(METHODS, steps=(3,), protocols=("paper-f1",))
    narrated = with_narrations(silent, plan)
    found = run_plan(silent, narrated, plan)
    assert narrated == {}
    assert {row.method for row in found.rows} == {"uniform", "video-only"}
    assert {each.reason for each in found.unscored if each.method == "paper"} == {
        "the data set has no narrations"
    }


def test_a_subsample_depends_on_the_seed(tea):
    names = [video.id for video in tea.task.videos]
    first = subsampled(tea, 3, 0)
    assert first == subsampled(tea, 3, 0)
    assert len(set(first)) == 3
    assert first == sorted(first, key=names.index)
    assert any(subsampled(tea, 3, seed) != first for seed in range(1, 6))
    assert subsampled(tea, None, 3) == subsampled(tea, 99, 3) == names


def test_only_the_subsample_is_parsed(tea):
    parsed = []
    with_narrations(tea, Plan(METHODS, videos=2, seeds=1), progress=parsed.append)
    assert [video.id for video in parsed] == subsampled(tea, 2, 0)


@pytest.mark.slow
def test_a_script_is_discovered_once_for_each_subsample_steps_and_seed(tea, narrated, monkeypatch):
    calls = []

    def counted(task, **options):
        calls.append((options["mode"], options["steps"], options["seed"]))
        return discover(task, **options)

    monkeypatch.setattr("howsteps.paper.methods.discover", counted)
    plan = Plan(
        choose(("hmm", "narration", "paper"), METHODS), (3, 4), ("paper-f1", "script"), seeds=2
    )
    run_plan(tea, narrated, plan)
    assert sorted(calls) == sorted(("paper", k, seed) for k in (3, 4) for seed in (0, 1))


@pytest.mark.slow
def test_supervised_learning_is_done_once_for_all_numbers_of_steps(tea, narrated, monkeypatch):
    calls = []

    def counted(*arguments, seed):
        calls.append(seed)
        return supervised(*arguments, seed=seed)

    monkeypatch.setattr("howsteps.paper.methods.supervised", counted)
    plan = Plan(choose(["supervised"], METHODS), (3, 4), ("paper-f1", "crosstask-recall"), seeds=2)
    rows = run_plan(tea, narrated, plan).rows
    assert calls == [0, 1]
    assert len(rows) == 8


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"protocols": ("f1",)}, "unknown protocol 'f1': choose one of paper-f1"),
        ({"steps": (0,)}, "at least one"),
        ({"seeds": 0}, "at least one"),
    ],
)
def test_an_invalid_plan_is_refused(wrong, reason):
    with pytest.raises(HowstepsError, match=reason):
        Plan(METHODS, **wrong)


def test_summaries_are_means_over_seeds():
    rows = [
        Row("tea", "paper", 10, "paper-f1", f1, f1, 1.0, 0.1, 0.6, seed)
        for seed, f1 in enumerate((0.1, 0.2, 0.3))
    ]
    rows.append(Row("tea", "paper", 10, "script", 0.5, 0.5, 0.5, 0.4, 0.6, 0))
    places, script = summarise(rows)
    # s = 0.1, t = 4.303 with two degrees of freedom, √3 = 1.732: ± 0.248, of shares.
    assert (places.f1, places.low, places.seeds) == (pytest.approx(0.2), 0.0, 3)
    assert places.high == pytest.approx(0.448, abs=1e-3)
    assert (script.low, script.high, script.seeds) == (0.4, 0.6, 1)


def test_no_aligner_is_below_the_bound(narrated):
    found = compare_aligners(narrated["paper"], seconds=0.2)
    assert found["bound"] <= found["search"] <= min(found["POA"], found["progressive"])
    assert found["bound"] <= found["Frank-Wolfe"]


def test_methods_learn_from_every_video_and_are_scored_on_those_with_truth(tea):
    some = replace(tea, truth=tea.truth.of(["v1", "v4"]))
    seen = []

    def mine(sample, steps, seed):
        seen.append(sample.videos)
        lengths = {video.id: video.duration for video in sample.task.videos}
        return {video: [1.0, length - 1] for video, length in lengths.items()}

    methods = {"mine": mine, "uniform": METHODS["uniform"], "supervised": METHODS["supervised"]}
    found = compare(some, methods, steps=2)
    assert seen == [[video.id for video in tea.task.videos]]
    alone = compare(tea.of(["v1", "v4"]), {"uniform": METHODS["uniform"]}, steps=2)
    assert [row for row in found.rows if row.method == "uniform"] == list(alone.rows)
    assert {row.method for row in found.rows} == {"mine", "uniform"}
    assert {each.reason for each in found.unscored} == {"2 videos are too few for 5 folds"}
    assert set(subsampled(some, 2, 0)) == {"v1", "v4"}


class TestAMethodOfOnesOwn:
    def test_without_methods_those_of_howsteps_are_compared(self, tea):
        found = compare(tea, steps=[2])
        assert {row.method for row in found.rows} == {"uniform", "default"}
        assert {each.method for each in found.unscored} == BASELINES

    def test_it_may_return_a_script_or_a_result_and_be_unable_to(self, tea, narrated):
        def fails(sample, steps, seed):
            raise HowstepsError("it rains")

        script = frequent(narrated["paper"], 4)
        result = Result(tea.task, script, ())
        methods = {"script": lambda *_: script, "result": lambda *_: result, "fails": fails}
        found = compare([tea], methods, protocols=["script"])
        assert {row.method for row in found.rows} == {"script", "result"}
        assert {(each.method, each.reason) for each in found.unscored} == {("fails", "it rains")}
        assert "not measured by script: fails (it rains)" in str(found)

    def test_one_number_of_steps_and_one_protocol_need_no_list(self, tea):
        found = compare(tea, {"none": lambda *_: {}}, steps=2, protocols="script")
        assert {(each.method, each.protocol) for each in found.unscored} == {("none", "script")}
        with pytest.raises(
            HowstepsError, match="'methods' are functions by name, not \\['default'"
        ):
            compare(tea, ["default"])

    @pytest.mark.parametrize(
        ("found", "reason"),
        [
            (7, "times of all steps by video can be scored, not 7"),
            (None, "can be scored, not None"),
            ([[1.0, 2.0]], r"can be scored, not \[1.0, 2.0\]"),
            ({"v1": 3.0}, "video 'v1' needs one time in seconds for each step, None where"),
            ({"v1": [(1.0, 2.0)]}, r"video 'v1' needs one time .* not \[\(1.0, 2.0\)\]"),
            ({"v1": [float("nan")]}, "step 0 in video 'v1' has the time nan"),
            ({"other": [1.0]}, "video 'other' is predicted but not in the truth"),
        ],
    )
    def test_what_cannot_be_scored_names_the_method_and_the_video(self, tea, found, reason):
        compared = compare(tea, {"mine": lambda *_: found, "even": METHODS["uniform"]}, steps=2)
        [mine] = compared.unscored
        assert re.search(f"^what the method 'mine' returned: .*{reason}", mine.reason)
        assert [row.method for row in compared.rows] == ["even"]

    def test_an_error_in_a_method_loses_no_score_of_the_others(self, tea):
        def mine(sample, steps, seed):
            return {"v1": [1 / seed]}

        found = compare(tea, {"mine": mine, "even": METHODS["uniform"]}, steps=2, seeds=2)
        assert [(row.method, row.seed) for row in found.rows] == [
            *(("even", 0), ("mine", 1), ("even", 1)),
        ]
        [wrong] = found.unscored
        place = f"{Path(__file__).name}:{mine.__code__.co_firstlineno + 1}"
        assert wrong.reason == f"ZeroDivisionError: division by zero, {place}"
        assert isinstance(wrong.error, ZeroDivisionError)
        reason = f"not measured by paper-f1: mine ({wrong.reason})"
        assert reason in str(found)
        [line] = (line for line in str(found).splitlines() if "  mine " in line)
        assert line.endswith("  1 of 2 seeds")

    def test_a_prediction_that_does_not_fit_is_the_only_one_lost(self, tea):
        wrong = Prediction(2, (Localisation("v1", 5, 1.0),))
        found = compare(tea, {"mine": lambda *_: wrong, "even": METHODS["uniform"]}, steps=2)
        assert [row.method for row in found.rows] == ["even"]
        assert [each.reason for each in found.unscored] == [
            "step 5 in video 'v1': steps are the numbers 0 … 1"
        ]

    def test_help_says_how_to_reach_the_mentions(self):
        assert "sample.narrated().videos" in inspect.getdoc(compare)
