"""``howsteps run``, the commands on its work folder, and ``howsteps doctor``."""

import shutil
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from howsteps._cli import screen
from howsteps._cli.app import app
from howsteps._cli.run import places_table
from howsteps.errors import Problem
from howsteps.pipeline.options import read_options
from howsteps.store import read_result
from howsteps.task import LEVELS, SAID, Localisation, Script, Step, Task, Video
from howsteps.task import Result as Found
from tests.jobs import write_tea_folder
from tests.pipeline.jobs import captions, narration, subrip


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return captions(tmp_path_factory.mktemp("cli") / "wash_a_cat", ("ann", "bob", "eve"))


@pytest.fixture(scope="module")
def work(job: Path) -> Path:
    out = job.parent / "work"
    assert call("run", job, "--out", out, "--workers", "1", "--quiet").exit_code == 0
    return out


class TestRun:
    def test_the_script_and_the_folder_are_shown(self, job: Path, work: Path) -> None:
        done = call("run", job, "--out", work, "--workers", "1")
        assert done.exit_code == 0
        assert "wash_a_cat: " in done.stdout
        assert "fill the tub" in done.stdout
        assert f"written to {work}" in done.stdout
        assert "narration, 3 videos, all cached" in done.stderr

    def test_the_default_folder_is_in_the_current_folder(
        self, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert call("run", job, "--workers", "1", "-q").exit_code == 0
        assert (tmp_path / "wash_a_cat-steps" / "result.json").is_file()

    def test_something_set_aside_exits_with_three(self, tmp_path: Path) -> None:
        folder = captions(tmp_path / "job", ("ann", "bob", "eve"))
        (folder / "broken.srt").write_text("nothing here")
        done = call("run", folder, "--out", tmp_path / "out", "--workers", "1", "-q")
        assert done.exit_code == 3
        assert "broken.srt" in done.stderr
        assert "fill the tub" in done.stdout

    def test_nothing_found_exits_with_one_and_a_reason(self, tmp_path: Path) -> None:
        (tmp_path / "job").mkdir()
        (tmp_path / "job" / "a.srt").write_text(subrip({0: "hello there my dear friends"}))
        done = call("run", tmp_path / "job", "--out", tmp_path / "out", "--workers", "1", "-q")
        assert done.exit_code == 1
        assert "nobody says in it what is done" in done.stderr

    @pytest.mark.parametrize("typed", [("--force", "dance"), ("--device", "abacus")])
    def test_an_invalid_command_line_exits_with_two(
        self, job: Path, tmp_path: Path, typed: tuple[str, str]
    ) -> None:
        assert call("run", job, "--out", tmp_path, *typed).exit_code == 2


class TestLocalise:
    def test_the_options_are_those_of_the_run(self, job: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        call("run", job, "--out", out, "--title", "Cat care", "--quick", "--mode", "paper", "-q")
        before = read_options(out)
        done = call("place", out, "--script", out / "script.md", "-q")
        assert done.exit_code == 0
        assert "Cat care: " in done.stdout
        assert read_options(out) == before

    def test_a_broken_script_exits_with_one_and_names_the_file(
        self, job: Path, tmp_path: Path
    ) -> None:
        edited = tmp_path / "mine.txt"
        edited.write_text("fill the tub\n- ???", "utf-8")
        done = call("run", job, "--script", edited, "--out", tmp_path / "out", "-q")
        assert done.exit_code == 1
        assert "mine.txt:2: there are no words" in done.stderr

    def test_script_text_is_placed_without_the_videos(self, work: Path, tmp_path: Path) -> None:
        out = Path(shutil.copytree(work, tmp_path / "out"))
        page = out / "script.md"
        first = read_result(out).script.steps[0]
        text = page.read_text("utf-8")
        page.write_text(
            text.replace(f"1. {first.label}", "1. bake a cake\n2. Begin (optional)", 1), "utf-8"
        )
        done = call("place", out, "--script", page, "-q")
        assert done.exit_code == 0
        assert "script.md:3: no narrator mentions the step 'bake a cake'" in done.stderr
        assert "Begin (optional)" in done.stdout
        begin = read_result(out).script.steps[1]
        assert (begin.label, begin.optional, begin.mentions) == ("Begin", True, first.mentions)
        assert "\n2. Begin (optional)\n" in page.read_text("utf-8")


class TestExport:
    def test_without_a_format_they_are_listed(self, work: Path) -> None:
        done = call("export", work)
        assert done.exit_code == 0
        assert "label-studio" in done.stdout

    def test_files_are_written_to_the_work_folder(self, work: Path) -> None:
        done = call("export", work, "-f", "vtt", "-f", "csv")
        assert done.exit_code == 0
        assert "4 files in" in done.stdout
        assert (work / "exports" / "vtt" / "ann.vtt").is_file()
        assert "not placed" not in done.stderr

    def test_a_script_that_was_edited_and_not_placed_is_mentioned(
        self, work: Path, tmp_path: Path
    ) -> None:
        out = Path(shutil.copytree(work, tmp_path / "out"))
        page = out / "script.md"
        page.write_text(page.read_text("utf-8").replace("1. ", "1. first ", 1), "utf-8")
        done = call("export", out, "-f", "vtt")
        assert done.exit_code == 0
        assert f"howsteps place {out} --script {page}" in done.stderr
        assert call("place", out, "--script", page, "-q").exit_code == 0
        assert "not placed" not in call("export", out, "-f", "vtt").stderr


class TestApply:
    def test_the_places_and_the_page_are_shown(self, work: Path, tmp_path: Path) -> None:
        (tmp_path / "flo.srt").write_text(narration("flo"))
        done = call("apply", work, tmp_path / "flo.srt", "--out", tmp_path / "out", "-q")
        assert done.exit_code == 0
        [first] = [line for line in done.stdout.splitlines() if "1. fill the tub" in line]
        assert first.split()[-1] in LEVELS
        assert f"open this page: {tmp_path / 'out' / 'report.html'}" in done.stdout

    def test_a_missing_step_is_shown_as_absent(self) -> None:
        places = (Localisation("a", 0, 61.0, 60.0, 62.0, 0.5, SAID), Localisation("b", 0, None))
        step = Step("fill [b] the tub", ())
        videos = tuple(Video(name) for name in "abc")
        console = Console(width=80, record=True, file=StringIO())
        console.print(places_table(Found(Task("", videos), Script((step,)), places)))
        assert console.export_text().splitlines()[1].split()[-4:] == [
            "1:01",
            "likely",
            "absent",
            "·",
        ]


class TestReport:
    def test_the_page_is_written_again(self, work: Path) -> None:
        (work / "report.html").unlink()
        done = call("export", work, "-f", "page")
        assert done.exit_code == 0
        assert (work / "report.html").is_file()

    @pytest.mark.slow
    def test_a_video_without_thumbnails_is_reported_and_exits_with_three(
        self, tmp_path: Path
    ) -> None:
        folder = captions(tmp_path / "job", ("ann", "bob"))
        (folder / "ann.mp4").write_text("no film")
        call("run", folder, "--out", tmp_path / "out", "--no-vision", "--workers", "1", "-q")
        done = call("export", tmp_path / "out", "-f", "page", "-q")
        assert done.exit_code == 3
        assert "ann.mp4" in done.stderr
        assert (tmp_path / "out" / "report.html").is_file()


def test_doctor_shows_what_is_missing_and_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    from howsteps.errors import Extra

    missing = Extra("ray", "many machines", ("no_such_module",))
    monkeypatch.setattr("howsteps._cli.doctor.EXTRAS", (missing,))
    monkeypatch.setenv("COLUMNS", "200")
    done = call("doctor")
    assert done.exit_code == 0
    assert "captions to steps" in done.stdout
    assert "needs no_such_module" in done.stdout
    assert "pip install 'howsteps[ray]'" in done.stdout


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("(to keep it: `keep_all=True`)", "(to keep it: --keep-all)"),
        ('(to keep it: `keep="a1"`)', "(to keep it: --keep a1)"),
        ('to turn it on: `speech="small.en"`', "to turn it on: --speech small.en"),
        ('as in `title="change a tire"`', 'as in --title "change a tire"'),
        ('(to keep it: `keep="$(ls)`id`\\""`)', "(to keep it: --keep '$(ls)`id`\"')"),
        (r'the file `x="\q"`', r'the file --x "\q"'),
        ("leave out `steps`", "leave out --steps"),
        ("a `` b `x y`", "a `` b `x y`"),
    ],
)
def test_arguments_in_messages_become_options(said: str, shown: str) -> None:
    assert screen.in_options(said) == shown


