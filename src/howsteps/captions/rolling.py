"""Deduplicate rolling captions: keep each word only where it is shown for the first time.

Rolling captions keep lines on the screen while new ones appear below::

    take off            take off            the hub cap
                        the hub cap         then the nuts

YouTube also writes a cue of 10 ms between two of these, with only the lines that stay. Each word
must be kept once, yet "no, no, no" and a line that is really spoken twice must not change. So a
file is first classified as a whole: only if most captions repeat the one before are repeated lines
removed, and only if their position on the screen fits.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

# Thresholds in seconds: a shorter caption cannot be read, and only carries lines over;
_FLASH = 0.05
# between captions further apart the screen was empty;
_CLEARED = 0.5
# captions closer together follow without a break.
_TOUCHING = 0.05
_MAX_LINES = 8  # on a screen
# One line that grows word by word may be stammering.
_MIN_GROWING = 3


class ScreenWord(NamedTuple):
    """A word on the screen, with its time if the file has one."""

    text: str
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class Screen:
    """The lines of one caption from the top; an empty line is an empty tuple."""

    start: float
    end: float
    lines: tuple[tuple[ScreenWord, ...], ...]

    @property
    def is_flash(self) -> bool:
        """Whether the caption is too short to be read."""
        return self.end - self.start <= _FLASH


def first_shown(screens: Sequence[Screen]) -> list[Screen]:
    """Return the screens without the words that they repeat from the screen before."""
    screens = _without_duplicates(screens)
    carried = [0, *(_carried_words(*pair) for pair in pairwise(screens))]
    grown = [0, *(_words_before_growth(*pair) for pair in pairwise(screens))]
    is_growing = _is_typical(screens, grown) and sum(map(bool, grown)) >= _MIN_GROWING
    is_rolling = is_growing or _is_typical(screens, carried)
    return [
        _drop_words(screen, max(n_carried if is_rolling else 0, n_grown if is_growing else 0))
        for screen, n_carried, n_grown in zip(screens, carried, grown, strict=False)
    ]


def _carried_words(previous: Screen, current: Screen) -> int:
    """Count the words of ``current`` in complete lines carried over from ``previous``."""
    if current.start - previous.end > _CLEARED or not current.lines[0]:
        return 0
    before = [_texts(line) for line in previous.lines if line]
    after = [_texts(line) for line in current.lines if line]
    line_counts = [
        count
        for count in range(1, min(len(before), len(after), _MAX_LINES) + 1)
        if before[-count:] == after[:count]
    ]
    # A flash shows nothing new. Any other screen shows something new if possible; otherwise it
    # repeats the screen before, provided that it follows without a break.
    with_new_lines = [count for count in line_counts if count < len(after)]
    if not current.is_flash and with_new_lines:
        line_counts = with_new_lines
    elif not current.is_flash and current.start - previous.end > _TOUCHING:
        return 0
    return sum(map(len, after[: max(line_counts, default=0)]))


def _words_before_growth(previous: Screen, current: Screen) -> int:
    """Count the words of ``previous`` if ``current`` only extends its last line, else 0."""
    before = [_texts(line) for line in previous.lines if line]
    after = [_texts(line) for line in current.lines if line]
    *unchanged, last = before
    grows = (
        len(after) >= len(before)
        and after[: len(unchanged)] == unchanged
        and len(after[len(unchanged)]) > len(last)
        and after[len(unchanged)][: len(last)] == last
        and current.start - previous.end <= _CLEARED
    )
    return sum(map(len, before)) if grows else 0


def _is_typical(screens: Sequence[Screen], counts: Sequence[int]) -> bool:
    """Whether at least half of the screens that follow closely repeat words and add new ones.

    A screen that only repeats is no evidence, unless it is a flash: people also say lines twice.
    """
    close = evidence = 0
    for (previous, current), count in zip(pairwise(screens), counts[1:], strict=True):
        if current.start - previous.end <= _CLEARED and current.lines[0]:
            close += 1
            evidence += count > 0 and (current.is_flash or count < sum(map(len, current.lines)))
    return 0 < close <= 2 * evidence


def _without_duplicates(screens: Sequence[Screen]) -> list[Screen]:
    """Drop screens with the same text and start as an earlier one."""
    seen: set[tuple[float, tuple[tuple[str, ...], ...]]] = set()
    kept = []
    for screen in screens:
        key = (screen.start, tuple(_texts(line) for line in screen.lines if line))
        if key not in seen:
            seen.add(key)
            kept.append(screen)
    return kept


def _drop_words(screen: Screen, count: int) -> Screen:
    """Drop the first ``count`` words of ``screen``."""
    if count == 0:
        return screen
    lines = []
    for line in screen.lines:
        lines.append(line[count:])
        count = max(0, count - len(line))
    return replace(screen, lines=tuple(lines))


def _texts(tokens: Iterable[ScreenWord]) -> tuple[str, ...]:
    return tuple(token.text for token in tokens)
