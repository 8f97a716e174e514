"""Whole runs: cached or not, in one process or several, interrupted or not."""

import json
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import howsteps
from howsteps.datasets import read_tasks
from howsteps.errors import HowstepsError, InputError
from howsteps.pipeline.context import Event, StageEnded
from howsteps.pipeline.options import STAGES, RunOptions
from howsteps.pipeline.run import Run, run
from howsteps.store import read_result
from tests.films import film
from tests.jobs import write_tea
from tests.pipeline.jobs import captions, narration, subrip, written


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return captions(tmp_path_factory.mktemp("job") / "wash a cat")


@pytest.fixture(scope="module")
def done(job: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    out = tmp_path_factory.mktemp("done") / "out"
    return out, run(job, out, RunOptions(steps=8))


@pytest.fixture
def out(done: tuple[Path, Run], tmp_path: Path) -> Path:
    """A copy of the work folder, for tests that change it."""
    return Path(shutil.copytree(done[0], tmp_path / "copy"))


def stages_made(job: Path, out: Path, options: RunOptions, **how: object) -> dict[str, int]:
    """How many results each stage had to compute."""
    events: list[Event] = []
    run(job, out, options, callback=events.append, **how)
    return {e.stage: e.total - e.cached for e in events if isinstance(e, StageEnded)}


class TestRun:
    def test_every_step_has_a_place_in_every_video(self, done: tuple[Path, Run]) -> None:
        out, found = done
        result = found.results["wash a cat"]
        assert len(result.task.videos) == 5
        assert 4 <= len(result.script.steps) <= 8
        assert len(result.localisations) == 5 * len(result.script.steps)
        assert any(place.time is not None for place in result.localisations)
        [remark] = found.problems
        assert remark.harmless
        assert remark.reason.startswith("only 5 steps were found, but 8 were requested")
        assert {"result.json", "script.md", "model/model.json"} <= set(written(out))

    def test_a_second_run_computes_nothing(self, job: Path, out: Path) -> None:
        before = written(out)
        assert stages_made(job, out, RunOptions(steps=8)) == dict.fromkeys(
            ("narration", "script", "localise"), 0
        )
        assert written(out) == before

    @pytest.mark.slow
    def test_processes_give_the_same_bytes(
        self,
        job: Path,
        done: tuple[Path, Run],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        out, _ = done
        monkeypatch.setattr("howsteps.pipeline.stages.FEW_NARRATIONS", 1)
        run(job, tmp_path / "again", RunOptions(steps=8), workers=2)
        assert written(tmp_path / "again") == written(out)

    def test_another_option_recomputes_only_what_depends_on_it(self, job: Path, out: Path) -> None:
        made = stages_made(job, out, RunOptions(steps=3))
        assert made == {"narration": 0, "script": 1, "localise": 1}

    def test_only_an_added_video_is_parsed(self, job: Path, out: Path, tmp_path: Path) -> None:
        more = Path(shutil.copytree(job, tmp_path / "wash a cat"))
        (more / "flo.srt").write_text(narration("flo", (0,)))
        assert stages_made(more, out, RunOptions(steps=8))["narration"] == 1

    def test_stages_can_be_recomputed(self, job: Path, out: Path) -> None:
        before = written(out)
        again = stages_made(job, out, RunOptions(steps=8), force=["narration"])
        # What comes out is the same, so what depends on it need not be made again.
        assert again == {"narration": 5, "script": 0, "localise": 0}
        later = stages_made(job, out, RunOptions(steps=8), force=["script", "localise"])
        assert later == {"narration": 0, "script": 1, "localise": 1}
        assert written(out) == before

    def test_the_order_of_the_videos_does_not_matter(self, job: Path, tmp_path: Path) -> None:
        [task] = read_tasks(job).tasks
        turned = replace(task, videos=task.videos[::-1])
        for name, source in (("one", task), ("two", turned)):
            run(source, tmp_path / name)
        assert written(tmp_path / "one") == written(tmp_path / "two")

    def test_discover_writes_nothing_by_default(
        self, job: Path, done: tuple[Path, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        result = howsteps.discover(job, steps=8)
        assert result == done[1].results["wash a cat"]
        assert list(tmp_path.iterdir()) == []


SPANISH = (
    "primero hay que llenar la bañera con agua",
    "luego hay que lavar el gato con un poco de jabón",
    "y al final se seca con una toalla vieja",
)


class TestFolders:
    @pytest.mark.slow
    def test_unusable_files_are_reported_and_the_others_processed(self, tmp_path: Path) -> None:
        folder = captions(tmp_path / "job")
        (folder / "ann.srt").rename(folder / "ann.en.srt")
        (folder / "ann.es.srt").write_text(subrip(dict(enumerate(SPANISH))))  # two languages
        film(folder / "bob.mp4", 3.0)  # captions and video
        film(folder / "silent.mp4", 3.0)  # video without captions
        (folder / "broken.srt").write_bytes(b"\x00\x01 no captions at all")
        (folder / "pablo.srt").write_text(subrip(dict(enumerate(SPANISH))))
        found = run(folder, tmp_path / "out", RunOptions(vision=False))
        result = found.results["job"]
        assert [video.id for video in result.task.videos] == ["ann", "bob", "cyd", "dan", "eve"]
        assert result.task.videos[1].media == folder / "bob.mp4"
        flaws = [problem for problem in found.problems if not problem.harmless]
        reasons = {problem.path.name: problem.reason for problem in flaws}
        assert set(reasons) == {"broken.srt", "pablo.srt", "silent.mp4"}
        assert len(flaws) == len(reasons)  # one line each
        assert "not English" in reasons["pablo.srt"]
        assert reasons["silent.mp4"].startswith("not used: has no captions")
        assert not any(p.path.name == "ann.es.srt" for p in found.problems)

    @pytest.mark.slow
    def test_a_video_of_another_job_is_set_aside_and_reported(self, tmp_path: Path) -> None:
        file = write_tea(tmp_path / "tea.json", videos=8)
        task = json.loads(file.read_text())
        task["videos"]["knots"] = {
            "duration": 40.0,
            "asr": [[n, n + 2, "tie the knot then pull the rope tight"] for n in range(0, 30, 2)],
            "steps": [],
        }
        file.write_text(json.dumps(task))
        found = run(file, tmp_path / "out", RunOptions(vision=False))
        [result] = found.results.values()
        assert "knots" not in {video.id for video in result.task.videos}
        [aside] = result.set_aside
        assert (aside.video, aside.reason) == ("knots", "hardly says 'tea', unlike the others")
        assert aside.probability == howsteps.read_result(tmp_path / "out").set_aside[0].probability
        assert aside.because.endswith(f" (another job: {aside.probability:.0%} probable)")
        [said] = [problem for problem in found.problems if problem.path.name == "knots"]
        assert said.harmless
        assert f"set aside: {aside.because}" in said.reason
        page = tmp_path / "out" / "script.md"
        assert f"\ndrop: knots <!-- knots: {aside.because} -->" in page.read_text("utf-8")
        shown = " ".join((tmp_path / "out" / "report.html").read_text("utf-8").split())
        assert f"set aside</a> (another job: {aside.probability:.0%} probable): 1 × hardly" in shown
        page.write_text(page.read_text("utf-8").replace("drop: knots", "keep: knots"), "utf-8")
        for options, script in (
            (RunOptions(vision=False, keep_all=True), None),
            (RunOptions(vision=False, keep=("knots",)), None),
            (RunOptions(vision=False), page),
        ):
            kept = run(file, tmp_path / "kept", options, script=script)
            [result] = kept.results.values()
            assert "knots" in {video.id for video in result.task.videos}
            assert result.set_aside == ()
        assert "\nkeep: knots\n" in (tmp_path / "kept" / "script.md").read_text("utf-8")

    def test_a_video_is_dropped_in_every_mode(self, tmp_path: Path) -> None:
        folder = captions(tmp_path / "tea", ("ann", "bob", "cyd"))
        for mode in ("default", "paper"):
            options = RunOptions(vision=False, mode=mode, drop=("bob",))
            [result] = run(folder, tmp_path / mode, options).results.values()
            assert [video.id for video in result.task.videos] == ["ann", "cyd"]
            assert [each.video for each in result.set_aside] == ["bob"]
        (folder / "bob.srt").rename(folder / "Tea with Bob [dQw4w9WgXcQ].srt")
        found = run(folder, tmp_path / "again", RunOptions(vision=False, drop=("dQw4w9WgXcQ",)))
        assert [each.title for each in found.result.set_aside] == ["Tea with Bob"]
        with pytest.raises(HowstepsError, match="no video 'zed'"):
            run(folder, tmp_path / "out", RunOptions(keep=("zed",)))

    @pytest.mark.slow
    def test_an_option_wins_over_a_line_with_another_name_of_the_video(
        self, tmp_path: Path
    ) -> None:
        job = captions(tmp_path / "wash a cat")
        (job / "bob.srt").rename(job / "bob [abcdefghijk].srt")
        (tmp_path / "mine.md").write_text("keep: bob [abcdefghijk]\n\nfill the tub\ndry the cat\n")
        options = RunOptions(drop=("abcdefghijk",))
        found = run(job, tmp_path / "out", options, script=tmp_path / "mine.md", pages=False)
        assert [each.reason for each in found.result.set_aside] == ["you left it out"]
        found = howsteps.discover(job, vision=False, drop="ann")
        assert [each.video for each in found.set_aside] == ["ann"]

    @pytest.mark.slow
    def test_a_line_about_a_video_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        job = captions(tmp_path / "wash a cat")
        mine = tmp_path / "mine.md"
        mine.write_text("<!-- a\ncomment -->\nkeep: zoe\n\nfill the tub\ndry the cat\ndrop: ann\n")
        out = tmp_path / "out"
        for done in (run(job, out, RunOptions(), script=mine), howsteps.place(out, mine)):
            [remark] = [each for each in done.problems if each.path == mine and each.line == 3]
            assert (remark.reason, remark.harmless) == (
                "there is no video 'zoe' to keep or drop",
                True,
            )
        assert [each.video for each in howsteps.read_result(out).set_aside] == ["ann"]

    def test_a_folder_of_folders_is_many_tasks(self, tmp_path: Path) -> None:
        captions(tmp_path / "jobs" / "one", ("ann", "bob", "cyd"))
        captions(tmp_path / "jobs" / "two", ("bob", "dan", "eve"))
        found = howsteps.run(str(tmp_path / "jobs"), str(tmp_path / "out"))
        assert set(found.results) == {"one", "two"}
        assert found.folders["one"] == tmp_path / "out" / "one"
        assert (tmp_path / "out" / "two" / "result.json").is_file()
        assert "<the results of one, two>" in str(found)
        assert "2 jobs" in (tmp_path / "out" / "index.html").read_text("utf-8")
        with pytest.raises(HowstepsError, match="several jobs"):
            howsteps.discover(tmp_path / "jobs")

    def test_the_last_one_of_several_jobs_stays_in_its_folder(self, tmp_path: Path) -> None:
        out = tmp_path / "out"
        for job in ("one", "two"):
            captions(tmp_path / "jobs" / job, ("ann", "bob", "cyd"))
        run(tmp_path / "jobs", out)
        (out / "one" / "script.md").write_text("1. fill the tub\n2. dry the cat\n")
        both = run(tmp_path / "jobs", out)
        assert "so they are kept" in both.results["one"].problems[0].reason
        assert both.results["two"].problems == ()
        shutil.rmtree(tmp_path / "jobs" / "two")
        found = run(tmp_path / "jobs", out)
        assert found.folders == {"one": out / "one"}
        assert [step.label for step in found.result.steps] == ["fill the tub", "dry the cat"]
        assert not (out / "result.json").exists()
        assert "two/report.html" not in (out / "index.html").read_text("utf-8")

    def test_a_title_names_the_job(self, tmp_path: Path) -> None:
        folder = captions(tmp_path / "jobs" / "clips", ("ann", "bob", "cyd"))
        plain = run(folder, tmp_path / "plain").results["clips"]
        titled = run(folder, tmp_path / "out", RunOptions(title="Wash  the cat "))
        result = titled.results["Wash the cat"]
        assert result.task.name == "Wash the cat"
        assert titled.folders["Wash the cat"] == tmp_path / "out"
        # To do the job is no step of it.
        assert "wash the cat" in [step.label for step in plain.script.steps]
        assert "wash the cat" not in [step.label for step in result.script.steps]

    def test_one_title_is_for_one_job(self, tmp_path: Path) -> None:
        for name in ("one", "two"):
            captions(tmp_path / "jobs" / name, ("ann", "bob"))
        with pytest.raises(HowstepsError, match="a title is for one job, but there are 2"):
            run(tmp_path / "jobs", tmp_path / "out", RunOptions(title="Wash a cat"))
        with pytest.raises(HowstepsError, match="the title is empty"):
            run(tmp_path / "jobs" / "one", tmp_path / "out", RunOptions(title=" "))

    def test_a_work_folder_inside_the_videos_is_never_read(self, tmp_path: Path) -> None:
        folder = captions(tmp_path / "job", ("ann", "bob", "cyd"))
        first = run(folder, folder / "steps")
        second = run(folder, folder / "steps")
        assert second.results == first.results
        with pytest.raises(HowstepsError, match="holds the videos"):
            run(folder, folder)
        with pytest.raises(HowstepsError, match="holds other videos or captions"):
            run(folder, captions(tmp_path / "mine", ("eve",)))
        assert not (tmp_path / "mine" / ".howsteps").exists()

    def test_two_videos_give_their_common_steps(self, tmp_path: Path) -> None:
        folder = captions(tmp_path / "job", ("ann", "bob"))
        result = run(folder, tmp_path / "out").results["job"]
        shared = [step.label for step in result.script.steps if step.support == 2]
        assert {"fill the tub", "wash the cat", "dry the cat"} <= set(shared)

    def test_one_video_gives_the_acts_of_its_narrator(self, tmp_path: Path) -> None:
        folder = captions(tmp_path / "job", ("ann",))
        result = run(folder, tmp_path / "out").results["job"]
        assert [step.label for step in result.script.steps][:2] == ["fill the tub", "catch the cat"]
        times = [place.time for place in result.localisations]
        assert times == sorted(times)

    def test_a_number_of_steps_that_would_split_ties_is_explained(self, tmp_path: Path) -> None:
        folder = captions(tmp_path / "job", ("ann", "eve"))
        found = run(folder, tmp_path / "out", RunOptions(steps=2, mode="paper"))
        assert found.results == {}
        assert "cannot choose 2 steps" in found.problems[-1].reason

    def test_nothing_to_read_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no such file"):
            run(tmp_path / "nowhere", tmp_path / "out")
        (tmp_path / "empty").mkdir()
        assert run(tmp_path / "empty", tmp_path / "out").results == {}

    def test_an_unknown_stage_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(HowstepsError, match=f"'dance'.*{STAGES[0]}"):
            run(tmp_path, tmp_path / "out", force=["dance"])


class TestEvents:
    def test_a_stage_with_nothing_to_do_has_no_event(self, tmp_path: Path) -> None:
        film(tmp_path / "job" / "mute.mp4", 1.0)
        events: list[Event] = []
        run(tmp_path / "job", tmp_path / "out", RunOptions(vision=False), callback=events.append)
        assert events == []


class TestEditedScript:
    def test_edited_steps_are_used_as_they_are(self, job: Path, out: Path, tmp_path: Path) -> None:
        _, second, third, *others = read_result(out).steps
        lines = [
            second.label,
            f"+ {third.label}",
            "get going",
            *(step.label for step in others[1:]),
        ]
        path = out / "my-list.txt"
        path.write_text("\n".join(lines), "utf-8")
        result = run(job, tmp_path / "more", RunOptions(steps=8), script=path).results["wash a cat"]
        assert [step.label for step in result.steps] == [second.label, "get going", *lines[3:]]
        assert len(others) >= 2
        assert {*result.steps[0].mentions} == {*second.mentions, *third.mentions}

    def test_errors_in_a_script_are_found_before_any_stage_begins(
        self, job: Path, tmp_path: Path
    ) -> None:
        path = tmp_path / "mine.txt"
        path.write_text("fill the tub\n- ???", "utf-8")
        events: list[Event] = []
        found = run(job, tmp_path / "out", script=path, callback=events.append)
        assert found.results == {}
        assert [(problem.path, problem.line) for problem in found.problems] == [(path, 2)]
        assert events == []


# Runs the same job over and over in a child that is killed, and at last lets it end.
KILLED = """
import os, signal, sys, time
from pathlib import Path
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from howsteps.narration.parser import load_parser
load_parser(None)
job, out, *delays = sys.argv[1:]
killed = 0
for delay in delays:
    child = os.fork()
    if child == 0:
        run(job, Path(out), RunOptions(steps=8))
        os._exit(0)
    time.sleep(float(delay))
    os.kill(child, signal.SIGKILL)
    killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
run(job, Path(out), RunOptions(steps=8))
print(killed)
"""


@pytest.mark.slow
def test_a_run_killed_six_times_ends_with_the_same_bytes(
    job: Path, done: tuple[Path, Run], tmp_path: Path
) -> None:
    out, _ = done
    generator = random.Random(7)
    delays = [f"{generator.uniform(0.02, 0.9):.3f}" for _ in range(6)]
    program = [sys.executable, "-c", KILLED, str(job), str(tmp_path / "killed"), *delays]
    ended = subprocess.run(program, check=True, capture_output=True, text=True)  # noqa: S603
    assert int(ended.stdout) >= 1  # it was truly killed; a quick machine is done before some kills
    assert written(tmp_path / "killed") == written(out)
