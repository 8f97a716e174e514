"""The colours of the steps: safe for colour-blind readers, and never the only cue.

The hues are those of Okabe and Ito (2008), ordered so that neighbours also differ in lightness.
They repeat after eight steps; every mark shows the number of its step.
"""

from typing import NamedTuple


class Colour(NamedTuple):
    """A fill colour, and a text colour that is readable on it."""

    fill: str
    ink: str


_BLACK, _WHITE = "#111111", "#ffffff"

STEP_COLOURS = (
    Colour("#0072b2", _WHITE),  # blue
    Colour("#e69f00", _BLACK),  # orange
    Colour("#006b4f", _WHITE),  # bluish green, darkened for white ink
    Colour("#56b4e9", _BLACK),  # sky blue
    Colour("#a8480a", _WHITE),  # vermilion, darkened for white ink
    Colour("#f0e442", _BLACK),  # yellow
    Colour("#8c3f70", _WHITE),  # reddish purple, darkened for white ink
    Colour("#bbbbbb", _BLACK),  # grey
)


def step_colour(step: int) -> Colour:
    """The colour of a step, counted from 0."""
    return STEP_COLOURS[step % len(STEP_COLOURS)]


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
