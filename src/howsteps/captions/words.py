"""Convert captions to words with times: each spoken word once, in order.

::

    captions ─► screens (no markup) ─► first_shown ─► a time for each word ─► without_asides
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from howsteps.captions.cleanup import ShownWord, without_asides, without_markup
from howsteps.captions.rolling import Screen, ScreenWord, first_shown
from howsteps.captions.timing import spread_words
from howsteps.task import Caption, Word


def words_of(captions: Iterable[Caption]) -> list[Word]:
    """Return the spoken words of ``captions`` with times.

    Markup, sounds and speaker labels are removed and rolling lines merged. A word has its time in
    the file, or else a share of the time of its line in proportion to its length. Starts never
    decrease, no word ends before it starts or after the next one starts, and no time is negative.
    """
    ordered = sorted(captions, key=lambda caption: caption.start)
    screens = [screen for caption in ordered if any((screen := _screen(caption)).lines)]
    return _in_order(without_asides(list(_timed(first_shown(screens)))))


def _screen(caption: Caption) -> Screen:
    """Return the lines of a caption; its last words have the word times of the file."""
    lines = [line.split() for line in without_markup(caption.text).split("\n")]
    timed = [
        ScreenWord(text, word.start, word.end)
        for word in caption.words
        for text in without_markup(word.text).split()
    ]
    shown = [text for line in lines for text in line]
    if timed and shown[len(shown) - len(timed) :] != [token.text for token in timed]:
        # The text of the line differs from its words: use the words, which have times.
        lines, shown = [[token.text for token in timed]], [token.text for token in timed]
    untimed = (ScreenWord(text) for text in shown[: len(shown) - len(timed)])
    tokens = iter([*untimed, *timed])
    # Empty lines are kept: an empty first line means that no line was carried over.
    return Screen(
        caption.start, caption.end, tuple(tuple(next(tokens) for _ in line) for line in lines)
    )


def _timed(screens: Sequence[Screen]) -> Iterator[ShownWord]:
    """Yield every word with a time; each line ends where the next one starts."""
    groups = [list(group) for _, group in groupby(screens, key=lambda screen: screen.start)]
    next_starts = [*(group[0].start for group in groups[1:]), float("inf")]
    for group, limit in zip(groups, next_starts, strict=False):
        # Lines with the same start are spoken one after the other and share their time.
        end = min(max(screen.end for screen in group), limit)
        tokens = [token for screen in group for line in screen.lines for token in line]
        flags = [pair for screen in group for pair in _first_word_flags(screen)]
        words = _times(tokens, group[0].start, end)
        yield from (ShownWord(word, *pair) for word, pair in zip(words, flags, strict=True))


def _first_word_flags(screen: Screen) -> Iterator[tuple[bool, bool]]:
    """Yield, for each word, whether it is the first of its line and of its caption."""
    is_first = True
    for line in screen.lines:
        for index in range(len(line)):
            yield index == 0, is_first
            is_first = False


def _times(tokens: Sequence[ScreenWord], start: float, end: float) -> Iterator[Word]:
    """Keep given times; distribute the other words over the time up to the next given one."""
    untimed: list[str] = []
    now = start
    for token in tokens:
        if token.start is None or token.end is None:
            untimed.append(token.text)
            continue
        yield from spread_words(untimed, now, max(now, min(token.start, end)))
        untimed = []
        yield Word(token.text, token.start, token.end)
        now = token.end
    yield from spread_words(untimed, now, max(now, end))


def _in_order(words: Sequence[Word]) -> list[Word]:
    """Clip the times of every word so that starts never decrease and words do not overlap."""
    latest = 0.0
    starts = []
    for word in words:
        latest = max(latest, word.start)
        starts.append(latest)
    clipped: list[Word] = []
    next_start = float("inf")
    for word, start in zip(reversed(words), reversed(starts), strict=True):
        end = min(max(word.end, start), next_start)
        same = word.start == start and word.end == end
        clipped.append(word if same else Word(word.text, start, end))
        next_start = start
    return clipped[::-1]