class TestProblems:
    def lines(self, capsys: pytest.CaptureFixture[str], *problems: Problem) -> list[str]:
        screen.show_problems(problems)
        return capsys.readouterr().err.splitlines()

    def test_many_similar_remarks_are_one_line_with_a_count(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        remarks = [
            Problem(Path(f"{n}.srt"), f"step {n} is early", harmless=True) for n in range(30)
        ]
        lost = Problem(Path("lost.mp4"), "set aside")
        lines = self.lines(capsys, lost, *remarks)
        assert lines == [
            "0.srt: step 0 is early (and 29 more like this)",
            "lost.mp4: set aside",
        ]

    def test_the_fatal_problem_comes_last(self, capsys: pytest.CaptureFixture[str]) -> None:
        losses = [Problem(Path(f"{n}.srt"), "is broken") for n in range(40)]
        fatal = Problem(Path("job"), "no two narrators name the same thing")
        lines = self.lines(capsys, *losses, fatal, Problem(Path("x"), "by the way", harmless=True))
        assert len(lines) == 30
        assert lines[0] == "x: by the way"
        assert lines[-2:] == [
            "27.srt: is broken (and 12 more like this)",
            "job: no two narrators name the same thing",
        ]

    def test_remarks_alone_exit_with_zero(self, tmp_path: Path) -> None:
        folder = captions(tmp_path / "job", ("ann", "bob", "eve"))
        (folder / "hello.srt").write_text(subrip({0: "hello there my dear friends"}))
        done = call("run", folder, "--out", tmp_path / "out", "--workers", "1", "-q")
        assert "hello: nobody says in it what is done" in done.stderr
        assert done.exit_code == 0

    @pytest.mark.slow
    def test_a_video_of_another_job_is_not_a_failure(self, tmp_path: Path) -> None:
        knots = dict.fromkeys(range(0, 30, 6), "tie the knot then pull the rope tight and go on")
        (write_tea_folder(tmp_path / "make tea", videos=8) / "knots.srt").write_text(subrip(knots))
        asked = (tmp_path / "make tea", "--out", tmp_path / "out", "--workers", "1", "-q")
        done = call("run", *asked)
        probable = (
            f"(another job: {read_result(tmp_path / 'out').set_aside[0].probability:.0%} probable)"
        )
        assert f"knots: set aside: hardly says 'tea', unlike the others {probable}" in done.stderr
        where = "script.md and report.html list them (--keep ID uses one again)"
        assert f"1 of 9 videos set aside {probable}: {where}" in done.stdout
        assert done.exit_code == 0
        (tmp_path / "make tea" / "broken.srt").write_text("nothing here")
        assert call("run", *asked).exit_code == 3

    def test_a_failed_run_leaves_no_empty_folder(self, tmp_path: Path) -> None:
        (tmp_path / "job").mkdir()
        (tmp_path / "job" / "a.srt").write_text("no captions")
        done = call("run", tmp_path / "job", "--out", tmp_path / "out", "-q")
        assert done.exit_code == 1
        assert not (tmp_path / "out").exists()
        assert done.stderr.splitlines()[-1].endswith("no videos or captions were found here")
