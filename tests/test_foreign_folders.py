"""A work folder that somebody else made: no file of the user's is changed or lost."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

import howsteps
from howsteps._cli.app import app
from howsteps.errors import CannotWrite
from howsteps.report.decoding import thumbnail_name
from howsteps.serve.new_videos import FOLDER
from howsteps.serve.session import Session
from tests.films import film
from tests.report.job import tea
from tests.serve.conftest import write_work

MINE = {"letter.srt": b"dear", "film.mp4": b"my film", ".a.part": b"half", "pic.webp": b"picture"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder of the user's own."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name, content in MINE.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return write_work(tmp_path / "steps", tea(5, 5))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("part", [FOLDER, "report-pictures", "exports", "cache"])
def test_a_linked_part_is_refused_and_what_it_leads_to_stays(work, home, part) -> None:
    (work / part).symlink_to(home)
    with pytest.raises(CannotWrite, match="is a link"):
        Session(work)
    with pytest.raises(CannotWrite, match="is a link"):
        howsteps.place_again(work, "1. fill the kettle\n")
    if part == "report-pictures":
        with pytest.raises(CannotWrite, match="is a link"):
            CliRunner().invoke(app, ["export", str(work), "-f", "page"], catch_exceptions=False)
    assert contents(home) == MINE


@pytest.mark.slow
def test_files_in_the_folder_of_new_videos_that_were_not_uploaded_stay(work, home) -> None:
    home.rename(work / FOLDER)
    howsteps.place_again(work, "1. boil the water\n")  # makes the model
    session = Session(work)
    session.start()
    assert session.wait_until_placed(60)
    session.stop()
    assert contents(work / FOLDER) == MINE


def test_the_page_removes_only_pictures_that_it_made(tmp_path, home) -> None:
    home.rename(tmp_path / "report-pictures")
    old = tmp_path / "report-pictures" / thumbnail_name("gone", 3.0)
    old.write_bytes(b"made by an earlier page")
    howsteps.export(tea(2, 2), tmp_path, "page")
    assert contents(tmp_path / "report-pictures") == MINE


@pytest.mark.parametrize("name", ["youtube", "csv"])
def test_a_linked_folder_of_a_format_is_refused(tmp_path, home, name) -> None:
    (tmp_path / "exports").mkdir()
    (tmp_path / "exports" / name).symlink_to(home)
    with pytest.raises(CannotWrite, match="is a link"):
        howsteps.export(tea(2, 2), tmp_path / "exports", name)
    assert contents(home) == MINE


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_copies_of_videos_are_not_written_through_links_or_pipes(tmp_path, home, kind) -> None:
    result = tea(1, 2, media={"Ada": film(tmp_path / "a.mp4", 20.0)})
    folder = tmp_path / "exports" / "video"
    folder.mkdir(parents=True)
    for name in (".part-Ada.mp4", "Ada.mp4"):
        if kind == "link":
            (folder / name).symlink_to(home / "film.mp4")
        else:
            os.mkfifo(folder / name)
    [written] = howsteps.export(result, folder.parent, "video").paths
    assert written.is_file()
    assert not written.is_symlink()
    assert contents(home) == MINE


@pytest.mark.slow
def test_exports_that_howsteps_did_not_write_stay(work) -> None:
    howsteps.place_again(work, "1. fill the kettle\n2. boil the water\n")
    mine = work / "exports" / "vtt" / "mine.vtt"
    mine.write_text("my own notes")
    howsteps.place_again(work, "1. fill the kettle\n2. boil the water\n3. add the leaves\n")
    assert mine.read_text() == "my own notes"
