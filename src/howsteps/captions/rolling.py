"""What each caption says for the first time.

Rolling captions keep lines on the screen while new ones come in below::

    take off            take off            the hub cap
                        the hub cap         then the nuts

YouTube also writes a cue of 10 ms between two of these, which holds only what stays. A word must
be heard once, yet "no, no, no" and a line that is truly said twice must stay as they are. So a
file is first judged as a whole: only where most captions repeat the one before do lines count as
carried over, and then by their place on the screen, not by mere likeness.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

# A caption this short cannot be read: it only hands lines on.
_FLASH = 0.05
# Between captions further apart than this the screen was empty.
_CLEARED = 0.5
# Captions closer than this follow without a break.
_TOUCHING = 0.05
# No screen has more lines than this to keep.
_TALLEST = 8
# Lines that grow word by word look like stammering; it takes several to believe it.
_GROWTHS = 3


class Token(NamedTuple):
    """A word on the screen, with its time where the file gives one."""

    text: str
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class Screen:
    """What one caption shows, line by line from the top; an empty line is an empty tuple."""

    start: float
    end: float
    lines: tuple[tuple[Token, ...], ...]

    @property
    def is_flash(self) -> bool:
        """Whether it is shown too shortly to be read."""
        return self.end - self.start <= _FLASH


def first_shown(screens: Sequence[Screen]) -> list[Screen]:
    """Return the screens without the words that they only repeat from the screen before."""
    screens = _without_copies(screens)
    carried = [0, *(_carried(*pair) for pair in pairwise(screens))]
    grown = [0, *(_grown(*pair) for pair in pairwise(screens))]
    grow = _is_habit(screens, grown) and sum(map(bool, grown)) >= _GROWTHS
    roll = grow or _is_habit(screens, carried)
    return [
        _after(screen, max(rolled if roll else 0, longer if grow else 0))
        for screen, rolled, longer in zip(screens, carried, grown, strict=False)
    ]


def _carried(above: Screen, below: Screen) -> int:
    """How many words at the top of ``below`` are whole lines that stayed from ``above``."""
    if below.start - above.end > _CLEARED or not below.lines[0]:
        return 0
    before = [_texts(line) for line in above.lines if line]
    after = [_texts(line) for line in below.lines if line]
    stayed = [
        count
        for count in range(1, min(len(before), len(after), _TALLEST) + 1)
        if before[-count:] == after[:count]
    ]
    # A flash shows nothing new. Any other screen shows something new if it can; if it cannot,
    # it is what lingers, provided that it follows without a break.
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

    A screen that is all repetition is no sign, unless it is a flash: lines are said twice too.
    """
    close = signs = 0
    for (above, below), count in zip(pairwise(screens), counts[1:], strict=True):
        if below.start - above.end <= _CLEARED and below.lines[0]:
            close += 1
            signs += count > 0 and (below.is_flash or count < sum(map(len, below.lines)))
    return 0 < close <= 2 * signs


def _without_copies(screens: Sequence[Screen]) -> list[Screen]:
    """Drop screens that show the same text from the same moment: a cue that was written twice."""
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


def _texts(tokens: Iterable[Token]) -> tuple[str, ...]:
    return tuple(token.text for token in tokens)
