"""SubRip and WebVTT as people and programs write them."""

import pytest

from howsteps.captions import cues
from tests.captions.texts import problems, spans, subrip, timed_words

ONE, TWO = "00:00:01,000 --> 00:00:02,000", "00:00:02,000 --> 00:00:03,000"
BOTH = [(1.0, 2.0, "one"), (2.0, 3.0, "two")]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (
            f"1\n{ONE}\none\n2\n{TWO}\ntwo\n00:00:03.5 -> 00:00:04.5\nthree\n",
            [*BOTH, (3.5, 4.5, "three")],
        ),
        (f"\n1\n\n{ONE}\none\n\n\n2\n\n{TWO}\ntwo\n", BOTH),
        (subrip((ONE, "count:\n1"), (TWO, "2\n3")), [(1.0, 2.0, "count:\n1"), (2.0, 3.0, "2\n3")]),
        (f"1\n{ONE}\none\n\ntwo\n", [(1.0, 2.0, "one\ntwo")]),
        (f"made by me\n\n1\n{ONE}\none\n", [(1.0, 2.0, "one")]),
        (f"1\n{ONE}\nleft --> right\n", [(1.0, 2.0, "left --> right")]),
        ("WEBVTT\n00:01.000 --> 00:02.000\none\n00:02.000 --> 00:03.000\ntwo\n", BOTH),
        (
            "WEBVTT - a title\nKind: captions\n\nSTYLE\n::cue { color: red }\n\nNOTE\nby me\n\n"
            "intro\n00:01.000 --> 00:02.000 line:90%\none\n\nNOTE two\n\n"
            "2\n01:00:03.000 --> 01:00:04.000\ntwo\n",
            [(1.0, 2.0, "one"), (3603.0, 3604.0, "two")],
        ),
    ],
    ids=[
        *("no blank lines or numbers", "extra blank lines", "spoken numbers", "a blank line"),
        "a note above",
        *("an arrow in the text", "no blank lines in WebVTT", "what is not speech"),
    ],
)
def test_unusual_files_are_read_without_a_problem(text: str, read: list) -> None:
    assert spans(text) == read
    assert problems(text) == []


def test_an_unreadable_time_is_reported_by_line() -> None:
    text = subrip((ONE, "one"), ("?? --> 00:02,0", "two"), (TWO, "three"))
    assert [span[2] for span in spans(text)] == ["one", "two", "three"]
    assert problems(text) == [f"here.txt:6: {cues.IMPOSSIBLE}"]


def test_word_times_belong_to_the_last_line() -> None:
    text = (
        "WEBVTT\n\n00:02.000 --> 00:04.000\ntake off\n"
        "the<00:00:02.500><c.colorE5E5E5> hub</c><00:00:03.000><c>cap</c>\n"
    )
    assert spans(text) == [(2.0, 4.0, "take off\nthe hubcap")]
    assert timed_words(text) == [("the", 2.0, 2.5), ("hubcap", 2.5, 4.0)]
