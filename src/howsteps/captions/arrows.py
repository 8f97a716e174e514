"""What SubRip and WebVTT share: lines ``start --> end`` that open a cue.

These lines are the anchors. All between two of them is text of the first or the label of the
second, so that missing or stray blank lines and labels do no harm.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from howsteps.captions.cue import CLOCK, clock_seconds

_ARROW = re.compile(r"(?:-{1,3}|[–—])>")


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that stand together, and the number of the first of them."""

    line: int
    lines: list[str]


@dataclass(frozen=True, slots=True)
class Anchored:
    """A timing line, the text under it, and the blocks after that up to the next cue."""

    line: int
    start: float | None
    end: float | None
    text: list[str]
    strays: list[Block] = field(default_factory=list)


def is_timing(line: str) -> bool:
    """Whether ``line`` opens a cue, if perhaps with one time that cannot be read."""
    return _times(line) is not None


def cues(lines: Sequence[str], any_label: bool) -> tuple[list[Block], Iterator[Anchored]]:
    """Cut ``lines`` into the blocks before the first timing line and the cues after it.

    A label stands right above a timing line. It is a number, or any text if ``any_label``.
    """
    times = [(place, found) for place, line in enumerate(lines) if (found := _times(line))]
    first = times[0][0] if times else len(lines)
    opening, label = _without_label(lines[:first], any_label, previous=0)
    return _blocks(opening, 1), _anchored(lines, times, any_label, label)


def _anchored(
    lines: Sequence[str],
    times: list[tuple[int, tuple[float | None, float | None]]],
    any_label: bool,
    label: int | None,
) -> Iterator[Anchored]:
    stops = [*(place for place, _ in times[1:]), len(lines)]
    for (place, (start, end)), stop in zip(times, stops, strict=False):
        region = list(lines[place + 1 : stop])
        if stop < len(lines):
            region, label = _without_label(region, any_label, label)
        # A line of white space is text (YouTube's empty upper line); only an empty one is a break.
        rest = region.index("", 1) if "" in region[1:] else len(region)
        strays = _blocks(region[rest:], place + 2 + rest)
        yield Anchored(place + 1, start, end, region[:rest], strays)


def _without_label(
    region: Sequence[str], any_label: bool, previous: int | None
) -> tuple[list[str], int | None]:
    """Take the label of the next cue off the end of ``region``; say its number, if it is one."""
    end = len(region)
    while end and not region[end - 1].strip():
        end -= 1
    if end == 0:
        return list(region), None
    label = region[end - 1].strip()
    number = int(label) if re.fullmatch("[0-9]{1,9}", label) else None
    # A number that counts on may lack the blank line above it, or have one below it too many.
    counts_on = number is not None and previous is not None and number == previous + 1
    # Right under a timing line stands text; the first label (previous = 0) has none above it.
    stands_alone = not region[end - 2].strip() if end > 1 else previous == 0
    if end == len(region):
        is_label = counts_on or (stands_alone and (any_label or number is not None))
    else:
        is_label = counts_on and stands_alone
    return (list(region[: end - 1]), number) if is_label else (list(region), None)


def _blocks(lines: Sequence[str], first: int) -> list[Block]:
    blocks: list[Block] = []
    fresh = True
    for number, line in enumerate(lines, first):
        if not line.strip():
            fresh = True
        elif fresh:
            blocks.append(Block(number, [line]))
            fresh = False
        else:
            blocks[-1].lines.append(line)
    return blocks


def _times(line: str) -> tuple[float | None, float | None] | None:
    if ">" not in line:
        return None
    parts = _ARROW.split(line, maxsplit=1)
    if len(parts) != 2:
        return None
    left, right = CLOCK.fullmatch(parts[0].strip()), CLOCK.match(parts[1].lstrip())
    if left is None and right is None:
        return None
    return left and clock_seconds(left), right and clock_seconds(right)
