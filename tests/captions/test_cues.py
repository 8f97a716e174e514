"""Decoding, times of words, and the repair of cues."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.captions import cues, parse_captions
from howsteps.captions.cues import decode, spread_words
from howsteps.errors import InputError
from tests.captions.texts import problems, spans, subrip

TEXT = "1\n00:00:01,000 --> 00:00:02,000\nsauté the jalapeño\n"


def test_windows_1252_is_detected() -> None:
    assert decode(TEXT.encode("cp1252")) == (TEXT, [])


def test_utf8_with_an_invalid_byte_stays_utf8() -> None:
    data = "crème\nbrûlée\nd'été\n".encode() + b"caf\xe9\n"
    text, (remark,) = decode(data)
    assert text == "crème\nbrûlée\nd'été\ncaf\ufffd\n"
    assert remark.line == 4


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends_are_normalised(end: str) -> None:
    assert decode(TEXT.replace("\n", end).encode())[0] == TEXT


@pytest.mark.parametrize("data", [b"", b" \n\n ", b"\xef\xbb\xbf", b"\xff\xfe\n\x00"])
def test_empty_files(data: bytes) -> None:
    with pytest.raises(InputError, match="empty"):
        decode(data)


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 1000,
        bytes(range(256)) * 10,
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x01\x00\x08\x06",
        b"\x1aE\xdf\xa3\x01\x00\x00\x00\x00\x00\x00\x1fB\x86\x81\x01B\xf7\x81\x01",
    ],
)
def test_binary_files(data: bytes) -> None:
    with pytest.raises(InputError, match="binary"):
        decode(data)


@given(st.binary(max_size=300))
def test_any_bytes_are_decoded_or_refused(data: bytes) -> None:
    try:
        text, _ = decode(data)
    except InputError:
        return
    assert text.strip()
    assert "\0" not in text
    assert "\r" not in text
    text.encode("utf-8")


TIMES = st.floats(0, 1e5)


@given(st.lists(st.text(min_size=1, max_size=9), min_size=1, max_size=9), TIMES, TIMES)
def test_words_fill_the_line(texts: list[str], one: float, other: float) -> None:
    start, end = sorted((one, other))
    words = spread_words(texts, start, end)
    assert [word.text for word in words] == texts
    assert (words[0].start, words[-1].end) == (start, end)
    assert all(a.end == b.start for a, b in pairwise(words))
    total = sum(len(text) + 1 for text in texts)
    for word in words:
        share = (end - start) * (len(word.text) + 1) / total
        assert word.end - word.start == pytest.approx(share, abs=1e-6)


@pytest.mark.parametrize(
    ("cues_written", "read", "problem"),
    [
        (
            [("00:05,0 --> 00:03,0", "loosen the nuts"), ("00:09,0 --> 00:10,0", "now")],
            [(5.0, 6.0, "loosen the nuts"), (9.0, 10.0, "now")],
            f"2: {cues.IMPOSSIBLE}",
        ),
        ([("-00:01,0 --> 00:02,0", "hello")], [(0.0, 2.0, "hello")], f"2: {cues.IMPOSSIBLE}"),
        (
            [("00:05,0 --> 00:06,0", "second"), ("00:01,0 --> 00:02,0", "first")],
            [(1.0, 2.0, "first"), (5.0, 6.0, "second")],
            f"6: {cues.BACKWARDS}",
        ),
        (
            [
                *(("00:01,0 --> 00:02,0", "one"), ("00:xx,0 --> 00:03,0", "two")),
                ("00:04,0 --> 00:05,0", "three"),
            ],
            [(1.0, 2.0, "one"), (1.0, 2.0, "two"), (4.0, 5.0, "three")],
            f"6: {cues.IMPOSSIBLE}",
        ),
    ],
    ids=["reversed", "negative", "out of order", "without times"],
)
def test_a_cue_with_impossible_times_keeps_its_words(
    cues_written: list, read: list, problem: str
) -> None:
    text = subrip(*cues_written)
    assert spans(text) == read
    assert problems(text) == [f"here.txt:{problem}"]


@pytest.mark.parametrize("time", ["NaN", "Infinity", "-Infinity", "1e999", "1e300", "9" * 400])
def test_invalid_numbers(time: str) -> None:
    text = f'[[1, 2, "one"], [{time}, 3, "two"], [3, {time}, "three"]]'
    assert [span[2] for span in spans(text)] == ["one", "two", "three"]
    assert all(0 <= start <= end < 100 for start, end, _ in spans(text))
    assert problems(text)[0] == f"here.txt: entry 2: {cues.IMPOSSIBLE}"


def test_issues_of_one_kind_are_reported_once() -> None:
    lines = [[5 - i % 2, 3, "word"] for i in range(1000)]
    found = problems(json.dumps(lines))
    assert found[0] == f"here.txt: entry 1: {cues.IMPOSSIBLE} (and 999 more like it)"
    assert len(found) == 2


@given(
    st.lists(
        st.tuples(
            st.floats() | st.integers() | st.none() | st.booleans() | st.text(max_size=8),
            st.floats() | st.integers() | st.none(),
            st.text(max_size=20),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_any_list_gives_valid_times_and_keeps_all_text(lines: list) -> None:
    wanted = sorted(text.split() for *_, text in lines if text.strip())
    try:
        reading = parse_captions(json.dumps(lines).encode(), "here")
    except InputError:
        assert not wanted
        return
    starts = [line.start for line in reading.captions]
    assert starts == sorted(starts)
    assert all(0 <= line.start <= line.end < 2e6 for line in reading.captions)
    assert len(reading.captions) == sum(bool(text.strip()) for *_, text in lines)
