"""A result with labels that need escaping in every format."""

from pathlib import Path

import pytest

from howsteps.api import export
from howsteps.task import (
    LIKE_SAID,
    SAID,
    Localisation,
    Mention,
    Result,
    Script,
    Sentence,
    Step,
    Task,
    Video,
    Word,
)
from tests.films import film

HOSTILE = "=cmd|' /C calc'!A1; <b>#1</b> & \"x\" = \\ --> [y](z)\nsecond line"
LABELS = ("fill the tub", HOSTILE, "dry off the cat", "let the cat go")
# As every export calls them.
SHOWN = ("Fill the tub", HOSTILE.replace("\n", " "), "Dry off the cat", "Let the cat go")


def written(result: Result, folder: Path, name: str, **how: bool) -> list[Path]:
    """Export in one format, without problems."""
    paths, problems = export(result, folder, [name], **how)
    assert all(problem.harmless for problem in problems)
    return paths


def placed(video: str, *times: float | None, confidence: float = 0.95) -> list[Localisation]:
    evidence = SAID if confidence > 0.5 else LIKE_SAID
    return [
        Localisation(video, step, None)
        if at is None
        else Localisation(video, step, at + 1.0, at, at + 5.0, confidence, evidence, 0.95)
        for step, at in enumerate(times)
    ]


@pytest.fixture(scope="session")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    media = film(tmp_path_factory.mktemp("films") / "one.mp4", 62.0, sound=True, keyframes=20)
    words = (Word("fill", 12.0, 12.4), Word("the", 12.4, 12.6), Word("tub", 12.6, 13.0))
    mention = Mention("one", "fill", "tub", "fill the tub", 12.0, 13.0)
    videos = (
        Video("one", title="A cat", duration=62.0, media=media, sentences=(Sentence(words),)),
        Video("../../two", duration=45.0),
        Video("short", duration=20.0),
    )
    steps = tuple(Step(label, (mention,) if n == 0 else ()) for n, label in enumerate(LABELS))
    found = [
        *placed("one", 12.0, 25.0, 31.0, 50.0),
        *placed("../../two", 3.0, 14.0, None, 30.0),
        *placed("short", 2.0, 4.0, 6.0, 8.0, confidence=0.3),
    ]
    return Result(Task("wash_a_cat", videos), Script(steps), tuple(found))


@pytest.fixture
def one(result: Result) -> Video:
    return result.task.videos[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "exports"
