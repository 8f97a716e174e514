"""Worker processes: whatever happens there is reported as one error."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from howsteps.errors import InputError
from howsteps.io import worker_process
from howsteps.io.worker_process import run_in_worker

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def worker_finds_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)


def do(
    what: str, stop: threading.Event | None = None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    told: list[dict[str, Any]] = []
    job = {"do": what, "media": "a.mp4"}
    done = run_in_worker("tests.io.stubborn", job, threads=3, on_progress=told.append, stop=stop)
    return done, told


def test_answers_are_returned_and_other_output_is_ignored() -> None:
    done, told = do("babble")
    assert done == {"threads": "3"}  # libraries are told how many threads they may have
    assert told == [{"seconds": 0.0}]


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("crash", "SIGSEGV"),
        ("swell", "needs too much"),
        ("raise", "ValueError: out of paper"),
        ("refuse", "is empty"),
    ],
)
def test_every_failure_has_one_reason(what: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        do(what)
    assert "\n" not in str(caught.value)


def test_a_hanging_process_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "_GRACE", 1.5)
    with pytest.raises(InputError, match="takes too long"):
        do("hang")


PARENT = """
from howsteps.io import worker_process
worker_process._GRACE = 4.0
tell = lambda answer: print("at work", flush=True)
job = {"do": "stroll", "media": "a.mp4"}
worker_process.run_in_worker("tests.io.stubborn", job, threads=1, on_progress=tell)
"""


@pytest.mark.slow
def test_time_in_which_the_parent_is_stopped_does_not_count() -> None:
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:  # noqa: S603 - our own
        assert parent.stdout is not None
        parent.stdout.readline()
        parent.send_signal(signal.SIGSTOP)
        time.sleep(6.0)
        parent.send_signal(signal.SIGCONT)
        parent.stdout.read()
        assert parent.wait(60) == 0


def test_a_process_is_killed_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    popen = worker_process.subprocess.Popen

    def noted(*arguments: Any, **options: Any) -> Any:
        process = popen(*arguments, **options)
        started.append(process.pid)
        return process

    monkeypatch.setattr(worker_process.subprocess, "Popen", noted)
    stop = threading.Event()
    threading.Timer(1.0, stop.set).start()
    began = time.monotonic()
    with pytest.raises(InputError, match="stopped"):
        do("hang", stop)
    assert time.monotonic() - began < 60
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)


def test_nothing_is_imported_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"), prepend=os.pathsep)
    for name in ("json", "click", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong module')\n")
    monkeypatch.chdir(tmp_path)
    done, _ = do("babble")
    assert done == {"threads": "3"}
