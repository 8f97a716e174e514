"""Known steps matched with mentions: labels, learnt steps, near-mentions."""

import numpy as np

from howsteps.script.matching import (
    MIN_NEAR_PROBABILITY,
    NEAR_WEIGHT,
    find_known_steps,
    match_labels,
    near_mentions,
    spoken_by_video,
)
from howsteps.task import Mention, Place, Script, Step, Task, Video
from tests.script.spoken import task


def act(verb: str, noun: str, particle: str = "", **more: object) -> Mention:
    return Mention("", verb, noun, f"{verb} {noun}", 0.0, 1.0, particle=particle, **more)


def matched(
    labels: list[Mention], mentions: list[Mention], positions: list[float]
) -> list[list[int]]:
    steps = [[label] for label in labels]
    return match_labels(steps, [True] * len(labels), mentions, np.array(positions))


def test_equal_words_and_synonyms_match_and_opposites_do_not() -> None:
    labels = [act("raise", "car"), act("lower", "car")]
    mentions = [
        act("raise", "car"),
        act("lower", "car"),
        act("lift", "vehicle"),
        act("bake", "pie"),
    ]
    assert matched(labels, mentions, [0.3, 0.8, 0.3, 0.5]) == [[0, 2], [1]]


def test_an_opposite_verb_never_matches_even_without_a_competing_step() -> None:
    label = act("remove", "cap")
    others = [act("add", "cap"), act("put", "cap", "on")]
    assert matched([label], [act("take", "cap", "off"), *others], [0.5] * 3) == [[0]]


def test_a_tool_of_the_label_may_be_the_object_of_the_mention() -> None:
    label = act("lift", "car", tools=("jack",))
    assert matched([label], [act("use", "jack"), act("use", "phone")], [0.5, 0.5]) == [[0]]


def test_a_place_stands_for_an_object() -> None:
    label = act("wrap", "", places=(Place("around", "wrist"),))
    said = act("go", "", places=(Place("around", "wrist"),))
    assert matched([label], [said, act("go", "home")], [0.5, 0.5]) == [[0]]


def test_of_two_equal_steps_each_gets_the_mention_at_its_position() -> None:
    labels = [act("flip", "steak"), act("rest", "meat"), act("flip", "steak")]
    mentions = [act("flip", "steak")] * 2
    assert matched(labels, mentions, [0.1, 0.9]) == [[0], [], [1]]


def test_talk_needs_more_than_work() -> None:
    label, alike = act("mix", "batter"), act("stir", "mixture")
    assert matched([label], [alike], [0.5]) == [[0]]
    assert matched([label], [act("stir", "mixture", work=0.0)], [1.0]) == [[]]


def test_steps_that_have_their_mentions_only_compete() -> None:
    steps = [[act("wash", "cat")], [act("wash", "dog")]]
    mentions = [act("wash", "cat"), act("wash", "dog")]
    assert match_labels(steps, [False, True], mentions, np.array([0.5, 0.5])) == [[], [1]]


def test_no_mentions_and_labels_without_a_verb_match_nothing() -> None:
    assert match_labels([[]], [True], [act("wash", "cat")], np.array([0.5])) == [[]]
    assert match_labels([[act("wash", "cat")]], [True], [], np.zeros(0)) == [[]]
    assert match_labels([], [], [act("wash", "cat")], np.array([0.5])) == []


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


def test_the_same_thing_is_not_the_same_act() -> None:
    stick = [act("insert", "stick", places=(Place("in", "apple"),)), act("stick", "apple")]
    video = narration(("dry", "apple", 20), ("insert", "stick", 40), ("cut", "apple", 60))
    [found] = find_known_steps([stick], Task("", (video,)))
    assert [m.start for m in found] == [40]


def test_a_mention_out_of_order_is_dropped() -> None:
    again = narration(
        ("fill", "tub", 10), ("fill", "tub", 20), ("wash", "cat", 70), ("fill", "tub", 95)
    )
    assert starts(again) == [[10, 20], [70], []]


def test_videos_do_not_change_each_other() -> None:
    one, two = narration(("fill", "tub", 10)), narration(("wash", "cat", 50), video="bob")
    assert starts(one, two, Video("mute")) == [[10], [50], []]


def script_of(job, *acts):
    """Steps of the given (verb, noun), with their mentions in the first video that has them."""
    steps = []
    for verb, noun in acts:
        found = [m for v in job.videos for m in v.mentions if (m.verb, m.noun) == (verb, noun)]
        steps.append(Step(f"{verb} {noun}", tuple(m for m in found if m.video == found[0].video)))
    return Script(tuple(steps))


def test_the_same_act_in_another_video_is_a_near_mention():
    job = task("fill tub; wash cat; dry cat", "fill tub; dry cat", "wash cat; dry cat")
    script = script_of(job, ("fill", "tub"), ("dry", "cat"))
    found = {(near.mention.video, near.step): near.weight for near in near_mentions(job, script)}
    assert found["v1", 0] == found["v1", 1] == found["v2", 1] == NEAR_WEIGHT
    assert ("v0", 0) not in found  # the script has that one


def test_an_act_of_another_step_is_not_a_near_mention():
    job = task(*["fill tub; rinse cat; open door"] * 3)
    found = near_mentions(job, script_of(job, ("fill", "tub")))
    assert "door" not in {near.mention.noun for near in found}
    assert all(MIN_NEAR_PROBABILITY <= near.weight <= NEAR_WEIGHT for near in found)


def test_steps_that_nobody_names_have_no_near_mention():
    job = task("fill tub; dry cat", "fill tub; dry cat")
    assert near_mentions(job, Script((Step("fill tub", ()),))) == []


def test_rows_are_sorted_by_time_and_weighted_by_work():
    job = task("fill tub; dry cat", "dry cat")
    mentions = [m for video in job.videos for m in video.mentions]
    first, second = spoken_by_video(job, [(mentions[1], 1, 0.5), (mentions[0], 0, 1.0)])
    assert first.tolist() == [[0.0, 2.0, 0.0, 1.0], [10.0, 12.0, 1.0, 0.5]]
    assert second.shape == (0, 4)
