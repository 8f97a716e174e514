"""An alignment as columns of text, one row per narration."""

from collections.abc import Sequence

from howsteps.script.problem import Slots

BLANK = "·"


def columns(
    slots: Slots, words: Sequence[Sequence[str]], *, least: int = 1, width: int = 14
) -> str:
    """Write the words of every narration under one another where they share a slot.

    Parameters
    ----------
    slots
        Of an :class:`howsteps.script.Alignment`.
    words
        What to write for every token, row by row.
    least
        Leave out slots with fewer tokens than this.
    width
        Cut words to this many characters.
    """
    counts: dict[int, int] = {}
    for row in slots:
        for slot in row:
            counts[slot] = counts.get(slot, 0) + 1
    shown = sorted(slot for slot, count in counts.items() if count >= least)
    rows = [
        dict(zip(places, texts, strict=True)) for places, texts in zip(slots, words, strict=True)
    ]
    lines = [[str(counts[slot]) for slot in shown]]
    lines += [[row.get(slot, BLANK)[:width] for slot in shown] for row in rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(shown))]
    return "\n".join(
        "  ".join(cell.ljust(wide) for cell, wide in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
