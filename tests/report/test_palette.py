"""Marks are readable on their colours, and neighbouring steps look different."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.report.content import STEP_COLOURS, contrast, step_colour


def test_black_on_white_has_the_greatest_contrast() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#777777") == pytest.approx(1)


@pytest.mark.parametrize("colour", STEP_COLOURS)
def test_numbers_are_readable_on_their_colour(colour) -> None:
    assert contrast(colour.fill, colour.ink) >= 4.5  # WCAG AA


@given(st.integers(0, 1000))
def test_neighbouring_steps_differ_in_lightness_too(step: int) -> None:
    assert contrast(step_colour(step).fill, step_colour(step + 1).fill) > 1.5
