"""Tasks that were made in Python."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from howsteps.errors import HowstepsError
from howsteps.pipeline.run import check_task, run
from howsteps.task import Caption, Task, Video, Word

CAPTION = Caption(1.0, 2.0, "fill the tub", (Word("fill", 1.0, 1.5),))
VIDEO = Video("ann", (CAPTION,), duration=9.0)


def refused(videos: Any, name: Any = "wash a cat") -> str:
    with pytest.raises(HowstepsError) as error:
        check_task(Task(name, videos))
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_valid_task_is_accepted() -> None:
    check_task(Task("wash a cat", (VIDEO, replace(VIDEO, id="bob", captions=[CAPTION]))))


@pytest.mark.parametrize("time", [math.nan, math.inf, -1.0, 1e7, 10**400, "1", None])
def test_a_caption_at_no_time_is_refused(time: Any) -> None:
    word = replace(CAPTION.words[0], end=time)
    for change in ({"start": time}, {"end": time}, {"words": (word,)}):
        caption = replace(CAPTION, **change)
        message = refused((VIDEO, Video("bob", (CAPTION, caption))))
        assert "videos[1].captions[1]." in message


@pytest.mark.parametrize(
    ("videos", "name", "reason"),
    [
        ((Video("ann", (5,)),), "wash a cat", "videos[0].captions[0]: expected object, got int"),
        ((replace(VIDEO, duration=math.nan),), "wash a cat", "videos[0].duration: expected float"),
        ((VIDEO,), None, "name: expected str"),
        ((VIDEO,), "half \ud800", "surrogates"),
        ((replace(VIDEO, id=5),), "wash a cat", "videos[0].id: expected str, got int"),
        ((VIDEO, VIDEO), "wash a cat", "2 videos have the id 'ann'"),
        (("ann",), "wash a cat", "'str' object has no attribute 'id'"),
    ],
)
def test_errors_say_where(videos: Any, name: Any, reason: str) -> None:
    assert reason in refused(videos, name)


def test_a_run_checks_its_task_and_workers_before_it_writes(tmp_path: Path) -> None:
    with pytest.raises(HowstepsError, match="2 videos have the id"):
        run(Task("wash a cat", (VIDEO, VIDEO)), tmp_path / "out")
    with pytest.raises(HowstepsError, match="workers"):
        run(Task("wash a cat", (VIDEO,)), tmp_path / "out", workers=0)
    assert not (tmp_path / "out").exists()
