"""How long words take to say, where nobody has measured it."""

from collections.abc import Sequence
from itertools import accumulate

from howsteps.task import Word

# Letters a second of brisk speech.
_RATE = 15.0
_LEAST = 0.5


def likely_duration(text: str) -> float:
    """Seconds that ``text`` takes to say."""
    return max(_LEAST, len(text) / _RATE)


def share_out(texts: Sequence[str], start: float, end: float) -> list[Word]:
    """Words that fill the time from ``start`` to ``end``, each in proportion to its length.

    Word i of length l_i (plus one, for the pause after it) ends at
    start + (end − start) · Σ_{j ≤ i} (l_j + 1) / Σ_j (l_j + 1).
    """
    if len(texts) <= 1:
        return [Word(text, start, end) for text in texts]
    reached = list(accumulate(len(text) + 1 for text in texts))
    span = (end - start) / reached[-1]
    # The last end is the line's own: no rounding carries a word past its line.
    ends = [min(start + span * letters, end) for letters in reached[:-1]] + [end]
    return [Word(*word) for word in zip(texts, [start, *ends[:-1]], ends, strict=True)]
