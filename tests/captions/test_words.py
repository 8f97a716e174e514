"""Conversion of captions to words: spoken text only, each word once, with a time."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.captions.words import words_of
from howsteps.task import Caption, Word

TIMES = st.floats(0, 100)


@st.composite
def captions(draw: st.DrawFn) -> Caption:
    start, end = draw(TIMES), draw(TIMES)
    lines = draw(st.lists(st.lists(st.sampled_from(["no", "go", "so"]), max_size=4), max_size=3))
    text = "\n".join(" ".join(line) for line in lines)
    words = tuple(Word(word, draw(TIMES), draw(TIMES)) for word in text.split())
    return Caption(start, max(start, end), text, words if draw(st.booleans()) else ())


def test_time_is_distributed_by_length() -> None:
    assert words_of([Caption(0.0, 12.0, "a bcd efghi")]) == [
        Word("a", 0.0, 2.0),
        Word("bcd", 2.0, 6.0),
        Word("efghi", 6.0, 12.0),
    ]


def test_a_line_ends_where_the_next_one_starts() -> None:
    words = words_of([Caption(0.0, 9.0, "one two"), Caption(4.0, 12.0, "six ten")])
    assert [(word.start, word.end) for word in words] == [(0, 2), (2, 4), (4, 8), (8, 12)]


def test_lines_that_start_together_share_their_time() -> None:
    words = words_of([Caption(0.0, 8.0, "one two"), Caption(0.0, 8.0, "six ten")])
    assert [(word.text, word.start) for word in words] == [
        ("one", 0.0),
        ("two", 2.0),
        ("six", 4.0),
        ("ten", 6.0),
    ]


def test_given_times_are_kept() -> None:
    words = (Word("one", 1.0, 2.0), Word("two", 2.5, 3.0))
    assert words_of([Caption(1.0, 3.0, "one two", words)]) == list(words)


def test_words_before_the_timed_ones_get_the_time_before() -> None:
    line = Caption(0.0, 4.0, "one two\nsix", (Word("six", 2.0, 3.0),))
    assert words_of([line]) == [Word("one", 0.0, 1.0), Word("two", 1.0, 2.0), Word("six", 2.0, 3.0)]


def test_words_take_precedence_over_a_different_line() -> None:
    line = Caption(0.0, 2.0, "one too", (Word("one", 0.0, 1.0), Word("two", 1.0, 2.0)))
    assert [word.text for word in words_of([line])] == ["one", "two"]


def test_sound_tags_have_their_share_of_the_time() -> None:
    (word,) = words_of([Caption(0.0, 12.0, "[Music] now")])
    assert word == Word("now", 8.0, 12.0)


def test_rolling_lines_with_tags_and_sounds() -> None:
    words = words_of(
        [
            Caption(0.0, 2.0, " \n[Music]"),
            Caption(2.0, 2.01, "[Music]\n "),
            Caption(2.01, 4.0, "[Music]\n<i>jack &amp; lift</i>"),
            Caption(4.0, 4.01, "jack &amp; lift\n "),
        ]
    )
    assert [word.text for word in words] == ["jack", "&", "lift"]


def test_no_words() -> None:
    assert words_of([]) == []
    assert words_of([Caption(0.0, 1.0, " \n"), Caption(1.0, 2.0, "[Music]")]) == []


@given(st.lists(captions(), max_size=6))
def test_times_are_in_order(lines: list[Caption]) -> None:
    words = words_of(lines)
    assert all(0 <= word.start <= word.end for word in words)
    assert all(first.end <= second.start for first, second in pairwise(words))


@given(st.lists(st.sampled_from(["no", "go on", "stop it now"]), min_size=1, max_size=8))
def test_every_word_of_separate_lines_is_kept(texts: list[str]) -> None:
    lines = [Caption(2.0 * i, 2.0 * i + 1.0, text) for i, text in enumerate(texts)]
    words = words_of(lines)
    assert [word.text for word in words] == " ".join(texts).split()
    assert words[-1].end == pytest.approx(lines[-1].end)
