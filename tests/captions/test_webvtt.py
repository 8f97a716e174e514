"""WebVTT: what is no speech, and the word times of YouTube."""

from tests.captions.told import parse, problems, spans


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
