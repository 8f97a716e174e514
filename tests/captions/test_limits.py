"""Files of more cues or parts than captions can have: refused in one line, in any format."""

import json
import tracemalloc

import pytest

from howsteps.captions.cues import MOST_CUES
from howsteps.captions.reading import MOST_PARTS
from howsteps.errors import InputError
from tests.captions.texts import parse

N = MOST_CUES + 1
TOO_MANY_CUES = {
    "srv3": "<timedtext><body>" + '<p t="1">a</p>' * N + "</body></timedtext>",
    "ttml": "<tt><body>" + '<p begin="1s">a</p>' * N + "</body></tt>",
    "json3": json.dumps({"events": [{"tStartMs": 1, "segs": [{"utf8": "a"}]}] * N}),
    "no events": json.dumps({"events": [1] * N}),
    "whisper": json.dumps({"segments": [{"start": 0, "end": 1, "text": "a"}] * N}),
    "rows": json.dumps([[0, 1, "a"]] * N),
    "columns": json.dumps({"start": [0] * N, "end": [1] * N, "text": ["a"] * N}),
    "srt": "0:00 --> 0:01\na\n" * N,
    "tsv": "0\t1\ta\n" * N,
}
WORD = '{"utf8": "a"}'
TOO_MANY_PARTS = {
    "lists": (f"[{'[],' * MOST_PARTS}0]", "500,001 lists and objects of JSON"),
    "words": (f'{{"events": [{{"segs": [{WORD}{f", {WORD}" * MOST_PARTS}]}}]}}', "500,005 lists"),
    "elements": (f"<tt>{'<a></a>' * MOST_PARTS}</tt>", "500,001 elements of XML"),
    "tags": ("WEBVTT\n\n0:01 --> 0:02\n" + "<0:01>" * (MOST_PARTS + 1), "500,001 tags"),
    "lines": ("WEBVTT" + "\n" * (MOST_PARTS + 1), "500,001 lines"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TOO_MANY_CUES)
def test_too_many_cues(name: str) -> None:
    with pytest.raises(InputError, match="more than 100,000 cues cannot be captions"):
        parse(TOO_MANY_CUES[name])


@pytest.mark.slow
def test_as_many_cues_as_there_may_be() -> None:
    rows = "start,end,text\n" + "".join(f"{n},{n + 1},a\n" for n in range(MOST_CUES))
    assert len(parse(rows).captions) == MOST_CUES


@pytest.mark.parametrize("name", TOO_MANY_PARTS)
def test_too_many_parts_are_refused_before_they_are_parsed(name: str) -> None:
    text, reason = TOO_MANY_PARTS[name]
    assert peak_memory(text) < 5 * len(text)
    with pytest.raises(InputError, match=f"{reason}.* cannot be captions"):
        parse(text)


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
