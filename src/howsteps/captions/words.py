"""Convert captions to words with times: each spoken word once, in order.

Markup, sounds, lyrics and speaker labels are removed, and rolling captions are deduplicated.
"""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from howsteps.captions.cues import Piece, spread_words
from howsteps.task import Caption, Word

# Tags of HTML, WebVTT and SubRip; "3 < 4" and "<3" are not tags. Lines copied from WebVTT may still
# contain word times.
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>|<[0-9:.,]{5,16}>")
_OVERRIDE = re.compile(r"\{\\[^{}]{0,300}\}")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
# Joiners, direction marks, byte order marks and soft hyphens are invisible.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")

_SOUND = (
    r"(?:music|musique|applau|laugh|chuckl|giggl|cheer|clap|sigh|gasp|groan|grunt|moan|cough"
    r"|sneez|sniff|yawn|burp|scream|shout|yell|whisper|mumbl|mutter|whistl|humm|sing|sung|chant"
    r"|inaudible|indistinct|unintelligible|crosstalk|silence|pause|noise|sound|beep|buzz|ding|ring"
    r"|click|clunk|clank|clatter|crack|crunch|sizzl|whir|whoosh|thud|bang|knock|bark|chirp|meow"
    r"|speak\w* in|foreign|imitat|instrumental|theme|background|censored|bleep)"
)
_NOTE = "♪♫♬🎵🎶"
_NAME = r"[A-Z][\w.'’]*(?:[ -][A-Z0-9][\w.'’]*){0,2}"
_CAPITALS = r"[A-Z][A-Z0-9.'’]+(?:[ -][A-Z0-9][A-Z0-9.'’]*){0,2}"
_ROLE = (
    r"(?i:(?:male |female )?(?:narrator|speaker|man|woman|boy|girl|host|presenter|interviewer"
    r"|interviewee|announcer|reporter|instructor|voice[ -]?over|voice|audience)(?: [0-9]{1,2})?)"
)
_HEADING = (
    r"(?!(?:STEP|PART|TIP|NOTE|NB|WARNING|CAUTION|IMPORTANT|OPTIONAL|REMEMBER|TOOLS|FINALLY"
    r"|INGREDIENTS|METHOD|PS|OK|OKAY)\b)"
)

# The order matters: sounds before a speaker label are removed first, so that the label is at the
# start of its line. All patterns are bounded or anchored, so the time is linear in the text.
_ASIDES = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"\[[^\[\]]{0,80}\]",
        rf"\((?=[^()]{{0,80}}\))[^()]*?\b(?i:{_SOUND})[^()]*\)",
        rf"\*(?=[^*\n]{{0,40}}\*)[^*\n]*?\b(?i:{_SOUND})[^*\n]*\*",
        rf"[{_NOTE}][^{_NOTE}\x1e]{{0,200}}[{_NOTE}]",
        rf"(?:(?<!>)>{{2,}}+|^[^\S\n]*[-–—]+)[^\S\n]*{_HEADING}{_NAME}:(?=\s)",
        rf"^[^\S\n]*{_HEADING}{_CAPITALS}:(?=[^\S\n][^\n]*[a-z])",
        rf"^[^\S\n]*{_ROLE}:(?=\s)",
        rf">{{2,}}|[{_NOTE}]",
        r"^[^\S\n]*[-–—]+(?=[^\W\d])",
    )
)
_VISIBLE = re.compile(r"[^\n]")
_PUNCTUATION = re.compile(r"[.,!?;:…]+")
# Symbols that are read aloud even on their own.
_SPOKEN_SYMBOLS = frozenset("&+%$€£=@#°×÷/½¼¾")


def without_markup(text: str) -> str:
    r"""Remove HTML tags, ``{\an8}`` codes and invisible characters; resolve entities and ``\N``."""
    if "<" in text:
        text = _TAG.sub("", text)
    if "\\" in text:
        text = _OVERRIDE.sub("", text).replace("\\N", "\n").replace("\\h", " ")
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    return text if text.isascii() else _INVISIBLE.sub("", text)


def _without_asides(shown: Iterable[tuple[str, Word]]) -> list[Word]:
    """Return the spoken words, without sounds, lyrics and speaker labels.

    ``shown`` are the words on the screen, each with the white space before it.
    """
    parts: list[str] = []
    places: list[tuple[int, Word]] = []
    length = 0
    for gap, word in shown:
        parts += (gap, word.text)
        places.append((length + len(gap), word))
        length += len(gap) + len(word.text)
    text = "".join(parts)
    for aside in _ASIDES:
        # Replaced by blanks of the same length, so that other characters keep their offset.
        text = aside.sub(lambda found: _VISIBLE.sub(" ", found[0]), text)
    spoken: list[Word] = []
    for offset, word in places:
        for remaining in text[offset : offset + len(word.text)].split():
            _append(spoken, remaining, word)
    return spoken


