"""All commands over a work folder in which every entry in turn is a link, a pipe or a folder.

Nothing outside the work folder may change, no command may hang, and none may show a traceback.
"""

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from howsteps._cli.app import app
from howsteps.errors import HowstepsError
from howsteps.pipeline import work_folder
from howsteps.report.exports import FORMATS
from howsteps.serve.session import Session
from tests.pipeline.jobs import captions
from tests.serve.conftest import edit

pytestmark = pytest.mark.slow
LONGEST = 60  # seconds of one command
EVERY_FORMAT = [word for name in FORMATS for word in ("--format", name)]
STEPS = "1. fill the tub\n2. wash the cat\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job, its work folder, a home, and new captions; in ``place/steps`` everything is there."""
    place = tmp_path_factory.mktemp("place")
    captions(place / "wash", ("ann", "bob", "cyd"))
    captions(place / "new", ("dan",))
    (place / "edited.md").write_text(STEPS)
    work = place / "steps"
    assert howsteps("run", place / "wash", "--out", work, "--workers", 1)
    serve(work)
    assert howsteps("export", work, *EVERY_FORMAT)
    (work / "report-pictures").mkdir(exist_ok=True)
    (work / "script.md").write_text(STEPS)
    howsteps("run", place / "wash", "--out", work, "--workers", 1)
    return place


def howsteps(*words: object) -> bool:
    """Run a command; whether it succeeded."""
    found = CliRunner().invoke(app, [str(word) for word in words])
    if not isinstance(found.exception, None | SystemExit | HowstepsError | OSError):
        raise found.exception
    if isinstance(found.exception, OSError):  # one line, if it names the file
        assert found.exception.filename is not None
    return found.exit_code == 0


def serve(work: Path) -> None:
    """Serve a folder, make an edit, and wait until it is placed."""
    try:
        session = Session(work)
    except HowstepsError:
        return
    session.start()
    try:
        rename = {"op": "rename", "step": 0, "label": "begin"}
        edit(session, session.journal.history.revision, {"do": rename})
    except HowstepsError:
        pass
    assert session.wait_until_placed(LONGEST)
    assert "failed" not in session.status()["error"]
    session.stop()


@contextmanager
def limited() -> Iterator[None]:
    """Fail if it takes longer than a minute."""

    def stop(*_: object) -> None:
        raise AssertionError("it hangs")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    }


def entries(work: Path) -> list[str]:
    """Every folder, and the first file of every kind in each."""
    found: dict[tuple[Path, str], Path] = {}
    for path in sorted(work.rglob("*")):
        kind = path.name if path.parent == work or path.is_dir() else path.suffix
        found.setdefault((path.parent, kind), path)
    return sorted(str(path.relative_to(work)) for path in found.values())


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_nothing_outside_is_changed_and_nothing_hangs(place, tmp_path, monkeypatch, kind) -> None:
    monkeypatch.setattr(work_folder, "PATIENCE", 0.1, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    for entry in entries(place / "steps"):
        original, work = place / "steps" / entry, tmp_path / "steps"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(place / "steps", work)
        mine, attacked = home / original.name, work / entry
        shutil.rmtree(home)
        home.mkdir()
        if original.is_dir():
            shutil.copytree(original, mine)
            shutil.rmtree(attacked)
        else:
            shutil.copy(original, mine)
            attacked.unlink()
        before = state(home)
        if kind == "link":
            attacked.symlink_to(mine)
        elif kind == "pipe":
            os.mkfifo(attacked)
        else:
            attacked.mkdir()
            (attacked / "mine.txt").write_text("mine")
        for command in (
            ("export", work, *EVERY_FORMAT),
            ("place", work, "--script", place / "edited.md"),
            ("apply", work, place / "new", "--out", work, "--workers", 1),
            ("script", place / "wash", "--out", work, "--workers", 1),
            ("features", place / "wash", "--out", work, "--workers", 1),
            ("run", place / "wash", "--out", work, "--workers", 1),
        ):
            with limited():
                howsteps(*command, "--quiet")
        with limited():
            serve(work)
        assert state(home) == before, f"{entry} as a {kind}"
        if kind == "folder" and attacked.is_dir():
            assert (attacked / "mine.txt").read_text() == "mine"
