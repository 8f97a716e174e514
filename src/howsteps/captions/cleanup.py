"""Remove what is not spoken from captions: markup, sounds, lyrics and speaker labels.

Text in square brackets is always removed. Text in parentheses is removed only if it names a sound,
since "(optional)" and "(200 g)" in recipes are spoken. A name with a colon is removed if it has the
form of a speaker label; "Step 2:" and "Tip:" are kept.
"""

import html
import re
from collections.abc import Sequence
from typing import NamedTuple

from howsteps.task import Word

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
_PUNCTUATION = re.compile(r"[.,!?;:…]+")
# Symbols that are read aloud even on their own.
_SPOKEN_SYMBOLS = frozenset("&+%$€£=@#°×÷/½¼¾")


class ShownWord(NamedTuple):
    """A word on the screen, and whether it is the first of a line and of a caption."""

    word: Word
    begins_line: bool
    begins_caption: bool


def without_markup(text: str) -> str:
    r"""Remove HTML tags, ``{\an8}`` codes and invisible characters; resolve entities and ``\N``."""
    if "<" in text:
        text = _TAG.sub("", text)
    if "\\" in text:
        text = _OVERRIDE.sub("", text).replace("\\N", "\n").replace("\\h", " ")
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    return text if text.isascii() else _INVISIBLE.sub("", text)


def without_asides(shown: Sequence[ShownWord]) -> list[Word]:
    """Return the spoken words, without sounds, lyrics and speaker labels."""
    parts: list[str] = []
    offsets: list[int] = []
    length = 0
    for word, begins_line, begins_caption in shown:
        gap = "\x1e\n" if begins_caption else "\n" if begins_line else " "
        parts += (gap, word.text)
        offsets.append(length + len(gap))
        length += len(gap) + len(word.text)
    text = "".join(parts)
    for aside in _ASIDES:
        # Replaced by blanks of the same length, so that other characters keep their offset.
        text = aside.sub(_blank, text)
    spoken: list[Word] = []
    for (word, *_), offset in zip(shown, offsets, strict=True):
        for remaining in text[offset : offset + len(word.text)].split():
            _append(spoken, remaining, word)
    return spoken


def _blank(aside: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", aside[0])


def _append(spoken: list[Word], text: str, word: Word) -> None:
    """Append ``text`` with the time of ``word``; punctuation is joined to the word before."""
    if any(map(str.isalnum, text)) or not _SPOKEN_SYMBOLS.isdisjoint(text):
        spoken.append(word if text == word.text else Word(text, word.start, word.end))
    elif spoken and _PUNCTUATION.fullmatch(text):
        last = spoken[-1]
        spoken[-1] = Word(last.text + text, last.start, last.end)
