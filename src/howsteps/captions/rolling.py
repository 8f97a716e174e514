"""Rolling captions: keep each word where it is shown for the first time.

Rolling captions keep lines on the screen while new ones come in below::

    take off            take off            the hub cap
                        the hub cap         then the nuts

YouTube also writes a cue of 10 ms between two of these, with only the lines that stay. A word must
be kept once, yet "no, no, no" and a line that is really said twice must not change. So a file is
first judged as a whole: only if most captions repeat the one before do lines count as carried over,
and then by their position on the screen, not only by their text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

# Seconds. A caption this short cannot be read: it only carries lines over.
_FLASH = 0.05
# Between captions further apart than this the screen was empty.
_CLEARED = 0.5
# Captions closer than this follow without a break.
_TOUCHING = 0.05
# No screen keeps more lines than this.
_TALLEST = 8
# Lines that grow word by word look like stammering; it takes several to be sure.
_GROWTHS = 3


class ScreenWord(NamedTuple):
    """A word on the screen, with its time where the file gives one."""

    text: str
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class Screen:
    """What one caption shows, line by line from the top; an empty line is an empty tuple."""

    start: float
    end: float
    lines: tuple[tuple[ScreenWord, ...], ...]

    @property
    def is_flash(self) -> bool:
        """Whether it is too short to be read."""
        return self.end - self.start <= _FLASH


def first_shown(screens: Sequence[Screen]) -> list[Screen]:
    """Return the screens without the words that they only repeat from the screen before."""
    screens = _without_duplicates(screens)
    carried = [0, *(_carried(*pair) for pair in pairwise(screens))]
    grown = [0, *(_grown(*pair) for pair in pairwise(screens))]
    grow = _is_habit(screens, grown) and sum(map(bool, grown)) >= _GROWTHS
    roll = grow or _is_habit(screens, carried)
    return [
        _after(screen, max(rolled if roll else 0, longer if grow else 0))
        for screen, rolled, longer in zip(screens, carried, grown, strict=False)
    ]


def _carried(above: Screen, below: Screen) -> int:
    """How many words at the top of ``below`` are complete lines that stayed from ``above``."""
    if below.start - above.end > _CLEARED or not below.lines[0]:
        return 0
    before = [_texts(line) for line in above.lines if line]
    after = [_texts(line) for line in below.lines if line]
    stayed = [
        count
        for count in range(1, min(len(before), len(after), _TALLEST) + 1)
        if before[-count:] == after[:count]
    ]
    # A flash shows nothing new. Any other screen shows something new if possible; otherwise it
    # repeats the screen before, provided that it follows without a break.
    new = [count for count in stayed if count < len(after)]
    if not below.is_flash and new:
        stayed = new
    elif not below.is_flash and below.start - above.end > _TOUCHING:
        return 0
    return sum(map(len, after[: max(stayed, default=0)]))


def _grown(above: Screen, below: Screen) -> int:
    """How many words of ``below`` are all of ``above``, whose last line has become longer."""
    before = [_texts(line) for line in above.lines if line]
    after = [_texts(line) for line in below.lines if line]
    *whole, last = before
    grows = (
        len(after) >= len(before)
        and after[: len(whole)] == whole
        and len(after[len(whole)]) > len(last)
        and after[len(whole)][: len(last)] == last
        and below.start - above.end <= _CLEARED
    )
    return sum(map(len, before)) if grows else 0


def _is_habit(screens: Sequence[Screen], counts: Sequence[int]) -> bool:
    """Whether at least half of the screens that follow closely show words again, and new ones.

    A screen that only repeats is no sign, unless it is a flash: people also say lines twice.
    """
    close = signs = 0
    for (above, below), count in zip(pairwise(screens), counts[1:], strict=True):
        if below.start - above.end <= _CLEARED and below.lines[0]:
            close += 1
            signs += count > 0 and (below.is_flash or count < sum(map(len, below.lines)))
    return 0 < close <= 2 * signs


def _without_duplicates(screens: Sequence[Screen]) -> list[Screen]:
    """Drop screens with the same text and start: a cue that was written twice."""
    seen: set[tuple[float, tuple[tuple[str, ...], ...]]] = set()
    kept = []
    for screen in screens:
        key = (screen.start, tuple(_texts(line) for line in screen.lines if line))
        if key not in seen:
            seen.add(key)
            kept.append(screen)
    return kept


def _after(screen: Screen, count: int) -> Screen:
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
