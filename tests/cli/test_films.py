"""How far films are: bars on a terminal, lines in a log, nothing when quiet."""

import io

import pytest
from rich.console import Console

from howsteps._cli import films as shown
from howsteps._cli import screen
from howsteps.pipeline.descriptors import VideoProgress

STORY = [
    VideoProgress("a", "watching", 0.0, 60.0),
    VideoProgress("b", "known", 30.0),
    VideoProgress("a", "watching", 30.0, 60.0),
    VideoProgress("c", "failed"),
    VideoProgress("a", "watched", 60.0, 60.0, {"flow": 1.0}),
]


def told(
    monkeypatch: pytest.MonkeyPatch, *, terminal: bool, quiet: bool = False, until: int = len(STORY)
) -> str:
    file = io.StringIO()
    monkeypatch.setattr(screen, "err", Console(file=file, force_terminal=terminal, width=100))
    with shown.films(3, quiet=quiet) as callback:
        for seen in STORY[:until]:
            callback(seen)
    return file.getvalue()


def test_a_terminal_shows_each_film_and_its_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(shown, "monotonic", lambda: next(clock))
    last = told(monkeypatch, terminal=True, until=3).rpartition("films")[2]
    assert "0:30 at 1.5× its speed" in last  # the film's own bar
    assert (
        "its speed" not in told(monkeypatch, terminal=True).rpartition("films")[2]
    )  # gone when done


def test_a_log_gets_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter(range(0, 1000, 6))
    monkeypatch.setattr(shown, "monotonic", lambda: next(clock))
    told(monkeypatch, terminal=False)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("watching: 1 of 3 films")
    assert lines[-1].startswith("watching: 3 of 3 films, 1:00 of film at ")
    assert len(lines) < len(STORY)


def test_quiet_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(monkeypatch, terminal=True, quiet=True) == ""
    assert capsys.readouterr().err == ""


def test_speed_is_against_the_length_of_the_film() -> None:
    assert shown.pace(30.0, 10.0) == "at 3.0× its speed"
    assert shown.pace(0.0, 10.0) == ""
