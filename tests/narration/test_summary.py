"""The relations that several narrators mention."""

from howsteps.narration.relations import common_relations
from howsteps.task import Mention, Relation, Sentence, Task, Video, Word


def mention(video: str, verb: str, noun: str, phrase: str = "", **other: object) -> Mention:
    return Mention(video, verb, noun, phrase or f"{verb} the {noun}", 1.0, 2.0, **other)  # type: ignore[arg-type]


TASK = Task(
    "fix",
    (
        Video(
            "a",
            sentences=(Sentence((Word("hi", 0.0, 0.12345),)),),
            mentions=(
                mention("a", "remove", "nut", "remove those nuts"),
                mention("a", "remove", "nut"),
                mention("a", "take", "look"),
            ),
        ),
        Video("b", mentions=(mention("b", "remove", "nut"),)),
        Video("c", mentions=(mention("c", "remove", "nut", negated=True),)),
    ),
)


def test_relations_are_sorted_by_their_number_of_videos() -> None:
    first, second = common_relations(TASK)
    assert (first.relation, first.videos, first.mentions) == (Relation("remove", "nut"), 2, 3)
    assert (second.relation, second.videos) == (Relation("take", "look"), 1)


def test_the_usual_phrase_is_the_most_frequent_one() -> None:
    assert common_relations(TASK)[0].phrase == "remove the nut"


def test_the_example_is_an_explicit_active_mention_if_possible() -> None:
    resolved = mention("a", "put", "tire", resolved=True)
    plain = mention("b", "put", "tire")
    task = Task("t", (Video("a", mentions=(resolved,)), Video("b", mentions=(plain,))))
    assert common_relations(task)[0].example == plain
