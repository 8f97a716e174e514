"""Marks are readable on their colours, and neighbouring steps look different."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.report.content import STEP_COLOURS, step_colour


def contrast(first: str, second: str) -> float:
    """Contrast of two colours as WCAG 2 defines it, from 1 (none) to 21 (black on white).

    (L₁ + 0.05) / (L₂ + 0.05), with the relative luminance L₁ ≥ L₂ of the two.
    """
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    """0.2126 R + 0.7152 G + 0.0722 B, with linearised sRGB channels."""
    weights = (0.2126, 0.7152, 0.0722)
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return sum(
        weight * (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)
        for weight, value in zip(weights, channels, strict=True)
    )


def test_black_on_white_has_the_greatest_contrast() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#777777") == pytest.approx(1)


@pytest.mark.parametrize("colour", STEP_COLOURS)
def test_numbers_are_readable_on_their_colour(colour) -> None:
    assert contrast(colour.fill, colour.ink) >= 4.5  # WCAG AA


@given(st.integers(0, 1000))
def test_neighbouring_steps_differ_in_lightness_too(step: int) -> None:
    assert contrast(step_colour(step).fill, step_colour(step + 1).fill) > 1.5
