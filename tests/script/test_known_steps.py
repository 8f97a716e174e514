"""Known steps in new narrations."""

from howsteps.script.known_steps import find_known_steps
from howsteps.task import Mention, Task, Video

FILL, WASH = (Mention("", "fill", "tub", "", 0, 0),), (Mention("", "wash", "cat", "", 0, 0),)


def narration(*acts: tuple[str, str, float], video: str = "ann") -> Video:
    mentions = tuple(Mention(video, v, n, f"{v} the {n}", at, at + 2.0) for v, n, at in acts)
    return Video(video, duration=100.0, mentions=mentions)


def starts(*videos: Video) -> list[list[float]]:
    return [
        [m.start for m in step] for step in find_known_steps([FILL, WASH, ()], Task("", videos))
    ]


def test_steps_find_their_mentions_and_one_without_acts_has_none() -> None:
    found = starts(narration(("fill", "tub", 10), ("paint", "fence", 40), ("wash", "cat", 70)))
    assert found == [[10], [70], []]


def test_a_mention_out_of_order_is_dropped() -> None:
    again = narration(
        ("fill", "tub", 10), ("fill", "tub", 20), ("wash", "cat", 70), ("fill", "tub", 95)
    )
    assert starts(again) == [[10, 20], [70], []]


def test_videos_do_not_change_each_other() -> None:
    one, two = narration(("fill", "tub", 10)), narration(("wash", "cat", 50), video="bob")
    assert starts(one, two, Video("mute")) == [[10], [50], []]
