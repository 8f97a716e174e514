"""JSON of Whisper, YouTube and other tools."""

import json

import pytest

from howsteps.errors import InputError
from tests.captions.texts import parse, problems, spans


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (  # WhisperX gives numbers no times: they are interpolated
            [("use", 0.0, 0.5), ("20",), ("nuts", 1.0, 2.0)],
            [("use", 0.0, 0.5), ("20", 0.5, 1.0), ("nuts", 1.0, 2.0)],
        ),
        ([(" take", 0.0, 0.5), ("-off", 0.5, 2.0)], [("take-off", 0.0, 2.0)]),  # parts of a word
    ],
)
def test_words_of_whisper(words: list, read: list) -> None:
    entries = [dict(zip(("word", "start", "end"), word, strict=False)) for word in words]
    text = json.dumps({"segments": [{"start": 0.0, "end": 2.0, "words": entries}]})
    (line,) = parse(text).captions
    assert [(w.text, w.start, w.end) for w in line.words] == read


def test_rows_as_objects() -> None:
    text = '[{"start": "0:01", "end": "0:02,5", "text": "one"}, {"start": 3, "text": "two"}]'
    assert spans(text) == [(1.0, 2.5, "one"), (3.0, 3.5, "two")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[[1, 2, "one"], 7, {"start": 2, "text": "two"}]', "2: is not a timed row"),
        ('{"events": [3, {"tStartMs": 1, "segs": [{"utf8": "a"}]}]}', "1: is not an event"),
        ('{"segments": [3, {"start": 1, "end": 2, "text": "a"}]}', "1: is not a segment"),
    ],
)
def test_an_invalid_row(text: str, problem: str) -> None:
    assert problems(text) == [f"here.txt: entry {problem}; left out"]


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
        ("[" + "9" * 5000 + "]", "an endless number"),
        ("[]", "is JSON, but not captions"),
        ('{"a": 1}', "is JSON, but not captions"),
        ('{"events": []}', "is YouTube json3, but contains no captions"),
    ],
)
def test_unusable_json(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        parse(text)
