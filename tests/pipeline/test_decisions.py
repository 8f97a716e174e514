"""What a person decided about a work folder stays, whatever is run in it next."""

from pathlib import Path

import pytest

from howsteps import export, place, read_result, run
from howsteps.errors import InputError
from howsteps.pipeline.work_folder import DECISIONS
from tests.pipeline.jobs import captions


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return captions(tmp_path / "wash a cat")


@pytest.fixture
def out(job: Path, tmp_path: Path) -> Path:
    run(job, tmp_path / "out", steps=8)
    return tmp_path / "out"


def used(out: Path) -> list[str]:
    return [video.id for video in read_result(out).task.videos]


class TestVideos:
    def test_a_video_that_was_left_out_stays_out(self, job: Path, out: Path) -> None:
        place(out, drop=["bob"])
        run(job, out, steps=8)
        assert used(out) == ["ann", "cyd", "dan", "eve"]
        assert [each.reason for each in read_result(out).set_aside] == ["you left it out"]
        assert not (out / "script.edited.md").exists()  # nobody edited it
        run(job, out, steps=8, keep=["bob"])  # decided anew
        run(job, out, steps=8)
        assert used(out) == ["ann", "bob", "cyd", "dan", "eve"]

    def test_a_line_of_the_script_is_a_decision(self, job: Path, out: Path, tmp_path: Path) -> None:
        text = (out / "script.md").read_text("utf-8")
        (tmp_path / "mine.md").write_text(f"{text}\ndrop: dan\n", "utf-8")
        place(out, tmp_path / "mine.md")
        run(job, out, steps=8)
        assert used(out) == ["ann", "bob", "cyd", "eve"]

    def test_what_one_run_drops_is_of_that_run(self, job: Path, out: Path) -> None:
        run(job, out, steps=8, drop=["bob"])
        run(job, out, steps=8)
        assert "bob" in used(out)


class TestExports:
    def test_the_how_to_is_written_again(self, job: Path, out: Path) -> None:
        export(out, out / "exports", "howto")
        place(out, "fill the tub\ndry the animal", keep=())
        assert "Dry the animal" in (out / "exports" / "howto" / "howto.md").read_text("utf-8")
        run(job, out, title="bathe an animal")
        assert "# Bathe an animal" in (out / "exports" / "howto" / "howto.md").read_text("utf-8")

    def test_what_was_deleted_is_not(self, out: Path) -> None:
        export(out, out / "exports", "howto")
        for path in sorted((out / "exports" / "howto").rglob("*"), reverse=True):
            path.unlink()
        (out / "exports" / "howto").rmdir()
        place(out, drop=["bob"])
        assert not (out / "exports" / "howto").exists()

    def test_the_others_are_said_to_be_out_of_date(self, job: Path, out: Path) -> None:
        export(out, out / "exports", ["clips", "video"])
        (out / "exports" / "clips").mkdir()
        assert not any("earlier" in str(problem) for problem in run(job, out, steps=8).problems)
        remarks = [str(problem) for problem in place(out, drop=["bob"]).problems]
        stale = f"{out}/exports/clips: is of an earlier result; export it again"
        assert [each for each in remarks if "earlier" in each] == [stale]

    def test_guesses_stay(self, job: Path, out: Path) -> None:
        files = out / "exports" / "vtt"
        export(out, out / "exports", "vtt", guesses=True)
        with_guesses = {path.name: path.read_text("utf-8") for path in files.iterdir()}
        run(job, out, steps=8)
        assert {path.name: path.read_text("utf-8") for path in files.iterdir()} == with_guesses
        export(out, out / "exports", "vtt")
        without = {path.name: path.read_text("utf-8") for path in files.iterdir()}
        assert without != with_guesses


def test_a_file_that_is_none_is_an_error_that_names_it(out: Path) -> None:
    (out / DECISIONS).write_text('{"videos": 3}')
    with pytest.raises(InputError, match=r"decisions\.json: videos: expected object"):
        place(out, drop=["bob"])
