"""Time is distributed over words by their length."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.captions.cues import likely_duration, spread_words

TIMES = st.floats(0, 1e5)


def test_no_words() -> None:
    assert spread_words([], 1.0, 2.0) == []


def test_longer_text_takes_longer() -> None:
    assert likely_duration("") > 0
    assert likely_duration("x" * 150) == pytest.approx(10.0)


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
