"""From captions to words with times: each spoken word once, in order.

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
    """Return the words that ``captions`` say, each once, with times.

    Markup, sounds and speaker labels are dropped and rolling lines merged. A word has the time that
    the file gives it, or a share of its line in proportion to its length. Starts never decrease, no
    word ends before it starts or after the next one starts, and no time is negative.
    """
    ordered = sorted(captions, key=lambda caption: caption.start)
    screens = [screen for caption in ordered if any((screen := _screen(caption)).lines)]
    return _in_order(without_asides(list(_timed(first_shown(screens)))))


def _screen(caption: Caption) -> Screen:
    """The lines of a caption; its last words have the times that the file gives."""
    lines = [line.split() for line in without_markup(caption.text).split("\n")]
    timed = [
        ScreenWord(text, word.start, word.end)
        for word in caption.words
        for text in without_markup(word.text).split()
    ]
    shown = [text for line in lines for text in line]
    if timed and shown[len(shown) - len(timed) :] != [token.text for token in timed]:
        # The line and its words differ: trust the words, which have times.
        lines, shown = [[token.text for token in timed]], [token.text for token in timed]
    untimed = (ScreenWord(text) for text in shown[: len(shown) - len(timed)])
    tokens = iter([*untimed, *timed])
    # An empty last line means nothing; an empty first line means that no line was carried over.
    return Screen(
        caption.start, caption.end, tuple(tuple(next(tokens) for _ in line) for line in lines)
    )


def _timed(screens: Sequence[Screen]) -> Iterator[ShownWord]:
    """Give every word a time; each line ends where the next one starts."""
    together = [list(group) for _, group in groupby(screens, key=lambda screen: screen.start)]
    following = [*(group[0].start for group in together[1:]), float("inf")]
    for group, limit in zip(together, following, strict=False):
        # Lines that start together are said one after the other and share their time.
        end = min(max(screen.end for screen in group), limit)
        tokens = [token for screen in group for line in screen.lines for token in line]
        places = [place for screen in group for place in _places(screen)]
        words = _times(tokens, group[0].start, end)
        yield from (ShownWord(word, *place) for word, place in zip(words, places, strict=True))


def _places(screen: Screen) -> Iterator[tuple[bool, bool]]:
    """Whether each word begins its line, and whether it begins its caption."""
    first = True
    for line in screen.lines:
        for place in range(len(line)):
            yield place == 0, first
            first = False


def _times(tokens: Sequence[ScreenWord], start: float, end: float) -> Iterator[Word]:
    """Keep given times; spread words without one over the time up to the next given one."""
    waiting: list[str] = []
    now = start
    for token in tokens:
        if token.start is None or token.end is None:
            waiting.append(token.text)
            continue
        yield from spread_words(waiting, now, max(now, min(token.start, end)))
        waiting = []
        yield Word(token.text, token.start, token.end)
        now = token.end
    yield from spread_words(waiting, now, max(now, end))


def _in_order(words: Sequence[Word]) -> list[Word]:
    """Clip every word to the one before it and the one after it."""
    ordered: list[Word] = []
    following = float("inf")
    lowest = 0.0
    starts = []
    for word in words:
        lowest = max(lowest, word.start)
        starts.append(lowest)
    for word, start in zip(reversed(words), reversed(starts), strict=True):
        end = min(max(word.end, start), following)
        same = word.start == start and word.end == end
        ordered.append(word if same else Word(word.text, start, end))
        following = start
    return ordered[::-1]
