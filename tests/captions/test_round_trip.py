"""Captions written in each format are read back: every word once, in order, with its time."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.captions import parse_captions
from howsteps.captions.words import words_of
from howsteps.task import Word
from tests.captions.writers import (
    LINE_FORMATS,
    WORD_FORMATS,
    Narration,
    narrations,
    overlapping,
    rolling_webvtt,
    spoken_texts,
    subrip,
    webvtt,
)

ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "cp1252"]


def read_words(written: str, encoding: str = "utf-8", expected: str | None = None) -> list[Word]:
    reading = parse_captions(written.encode(encoding), "captions")
    assert reading.problems == ()
    assert expected is None or reading.format == expected
    words = words_of(reading.captions)
    assert all(0 <= word.start <= word.end for word in words)
    assert all(first.end <= second.start for first, second in pairwise(words))
    return words


def texts(words: list[Word]) -> list[str]:
    return [word.text for word in words]


@pytest.mark.slow
@pytest.mark.parametrize("name", LINE_FORMATS)
@given(narration=narrations(), encoding=st.sampled_from(ENCODINGS))
def test_formats_that_time_lines(name: str, narration: Narration, encoding: str) -> None:
    expected, write = LINE_FORMATS[name]
    words = read_words(write(narration), encoding, expected)
    assert texts(words) == spoken_texts(narration)
    remaining = iter(words)
    for line in narration:
        line_words = [next(remaining) for _ in line]
        assert line_words[0].start == pytest.approx(line[0].start / 1000, abs=1e-6)
        assert line_words[-1].end == pytest.approx(line[-1].end / 1000, abs=1e-6)


@pytest.mark.parametrize("name", WORD_FORMATS)
@given(narration=narrations(), encoding=st.sampled_from(ENCODINGS))
def test_formats_that_time_words(name: str, narration: Narration, encoding: str) -> None:
    expected, write = WORD_FORMATS[name]
    assert_same_times(read_words(write(narration), encoding, expected), narration)


@given(narration=narrations(), flashes=st.booleans(), window=st.integers(2, 3))
def test_rolling_lines_with_word_times(narration: Narration, flashes: bool, window: int) -> None:
    words = read_words(rolling_webvtt(narration, tags=True, flashes=flashes, window=window))
    # A flash takes the last ten milliseconds of the line before it.
    assert_same_times(words, narration, tolerance=0.0101 if flashes else 1e-6)


@given(narration=narrations(), flashes=st.booleans(), window=st.integers(2, 3))
def test_rolling_lines_without_word_times(narration: Narration, flashes: bool, window: int) -> None:
    written = rolling_webvtt(narration, tags=False, flashes=flashes, window=window)
    assert texts(read_words(written)) == spoken_texts(narration)


@pytest.mark.slow
@given(
    narration=narrations(st.sampled_from(["no", "turn"])),
    tags=st.booleans(),
    flashes=st.booleans(),
)
def test_repeated_speech_in_rolling_lines(narration: Narration, tags: bool, flashes: bool) -> None:
    assert texts(read_words(rolling_webvtt(narration, tags=tags, flashes=flashes))) == spoken_texts(
        narration
    )


@given(narration=narrations(st.sampled_from(["no", "turn"]), line_length=3))
def test_repeated_speech_in_lines_that_do_not_roll(narration: Narration) -> None:
    assert texts(read_words(subrip(narration))) == spoken_texts(narration)
    assert texts(read_words(webvtt(narration))) == spoken_texts(narration)


@given(narration=narrations(), overlap=st.integers(0, 4_000))
def test_lines_that_overlap_in_time(narration: Narration, overlap: int) -> None:
    words = read_words(overlapping(narration, overlap))
    assert texts(words) == spoken_texts(narration)
    remaining = iter(words)
    for line, next_line in pairwise(narration):
        line_words = [next(remaining) for _ in line]
        assert line_words[0].start == line[0].start / 1000
        assert line_words[-1].end <= next_line[0].start / 1000


def assert_same_times(words: list[Word], narration: Narration, tolerance: float = 1e-6) -> None:
    written = [word for line in narration for word in line]
    assert texts(words) == spoken_texts(narration)
    starts, ends = [word.start for word in words], [word.end for word in words]
    assert starts == pytest.approx([word.start / 1000 for word in written], abs=tolerance)
    assert ends == pytest.approx([word.end / 1000 for word in written], abs=tolerance)
