"""``howsteps.toml`` in the folder of the videos, and a folder of several jobs."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from howsteps import read_result
from howsteps._cli.app import app
from howsteps.pipeline.options import read_options
from howsteps.reader.client import URL_VARIABLE
from tests.pipeline.jobs import captions
from tests.reader.server import says, serving


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def job(tmp_path: Path) -> Path:
    folder = captions(tmp_path / "wash_a_cat", ("ann", "bob", "eve"))
    (folder / "howsteps.toml").write_text('title = "Cat care"\nsteps = 4\ndrop = ["eve"]\n')
    return folder


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    folder = tmp_path / "jobs"
    for name in ("cats", "dogs"):
        captions(folder / name, ("ann", "bob", "eve"))
    return folder


class TestOneJob:
    def test_its_options_are_those_of_the_run(self, job: Path, tmp_path: Path) -> None:
        done = call("run", job, "--out", tmp_path / "out", "--workers", "1", "-q")
        assert done.exit_code == 0
        assert "Cat care: 4 steps from 2 videos" in done.stdout
        options = read_options(tmp_path / "out")
        assert options is not None
        assert (options.title, options.steps, options.drop) == ("Cat care", 4, ("eve",))

    def test_the_command_line_wins(self, job: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        call("run", job, "--out", out, "--steps", "3", "--drop", "ann", "--workers", "1", "-q")
        result = read_result(out)
        assert len(result.steps) == 3
        assert [each.video for each in result.set_aside] == ["ann"]
        assert result.task.name == "Cat care"

    @pytest.mark.parametrize("command", ["script", "narration"])
    def test_the_stages_read_it_too(self, command: str, job: Path, tmp_path: Path) -> None:
        done = call(command, job, "--out", tmp_path / "out", "--workers", "1", "-q")
        assert "Cat care: " in done.stdout

    def test_it_is_no_caption_file(self, job: Path, tmp_path: Path) -> None:
        done = call("run", job, "--out", tmp_path / "out", "--workers", "1", "-q")
        assert "howsteps.toml" not in done.stderr

    @pytest.mark.parametrize("command", ["run", "script", "narration", "features"])
    def test_an_unknown_option_is_an_error(self, command: str, job: Path, tmp_path: Path) -> None:
        (job / "howsteps.toml").write_text('title = "x"\nspeed = 9\n')
        done = call(command, job, "--out", tmp_path / "out")
        assert done.exit_code == 1
        assert "howsteps.toml: speed: is no option here" in str(done.exception)
        assert not (tmp_path / "out").exists()

    def test_a_single_file_has_those_of_its_folder(self, job: Path, tmp_path: Path) -> None:
        for video in (job / "ann.srt", job / "eve.srt"):
            done = call("narration", video, "--out", tmp_path / video.stem, "-q")
            assert "Cat care: 1 video" in done.stdout
            assert "howsteps.toml: there is no video 'eve'" not in done.stderr
        done = call("run", job / "ann.srt", "--out", tmp_path / "out", "-q")
        assert done.stderr.count("howsteps.toml: there is no video 'eve' to keep or drop") == 1

    def test_a_list_on_the_command_line_wins_over_the_other_list(
        self, job: Path, tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        done = call("run", job, "--out", out, "--keep", "eve", "--workers", "1", "-q")
        assert done.exit_code == 0
        assert not read_result(out).set_aside
        (job / "howsteps.toml").write_text('keep = ["ann", "eve"]\n')
        call("run", job, "--out", out, "--drop", "ann", "--workers", "1", "-q")
        assert [each.video for each in read_result(out).set_aside] == ["ann"]
        options = read_options(out)
        assert options is not None
        assert options.keep == ("eve",)

    def test_a_video_that_is_not_there_is_a_remark_that_names_the_file(
        self, job: Path, tmp_path: Path
    ) -> None:
        (job / "howsteps.toml").write_text('keep = ["zoe"]\n')
        done = call("run", job, "--out", tmp_path / "out", "--workers", "1", "-q")
        assert done.exit_code == 0
        assert f"{job / 'howsteps.toml'}: there is no video 'zoe' to keep or drop" in done.stderr
        done = call("run", job, "--out", tmp_path / "out", "--keep", "zoe", "-q")
        assert str(done.exception) == "there is no video 'zoe' to keep or drop"

    def test_apply_reads_that_of_the_new_videos(self, job: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        call("run", job, "--out", out, "--workers", "1", "-q")
        new = captions(tmp_path / "new", ("ann",))
        (new / "howsteps.toml").write_text('title = "Somebody else\'s cat"\n')
        for source in (new, new / "ann.srt"):
            call("apply", out, source, "--out", tmp_path / "applied", "-q")
            assert read_result(tmp_path / "applied").task.name == "Somebody else's cat"


class TestLanguageModel:
    def test_a_model_is_asked_on_the_usual_server(
        self, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (job / "howsteps.toml").write_text('llm = "m"\n')
        order = ("run", job, "--out", tmp_path / "out", "--workers", "1", "-q")
        with serving(says("{}")) as server:
            monkeypatch.setenv(URL_VARIABLE, server.url)
            assert call(*order, "--llm", "none").exit_code == 0
            assert not server.requests
            done = call(*order)
            assert server.requests
        assert done.stderr.startswith(f"what narrators say is sent to {server.url}")


class TestSeveralJobs:
    def test_a_table_has_a_row_each(self, jobs: Path, tmp_path: Path) -> None:
        (jobs / "notes.txt").write_text("buy more film")
        (jobs / "birds").mkdir()
        done = call("run", jobs, "--out", tmp_path / "out", "--workers", "1", "-q")
        assert done.exit_code == 0
        heading, cats, dogs, where = done.stdout.splitlines()
        assert heading.split()[:3] == ["job", "videos", "set"]
        assert cats.split()[:3] == ["cats", "3", "0"]
        assert dogs.split()[0] == "dogs"
        assert where == f"written to {tmp_path / 'out'}: a folder for each job; " + (
            "index.html leads to the page of each"
        )
        assert "birds: this folder is empty" in done.stderr
        assert "notes.txt: is in no known caption format" in done.stderr

    def test_a_job_without_a_result_has_a_row_too(self, jobs: Path, tmp_path: Path) -> None:
        (jobs / "fish").mkdir()
        text = "1\n00:00:00,000 --> 00:00:04,000\nhello there my dear friends\n"
        (jobs / "fish" / "a.srt").write_text(text)
        done = call("run", jobs, "--out", jobs / ".." / "out", "--workers", "1", "-q")
        *_, fish, where = done.stdout.splitlines()
        assert fish.split() == ["fish", "no", "result"]
        assert where.startswith(f"written to {tmp_path / 'out'}: ")

    def test_a_video_to_drop_on_the_command_line_is_of_any_job(
        self, jobs: Path, tmp_path: Path
    ) -> None:
        (jobs / "dogs" / "zoe.srt").write_bytes((jobs / "dogs" / "ann.srt").read_bytes())
        out = tmp_path / "out"
        done = call("run", jobs, "--out", out, "--drop", "zoe", "--workers", "1", "-q")
        assert done.exit_code == 0
        assert [each.video for each in read_result(out / "dogs").set_aside] == ["zoe"]
