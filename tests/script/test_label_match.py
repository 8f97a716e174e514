"""Labels matched against mentions."""

from howsteps.script.label_match import match_labels
from howsteps.task import Mention, Place


def act(verb: str, noun: str, particle: str = "", **more: object) -> Mention:
    return Mention("", verb, noun, f"{verb} {noun}", 0.0, 1.0, particle=particle, **more)


def matched(
    labels: list[Mention], mentions: list[Mention], positions: list[float]
) -> list[list[int]]:
    return match_labels([[label] for label in labels], [True] * len(labels), mentions, positions)


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
    others = [act("add", "cap"), act("put", "cap", "on"), act("leave", "cap"), act("keep", "cap")]
    assert matched([label], [act("take", "cap", "off"), *others], [0.5] * 5) == [[0]]
    assert matched([act("leave", "cap")], [act("leave", "cap"), label], [0.5] * 2) == [[0]]


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
    assert match_labels(steps, [False, True], mentions, [0.5, 0.5]) == [[], [1]]


def test_no_mentions_and_labels_without_a_verb_match_nothing() -> None:
    assert match_labels([[]], [True], [act("wash", "cat")], [0.5]) == [[]]
    assert match_labels([[act("wash", "cat")]], [True], [], []) == [[]]
    assert match_labels([], [], [act("wash", "cat")], [0.5]) == []
