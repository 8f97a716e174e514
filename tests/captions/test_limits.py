"""Files of more cues, words or parts than captions can have: refused in one line, in any format."""

import json
import tracemalloc

import pytest

from howsteps.captions.cues import LONGEST_TEXT, MOST_CUES, MOST_PARTS, MOST_WORDS
from howsteps.errors import InputError
from tests.captions.texts import parse

N = MOST_CUES + 1
CUES = "more than 100,000 (cues|rows) cannot be captions"
WORDS = "more than 150,000 words cannot be captions"
SEGMENTS = {"start": 0, "end": 1, "text": "a"}

TOO_MANY_CUES = {
    "srv3": "<timedtext><body>" + '<p t="1">a</p>' * N + "</body></timedtext>",
    "srv1": "<transcript>" + '<text start="1">a</text>' * N + "</transcript>",
    "ttml": "<tt><body>" + '<p begin="1s">a</p>' * N + "</body></tt>",
    "json3": json.dumps({"events": [{"tStartMs": 1, "segs": [{"utf8": "a"}]}] * N}),
    "no events": json.dumps({"events": [1] * N}),
    "whisper": json.dumps({"segments": [SEGMENTS] * N}),
    "rows": json.dumps([[0, 1, "a"]] * N),
    "columns": json.dumps({"start": [0] * N, "end": [1] * N, "text": ["a"] * N}),
    "tsv": "0\t1\ta\n" * N,
    "csv": "0,1,a\n" * N,
}
MANY = MOST_WORDS + 1
TOO_MANY_WORDS = {
    "srv3": "<timedtext><p>" + '<s t="1">a</s>' * MANY + "</p></timedtext>",
    "ttml": "<tt><p>" + '<s begin="1s"/>' * MANY + "</p></tt>",
    "json3": json.dumps({"events": [{"tStartMs": 1, "segs": [{"utf8": ""}] * MANY}]}),
    "whisper": json.dumps({"segments": [{"start": 1, "words": [{"word": ""}] * MANY}]}),
    "in several cues": json.dumps(
        {"events": [{"tStartMs": 1, "segs": [{"utf8": "a"}, {"utf8": " b"}] * (MANY // 4)}] * 3}
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TOO_MANY_CUES)
def test_too_many_cues(name: str) -> None:
    with pytest.raises(InputError, match=CUES):
        parse(TOO_MANY_CUES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", TOO_MANY_WORDS)
def test_too_many_words(name: str) -> None:
    with pytest.raises(InputError, match=WORDS):
        parse(TOO_MANY_WORDS[name])


@pytest.mark.slow
def test_as_many_cues_as_there_may_be() -> None:
    rows = "start,end,text\n" + "".join(f"{n},{n + 1},a\n" for n in range(MOST_CUES))
    assert len(parse(rows).captions) == MOST_CUES


@pytest.mark.parametrize("part", ["[]", "{}"])
def test_too_many_values_of_json_are_refused_before_they_are_parsed(part: str) -> None:
    text = f"[{','.join([part] * MOST_PARTS)}]"
    with pytest.raises(InputError, match="500,001 lists and objects of JSON cannot be captions"):
        parse(text)


@pytest.mark.slow
def test_too_many_elements() -> None:
    with pytest.raises(InputError, match="more than 500,000 elements cannot be captions"):
        parse("<tt>" + "<a/>" * MOST_PARTS + "</tt>")


@pytest.mark.parametrize("attribute", ['a{}=""', 'xmlns:a{}="u"'])
def test_too_many_attributes(attribute: str) -> None:
    attributes = " ".join(attribute.format(n) for n in range(LONGEST_TEXT // 6))
    with pytest.raises(InputError, match="a tag of more than 262,144 characters"):
        parse(f'<tt {attributes}><p begin="1s">a</p></tt>')


def peak_memory(text: str) -> int:
    """The peak memory of reading or refusing a text, in bytes."""
    tracemalloc.start()
    try:
        parse(text)
    except InputError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


def test_xml_is_not_in_memory_as_a_whole() -> None:
    parse('<tt><p begin="1s">a</p></tt>')  # what is loaded once does not count
    elements = "<tt>" + "<a/>" * 60_000 + '<p begin="1s">a</p></tt>'
    assert peak_memory(elements) < 30 * len(elements)


def test_unused_attributes_are_not_kept() -> None:
    attributes = " ".join(f'a{n}="{n}"' for n in range(2000))
    text = '<tt><p begin="1s">a' + f"<s {attributes}/>" * 30 + "</p></tt>"
    assert peak_memory(text) < 7 * len(text)


def test_cells_of_a_table_that_are_not_used_are_not_kept() -> None:
    text = "start,text,other\n" + ("1,a" + ",bc" * 20_000 + "\n") * 10
    assert peak_memory(text) < 12 * len(text)


def test_parts_of_a_long_word_are_joined() -> None:
    parts = [{"utf8": "ab"}] * 1000
    text = json.dumps({"events": [{"tStartMs": 0, "dDurationMs": 9, "segs": parts}]})
    [caption] = parse(text).captions
    assert [word.text for word in caption.words] == ["ab" * 1000]
