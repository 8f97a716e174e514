"""The progress that a run shows."""

import io
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from howsteps._cli import screen
from howsteps._cli.screen import _Display
from howsteps.pipeline.context import Event, ItemAt, ItemDone, StageBegan, StageEnded
from howsteps.pipeline.options import STAGES

EVENTS: tuple[Event, ...] = (
    StageBegan("features", "wash [a] cat", 2),
    ItemAt("features", "wash [a] cat", "ann", 61.0, 120.0),
    ItemDone("features", "wash [a] cat", "ann", False),
    ItemDone("features", "wash [a] cat", "bob", True),
    StageEnded("features", "wash [a] cat", 2, 1, 3.25),
)


def shown(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, quiet: bool = False) -> str:
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=120, highlight=False)
    monkeypatch.setattr(screen, "err", console)
    monkeypatch.setattr("sys.stderr", text)
    with screen.progress(quiet=quiet) as callback:
        for event in EVENTS:
            callback(event)
    return text.getvalue()


def test_a_log_has_one_line_per_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(monkeypatch, terminal=False).splitlines()
    assert lines == ["wash [a] cat: features, 2 videos (1 cached) in 3.2 s"]


def test_a_log_shows_progress_within_a_long_video(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("howsteps._cli.screen._LINE_EVERY_SECONDS", 0.0)
    lines = shown(monkeypatch, terminal=False).splitlines()
    assert lines[0] == "wash [a] cat: features: 0 of 2, ann"
    assert lines[1] == "wash [a] cat: features: 1 of 2, ann"


def test_the_bar_of_a_failed_stage_is_removed() -> None:
    progress = Progress(console=Console(file=io.StringIO()))
    display = _Display(progress)
    display(StageBegan("localise", "one", 1))
    display(StageBegan("narration", "two", 5))
    assert [task.total for task in progress.tasks] == [5]


def test_every_stage_has_a_description() -> None:
    display = _Display(Progress(console=Console(file=io.StringIO())))
    for stage in STAGES:
        display(StageBegan(stage, "a job", 1))


def test_a_terminal_keeps_a_line_after_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, terminal=True)
    assert "wash [a] cat: features, 2 videos (1 cached) in 3.2 s" in text


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a disk that is always full")
def test_a_full_disk_behind_the_output_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "howsteps", "doctor"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "howsteps: cannot write: No space left on device\n"
