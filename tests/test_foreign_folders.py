"""A work folder that somebody else made: no file of the user's is changed or lost."""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from time import sleep

import pytest
from typer.testing import CliRunner

import howsteps
from howsteps._cli.app import app
from howsteps.datasets.collection import WORK_FOLDER
from howsteps.errors import CannotWrite, HowstepsError, InputError
from howsteps.pipeline import work_folder
from howsteps.pipeline.options import RunOptions, write_options
from howsteps.pipeline.work_folder import writing_to
from howsteps.report.decoding import thumbnail_name
from howsteps.serve.session import Session
from howsteps.task import Script
from tests.films import film
from tests.pipeline.jobs import captions
from tests.report.job import tea
from tests.serve.conftest import edit, write_work

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
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("part", ["model", "report-pictures", "exports", "cache"])
def test_a_linked_part_is_refused_and_what_it_leads_to_stays(work, home, part) -> None:
    (work / part).symlink_to(home)
    with pytest.raises(CannotWrite, match="is a link"):
        Session(work)
    with pytest.raises(CannotWrite, match="is a link"):
        howsteps.place(work, "1. fill the kettle\n")
    if part == "report-pictures":
        with pytest.raises(CannotWrite, match="is a link"):
            CliRunner().invoke(app, ["export", str(work), "-f", "page"], catch_exceptions=False)
    assert contents(home) == MINE


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
    howsteps.place(work, "1. fill the kettle\n2. boil the water\n")
    mine = work / "exports" / "vtt" / "mine.vtt"
    mine.write_text("my own notes")
    howsteps.place(work, "1. fill the kettle\n2. boil the water\n3. add the leaves\n")
    assert mine.read_text() == "my own notes"


def test_a_second_run_into_a_folder_leaves_with_one_line(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(work_folder, "PATIENCE", 0.1)
    videos, out = captions(tmp_path / "wash"), tmp_path / "steps"
    with (
        writing_to(out),
        pytest.raises(CannotWrite, match=r"another howsteps is writing"),
    ):
        howsteps.run(videos, out)
    assert {path.name for path in out.iterdir()} == {WORK_FOLDER}
    howsteps.run(videos, out)  # nothing is to clean up


def test_a_run_waits_for_a_short_time(tmp_path) -> None:
    videos, out = captions(tmp_path / "wash"), tmp_path / "steps"
    with ThreadPoolExecutor() as pool:
        with writing_to(out):
            running = pool.submit(howsteps.run, videos, out)
            sleep(0.3)
            assert not running.done()
        assert running.result().results


def test_an_edit_is_not_written_while_a_run_writes(work, monkeypatch) -> None:
    monkeypatch.setattr(work_folder, "PATIENCE", 0.1)
    session = Session(work)
    before = contents(work)
    with writing_to(work):
        session.start()
        edit(session, 0, {"do": {"op": "delete", "step": 0}})
        assert session.wait_until_placed(60)
        assert "another howsteps is writing" in session.status()["error"]
        after = contents(work)
    session.stop()
    assert after["result.json"] == before["result.json"]
    assert b"delete" in after["edits.jsonl"]


def test_the_options_of_a_folder_load_no_code(work, tmp_path, monkeypatch, caplog) -> None:
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / "meta.json").write_text("{}")
    for parser in ("antigravity", str(tmp_path / "evil")):
        write_options(RunOptions(vision=False, parser=parser, speech=str(tmp_path)), work)
        result = howsteps.place(work, "1. carefully fill up the kettle\n")
        [remark] = [str(each) for each in result.problems if "parser" in str(each)]
        assert "is not loaded; if you trust it, give it as `parser`" in remark
        session = Session(work)
        assert any("is not loaded" in remark for remark in session.remarks())
        session.stop()
    assert "antigravity" not in sys.modules
    with pytest.raises(HowstepsError, match="antigravity"):  # who names it gets it
        howsteps.place(work, "1. fill it up\n", parser="antigravity")


@pytest.mark.slow
def test_what_a_folder_says_has_no_meaning_for_the_terminal(work, tmp_path) -> None:
    escape = "\x1b]0;"  # the title of the window
    written = json.loads((work / "result.json").read_text())
    written["task"] = written["steps"][0]["label"] = f"{escape}make tea"
    for video in written["videos"]:
        video["title"] = f"{escape}{video['title']}"
    (work / "result.json").write_text(json.dumps(written))
    new = captions(tmp_path / "new", ("ann",))
    for command in (
        ("place", work, "--drop", "Ada"),
        ("apply", work, new, "--out", tmp_path / "applied"),
        ("run", new, "--out", tmp_path / "run", "--title", f"{escape}wash"),
    ):
        done = CliRunner().invoke(app, list(map(str, command)))
        assert not isinstance(done.exception, HowstepsError)
        assert escape not in done.output


def test_a_model_has_a_bounded_number_of_words(work, tmp_path) -> None:
    howsteps.place(work, "1. fill the kettle\n2. boil the water\n")
    path = work / "model" / "features.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "words": [[f"w{n}", 1.0] for n in range(1_000_000)]}))
    with pytest.raises(InputError, match=r"features\.json: words: .* length <= 1000"):
        howsteps.apply(work, captions(tmp_path / "new", ("ann",)))


def test_exports_of_names_that_differ_by_form_or_system_do_not_collide(tmp_path) -> None:
    job = tea(4, 3)
    ids = dict(
        zip((v.id for v in job.task.videos), ("e\u0301", "\u00e9", "CON", "a:b"), strict=True)
    )
    videos = tuple(replace(v, id=ids[v.id], mentions=()) for v in job.task.videos)
    places = tuple(replace(place, video=ids[place.video]) for place in job.localisations)
    steps = tuple(replace(step, mentions=()) for step in job.script.steps)
    named = replace(
        job, task=replace(job.task, videos=videos), script=Script(steps), localisations=places
    )
    written = {path.stem for path in howsteps.export(named, tmp_path, "edl").paths}
    assert written == {"\u00e9", "\u00e9-2", "_CON", "a_b"}
