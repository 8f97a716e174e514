"""Invalid times are repaired and reported, and no word is lost."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.captions import cues, parse_captions
from howsteps.errors import InputError
from tests.captions.texts import problems, spans, subrip


def test_a_reversed_cue_keeps_its_words() -> None:
    text = subrip(
        ("00:00:05,000 --> 00:00:03,000", "loosen the nuts"),
        ("00:00:09,000 --> 00:00:10,000", "now"),
    )
    assert spans(text) == [(5.0, 6.0, "loosen the nuts"), (9.0, 10.0, "now")]
    assert problems(text) == [f"here.txt:2: {cues.REVERSED}"]


def test_negative_times_are_moved_to_zero() -> None:
    text = subrip(("-00:00:01,000 --> 00:00:02,000", "hello"))
    assert spans(text) == [(0.0, 2.0, "hello")]
    assert problems(text) == [f"here.txt:2: {cues.NEGATIVE}"]


def test_cues_out_of_order_are_sorted() -> None:
    text = subrip(
        ("00:00:05,000 --> 00:00:06,000", "second"),
        ("00:00:01,000 --> 00:00:02,000", "first"),
    )
    assert [span[2] for span in spans(text)] == ["first", "second"]
    assert problems(text) == [f"here.txt:6: {cues.BACKWARDS}"]


def test_overlap_is_no_problem() -> None:
    text = subrip(
        ("00:00:01,000 --> 00:00:06,000", "one"), ("00:00:02,000 --> 00:00:04,000", "two")
    )
    assert spans(text) == [(1.0, 6.0, "one"), (2.0, 4.0, "two")]
    assert problems(text) == []


def test_cues_without_times_are_placed_between_their_neighbours() -> None:
    text = subrip(
        ("00:00:01,000 --> 00:00:02,000", "one"),
        ("00:00:xx,000 --> 00:00:03,000", "two"),
        ("00:00:04,000 --> 00:00:05,000", "three"),
    )
    assert spans(text) == [(1.0, 2.0, "one"), (2.0, 2.5, "two"), (4.0, 5.0, "three")]
    assert problems(text) == [f"here.txt:6: {cues.NO_TIME}"]


@pytest.mark.parametrize("time", ["NaN", "Infinity", "-Infinity", "1e999", "1e300", "9" * 400])
def test_invalid_numbers(time: str) -> None:
    text = f'[[1, 2, "one"], [{time}, 3, "two"], [3, {time}, "three"]]'
    assert [span[2] for span in spans(text)] == ["one", "two", "three"]
    assert all(0 <= start <= end < 100 for start, end, _ in spans(text))
    assert problems(text)[0] == f"here.txt: entry 2: {cues.NO_TIME}"


def test_booleans_and_text_are_not_times() -> None:
    assert problems('[[true, 2, "one"], ["soon", 3, "two"]]') == [
        f"here.txt: entry 1: {cues.NO_TIME} (and 1 more like it)"
    ]


def test_issues_of_one_kind_are_reported_once() -> None:
    lines = [[5 - i % 2, 3, "word"] for i in range(1000)]
    found = problems(json.dumps(lines))
    assert found[0] == f"here.txt: entry 1: {cues.REVERSED} (and 999 more like it)"
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
