"""Videos of another job are set aside, and get a script of their own if they agree on one."""

from pathlib import Path

import pytest

from howsteps.errors import Problem
from howsteps.pipeline.cache import Cache
from howsteps.pipeline.context import Context
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import find_other_ways, set_aside_other_jobs, with_page_hint
from howsteps.task import Mention, OtherWay, Sentence, Task, Video, Word

BOILED = ("boil egg", "peel egg", "salt egg")
FRIED = ("heat pan", "melt butter", "crack egg", "flip bacon", "season egg", "wash plate")


def videos(count: int, name: str, title: str, acts: tuple[str, ...], talk: str) -> list[Video]:
    """Narrations of one way of doing the job, with some digressions."""
    found = []
    for n in range(count):
        id_ = f"{name} {n}"
        text = f"{' '.join(acts)} {talk} {'and so on ' * 10}"
        mentions = tuple(
            Mention(id_, *act.split(), phrase=act, start=60.0 * at, end=60.0 * at + 1, work=0.9)
            for at, act in enumerate(acts)
        )
        sentence = Sentence((Word(text, 0.0, 600.0),))
        found.append(Video(id_, title=title, sentences=(sentence,), mentions=mentions))
    return found


def ways_of(fried: int, acts: tuple[str, ...], folder: Path) -> tuple[OtherWay, ...]:
    own = videos(12, "boil", "How to boil eggs", BOILED, "boil the eggs")
    others = videos(fried, "fry", "Eggs", acts, "eggs eggs eggs")
    task = Task("how to boil eggs", (*own, *others))
    found = set_aside_other_jobs(task, RunOptions())
    assert {video.id for video in found.task.videos} == {video.id for video in own}
    [remark] = found.remarks  # on all of them, and not on each too
    assert f"{fried} of {12 + fried} videos hardly say 'boil'" in remark.reason
    return find_other_ways(task, found.ways, RunOptions(), Context(Cache(folder)))


def test_another_way_has_its_steps_in_order(tmp_path: Path) -> None:
    [way] = ways_of(9, FRIED, tmp_path)
    remark = Problem(Path("eggs"), way.reason, harmless=True)
    [said] = with_page_hint([remark], [way])
    assert said.reason == f"{way.reason}; their own steps are at the end of the page"
    assert with_page_hint([remark], []) == [remark]
    assert "9 of 21 videos hardly say 'boil'" in way.reason
    assert len(way.videos) == 9
    assert [step.label for step in way.steps] == list(FRIED)
    assert {step.support for step in way.steps} == {9}


@pytest.mark.parametrize(("fried", "acts"), [(6, FRIED), (9, FRIED[:3])])
def test_too_few_videos_or_steps_give_no_script(
    fried: int, acts: tuple[str, ...], tmp_path: Path
) -> None:
    assert ways_of(fried, acts, tmp_path) == ()