def _append(spoken: list[Word], text: str, word: Word) -> None:
    """Append ``text`` with the time of ``word``; punctuation is joined to the word before."""
    if any(map(str.isalnum, text)) or not _SPOKEN_SYMBOLS.isdisjoint(text):
        spoken.append(word if text == word.text else Word(text, word.start, word.end))
    elif spoken and _PUNCTUATION.fullmatch(text):
        last = spoken[-1]
        spoken[-1] = Word(last.text + text, last.start, last.end)


# Thresholds in seconds: a shorter caption cannot be read, and only carries lines over;
_FLASH = 0.05
# between captions further apart the screen was empty;
_CLEARED = 0.5
# captions closer together follow without a break.
_TOUCHING = 0.05
_MAX_LINES = 8  # on a screen


@dataclass(frozen=True, slots=True)
class Screen:
    """The lines of one caption from the top; an empty line is an empty tuple."""

    start: float
    end: float
    lines: tuple[tuple[Piece, ...], ...]

    @property
    def is_flash(self) -> bool:
        """Whether the caption is too short to be read."""
        return self.end - self.start <= _FLASH


def first_shown(screens: Sequence[Screen]) -> list[Screen]:
    """Return the screens without the words that they repeat from the screen before."""
    screens = _without_duplicates(screens)
    carried = [0, *(_carried_words(*pair) for pair in pairwise(screens))]
    if not _is_typical(screens, carried):
        return screens
    return [_drop_words(screen, count) for screen, count in zip(screens, carried, strict=False)]


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


def _without_duplicates(screens: Iterable[Screen]) -> list[Screen]:
    """Drop screens with the same text and start as an earlier one."""
    first: dict[tuple[float, tuple[tuple[str, ...], ...]], Screen] = {}
    for screen in screens:
        texts = tuple(_texts(line) for line in screen.lines if line)
        first.setdefault((screen.start, texts), screen)
    return list(first.values())


def _drop_words(screen: Screen, count: int) -> Screen:
    """Drop the first ``count`` words of ``screen``."""
    if count == 0:
        return screen
    lines = []
    for line in screen.lines:
        lines.append(line[count:])
        count = max(0, count - len(line))
    return replace(screen, lines=tuple(lines))


def _texts(line: Iterable[Piece]) -> tuple[str, ...]:
    return tuple(word.text for word in line)


def words_of(captions: Iterable[Caption]) -> list[Word]:
    """Return the spoken words of ``captions`` with times.

    Markup, sounds and speaker labels are removed and rolling lines merged. A word has its time in
    the file, or else a share of the time of its line in proportion to its length. Starts never
    decrease, no word ends before it starts or after the next one starts, and no time is negative.
    """
    ordered = sorted(captions, key=lambda caption: caption.start)
    screens = [screen for caption in ordered if any((screen := _screen(caption)).lines)]
    return _in_order(_without_asides(_timed(first_shown(screens))))


def _screen(caption: Caption) -> Screen:
    """Return the lines of a caption; its last words have the word times of the file."""
    lines = [line.split() for line in without_markup(caption.text).split("\n")]
    timed = [
        Piece(text, word.start, word.end)
        for word in caption.words
        for text in without_markup(word.text).split()
    ]
    shown = [text for line in lines for text in line]
    if timed and shown[len(shown) - len(timed) :] != [word.text for word in timed]:
        # The text of the line differs from its words: use the words, which have times.
        return Screen(caption.start, caption.end, (tuple(timed),))
    untimed = (Piece(text) for text in shown[: len(shown) - len(timed)])
    words = iter([*untimed, *timed])
    # Empty lines are kept: an empty first line means that no line was carried over.
    return Screen(
        caption.start, caption.end, tuple(tuple(next(words) for _ in line) for line in lines)
    )


def _timed(screens: Sequence[Screen]) -> Iterator[tuple[str, Word]]:
    """Yield every word with a time, and the white space before it.

    Each line ends where the next one starts.
    """
    groups = [list(group) for _, group in groupby(screens, key=lambda screen: screen.start)]
    next_starts = [*(group[0].start for group in groups[1:]), float("inf")]
    for group, limit in zip(groups, next_starts, strict=False):
        # Lines with the same start are spoken one after the other and share their time.
        end = min(max(screen.end for screen in group), limit)
        words = [word for screen in group for line in screen.lines for word in line]
        gaps = (gap for screen in group for gap in _gaps(screen))
        yield from zip(gaps, _times(words, group[0].start, end), strict=True)


def _gaps(screen: Screen) -> Iterator[str]:
    """Yield the white space before each word: it marks the starts of lines and of the caption."""
    gap = "\x1e\n"
    for line in screen.lines:
        for _ in line:
            yield gap
            gap = " "
        gap = "\n" if gap == " " else gap


def _times(words: Sequence[Piece], start: float, end: float) -> Iterator[Word]:
    """Keep given times; distribute the other words over the time up to the next given one."""
    untimed: list[str] = []
    now = start
    for word in words:
        if word.start is None or word.end is None:
            untimed.append(word.text)
            continue
        yield from spread_words(untimed, now, max(now, min(word.start, end)))
        untimed = []
        yield Word(word.text, word.start, word.end)
        now = word.end
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
