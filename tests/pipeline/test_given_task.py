"""Tasks that were made in Python."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from howsteps.errors import HowstepsError
from howsteps.pipeline.given_task import check_task
from howsteps.pipeline.run import run
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
        assert "videos[1]: captions[1]: " in message


@pytest.mark.parametrize("caption", [5, "fill the tub", (0, 1, "fill"), {"start": 0}, None])
def test_a_caption_that_is_none_is_refused(caption: Any) -> None:
    assert "captions[0]: is not a Caption" in refused((Video("ann", (caption,)),))


def test_other_types_are_refused() -> None:
    assert "words: one is not a Word" in refused(
        (replace(VIDEO, captions=(replace(CAPTION, words=("a",)),)),)
    )
    assert "its text is of type bytes" in refused(
        (replace(VIDEO, captions=(replace(CAPTION, text=b"a"),)),)
    )
    assert "captions: is not a tuple" in refused((replace(VIDEO, captions=None),))
    assert "videos: is not a tuple" in refused(iter([VIDEO]))
    assert "videos[0]: is not a Video" in refused(("ann",))
    assert "duration: nan" in refused((replace(VIDEO, duration=math.nan),))
    assert "name: None" in refused((VIDEO,), name=None)


def test_ids_are_strings_and_unique() -> None:
    assert "videos[0]: id: 5 is not a string" in refused((replace(VIDEO, id=5),))
    assert "videos[1]: another video has the id 'ann'" in refused((VIDEO, VIDEO))


def test_a_run_checks_its_task_and_workers_before_it_writes(tmp_path: Path) -> None:
    with pytest.raises(HowstepsError, match="another video has the id"):
        run(Task("wash a cat", (VIDEO, VIDEO)), tmp_path / "out")
    with pytest.raises(HowstepsError, match="workers"):
        run(Task("wash a cat", (VIDEO,)), tmp_path / "out", workers=0)
    assert not (tmp_path / "out").exists()
