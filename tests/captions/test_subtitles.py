"""SubRip and WebVTT as people and programs write them."""

from howsteps.captions import cues
from tests.captions.texts import parse, problems, spans, subrip


def test_missing_blank_lines_and_numbers() -> None:
    text = (
        "1\n00:00:01,000 --> 00:00:02,000\none\n2\n00:00:02,000 --> 00:00:03,000\ntwo\n"
        "00:00:03.5 -> 00:00:04.5\nthree\n"
    )
    assert spans(text) == [(1.0, 2.0, "one"), (2.0, 3.0, "two"), (3.5, 4.5, "three")]


def test_extra_blank_lines() -> None:
    text = (
        "\n1\n\n00:00:01,000 --> 00:00:02,000\none\n\n\n2\n\n00:00:02,000 --> 00:00:03,000\ntwo\n"
    )
    assert spans(text) == [(1.0, 2.0, "one"), (2.0, 3.0, "two")]
    assert problems(text) == []


def test_spoken_numbers() -> None:
    text = subrip(
        ("00:00:01,000 --> 00:00:02,000", "count:\n1"),
        ("00:00:02,000 --> 00:00:03,000", "2\n3"),
    )
    assert [span[2] for span in spans(text)] == ["count:\n1", "2\n3"]


def test_a_blank_line_inside_a_cue() -> None:
    assert spans("1\n00:00:01,000 --> 00:00:02,000\none\n\ntwo\n") == [(1.0, 2.0, "one\ntwo")]


def test_a_cue_with_broken_times_among_good_ones() -> None:
    text = subrip(
        ("00:00:01,000 --> 00:00:02,000", "one"),
        ("?? --> ??", "two"),
        ("00:00:04,000 --> 00:00:05,000", "three"),
    )
    assert [span[2] for span in spans(text)] == ["one", "two", "three"]
    assert problems(text) == [f"here.txt:6: {cues.NO_TIME}"]


def test_text_before_the_first_times() -> None:
    text = "made by me\n\n1\n00:00:01,000 --> 00:00:02,000\none\n"
    assert spans(text) == [(1.0, 2.0, "one")]
    assert problems(text) == ["here.txt:1: text before the first times was left out"]


def test_an_arrow_in_the_text() -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\nleft --> right\n"
    assert spans(text) == [(1.0, 2.0, "left --> right")]


def test_headings_notes_styles_and_labels_are_not_speech() -> None:
    text = (
        "WEBVTT - a title\nKind: captions\n\nSTYLE\n::cue { color: red }\n\nNOTE\nby me\n\n"
        "intro\n00:01.000 --> 00:02.000 line:90%\none\n\nNOTE two\n\n"
        "2\n01:00:03.000 --> 01:00:04.000\ntwo\n"
    )
    assert spans(text) == [(1.0, 2.0, "one"), (3603.0, 3604.0, "two")]
    assert problems(text) == []


def test_missing_blank_lines() -> None:
    text = "WEBVTT\n00:01.000 --> 00:02.000\none\n00:02.000 --> 00:03.000\ntwo\n"
    assert spans(text) == [(1.0, 2.0, "one"), (2.0, 3.0, "two")]


def test_text_without_times() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\ntake off\n\nlost words\n"
    assert problems(text) == ["here.txt:6: text without times was left out"]


def test_word_times_belong_to_the_last_line() -> None:
    text = (
        "WEBVTT\n\n00:02.000 --> 00:04.000\ntake off\n"
        "the<00:00:02.500><c.colorE5E5E5> hub</c><00:00:03.000><c>cap</c>\n"
    )
    (line,) = parse(text).captions
    assert line.text == "take off\nthe hubcap"
    assert [(w.text, w.start, w.end) for w in line.words] == [
        ("the", 2.0, 2.5),
        ("hubcap", 2.5, 4.0),
    ]
