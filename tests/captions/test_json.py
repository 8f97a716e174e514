"""JSON of Whisper, YouTube and other tools."""

import json

import pytest

from howsteps.errors import InputError
from tests.captions.texts import parse, problems, spans


def test_words_of_whisperx_without_times_are_interpolated() -> None:
    words = [
        {"word": "use", "start": 0.0, "end": 0.5},
        {"word": "20"},
        {"word": "nuts", "start": 1.0, "end": 2.0},
    ]
    text = json.dumps({"segments": [{"start": 0.0, "end": 2.0, "words": words}]})
    (line,) = parse(text).captions
    assert [(w.text, w.start, w.end) for w in line.words] == [
        ("use", 0.0, 0.5),
        ("20", 0.5, 1.0),
        ("nuts", 1.0, 2.0),
    ]


def test_parts_of_a_word_are_joined() -> None:
    words = [
        {"word": " take", "start": 0.0, "end": 0.5},
        {"word": "-off", "start": 0.5, "end": 1.0},
    ]
    text = json.dumps({"segments": [{"start": 0.0, "end": 1.0, "words": words}]})
    (line,) = parse(text).captions
    assert [(w.text, w.start, w.end) for w in line.words] == [("take-off", 0.0, 1.0)]


def test_rows_as_objects() -> None:
    text = '[{"from": "0:01", "to": "0:02,5", "caption": "one"}, {"begin": 3, "line": "two"}]'
    assert spans(text) == [(1.0, 2.5, "one"), (3.0, 3.5, "two")]


def test_an_invalid_row() -> None:
    assert problems('[[1, 2, "one"], 7, {"start": 2, "text": "two"}]') == [
        "here.txt: entry 2: is not a timed row; left out"
    ]
    assert problems('{"events": [3, {"tStartMs": 1, "segs": [{"utf8": "a"}]}]}') == [
        "here.txt: entry 1: is not an event; left out"
    ]
    assert problems('{"segments": [3, {"start": 1, "end": 2, "text": "a"}]}') == [
        "here.txt: entry 1: is not a segment; left out"
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"events": [{"tStartMs": 0, "segs": [{"utf8": None}, {"utf8": "lift it"}]}]},
        {"segments": [{"start": 0, "end": 1, "words": [{"word": None}, {"word": "lift it"}]}]},
    ],
)
def test_null_texts(value: object) -> None:
    [line] = parse(json.dumps(value)).captions
    assert line.text.split() == ["lift", "it"]


def test_lone_surrogates_are_replaced() -> None:
    assert spans(r'[[1, 2, "a \ud800 b"]]') == [(1.0, 2.0, "a \ufffd b")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[[1, 2, "a"],\n[2, 3', r"here\.txt:2: the JSON is broken here"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a": ' * 200_000, "nested too deeply"),
        ("[" + "9" * 5000 + "]", "a number of thousands of digits"),
        ("[]", "is JSON, but not captions"),
        ('{"a": 1}', "is JSON, but not captions"),
        ('{"events": []}', "is YouTube json3, but contains no captions"),
    ],
)
def test_unusable_json(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        parse(text)
