"""Ctrl-C at any point of a run: one line, nothing half-written, and the next run resumes."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from howsteps._cli.app import INTERRUPTED, main
from howsteps.pipeline.run import run
from tests.films import film
from tests.pipeline.jobs import written

# What each stage calls first.
STAGES = {
    "read": "howsteps.datasets.read_tasks",
    "narration": "howsteps.pipeline.stages._extract",
    "relevance": "howsteps.pipeline.selection.set_aside_other_jobs",
    "script": "howsteps.script.discover",
    "script files": "howsteps.pipeline.work_folder.write_script",
    "features": "howsteps.pipeline.run.visual_features",
    "localise": "howsteps.localise.method.localise",
    "result": "howsteps.pipeline.work_folder.write_result",
    "page": "howsteps.report.page.write_page",
    "exports": "howsteps.report.exports.export",
}


@pytest.fixture(autouse=True)
def attentive() -> Iterator[None]:
    """Restore SIGINT, which is ignored in processes that a shell starts in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press(*_: object, **__: object) -> None:
    signal.raise_signal(signal.SIGINT)


def check(job: Path, out: Path, done: Path, capsys, monkeypatch, fault) -> None:
    """Interrupt a run; check how it ends, what it leaves, and the result of the next run."""
    call = ["howsteps", "run", str(job), "--out", str(out), "--workers", "1", "--quiet"]
    monkeypatch.setattr(sys, "argv", call)
    with monkeypatch.context() as patch:
        fault(patch)
        with pytest.raises(SystemExit) as ended:
            main()
    said = capsys.readouterr().err.strip()
    assert ended.value.code == INTERRUPTED
    assert said == "howsteps: stopped by Ctrl-C"
    assert not list(out.rglob("*.part"))
    run(job, out)
    assert written(out) == written(done)


@pytest.mark.parametrize("stage", STAGES)
def test_in_a_stage(stage, job, done, tmp_path, capsys, monkeypatch):
    check(
        *(job, tmp_path / "out", done, capsys, monkeypatch),
        lambda patch: patch.setattr(STAGES[stage], press),
    )


@pytest.mark.parametrize("after", [0, 7, 20])
def test_while_a_file_is_written(after, job, done, tmp_path, capsys, monkeypatch):
    writes = count()

    def sync(file: int, sync=os.fsync) -> None:
        if next(writes) == after:
            press()
        sync(file)

    check(
        *(job, tmp_path / "out", done, capsys, monkeypatch),
        lambda patch: patch.setattr("howsteps.io.files.os.fsync", sync),
    )


@pytest.mark.slow
def test_while_a_video_is_decoded(tmp_path, capsys, monkeypatch):
    path = film(tmp_path / "wash a cat" / "ann.mp4", 240.0)  # half a minute of work
    decoding: list[int] = []

    def press_when_decoding() -> None:
        until = time.monotonic() + 60
        while not decoding and time.monotonic() < until:
            time.sleep(0.02)
            decoding.extend(set(reading(path)) - {os.getpid()})
        if decoding:
            os.kill(os.getpid(), signal.SIGINT)

    call = ["features", str(path.parent), "--quick", "--quiet", "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", ["howsteps", *call])
    pressing = threading.Thread(target=press_when_decoding)
    pressing.start()
    with pytest.raises(SystemExit) as ended:
        main()
    pressing.join()
    assert ended.value.code == INTERRUPTED
    assert capsys.readouterr().err.strip() == "howsteps: stopped by Ctrl-C"
    assert decoding
    until = time.monotonic() + 10  # a thread ends it, which a program that ends waits for
    while any(Path(f"/proc/{worker}").exists() for worker in decoding):
        assert time.monotonic() < until
        time.sleep(0.02)


def reading(path: Path) -> list[int]:
    """Processes that have a file open."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                opened = [os.readlink(file) for file in (process / "fd").iterdir()]
            except OSError:  # it ended, or is somebody else's
                continue
            if str(path) in opened:
                found.append(int(process.name))
    return found
