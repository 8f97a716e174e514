"""What captions show and nobody says: sounds, lyrics and the marks of who speaks.

Square brackets always hold an aside. Round ones hold one only if they name a sound, since recipes
write "(optional)" and "(200 g)" for what is said. A name with a colon is dropped where it is
written as captions write speakers; "Step 2:" and "Tip:" stay.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from howsteps.task import Word

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

# In this order: what stands before a name must be gone before the name can open its line. All are
# bounded or anchored, so that no text takes more than a time in proportion to its length.
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
# Signs that are read aloud even where they stand alone.
_SPOKEN_SIGNS = frozenset("&+%$€£=@#°×÷/½¼¾")


class Shown(NamedTuple):
    """A word on the screen; whether it opens a line, and whether it opens a caption."""

    word: Word
    opens_line: bool
    opens_caption: bool


def without_asides(shown: Sequence[Shown]) -> list[Word]:
    """Return what is said: the words without sounds, lyrics and the marks of speakers."""
    parts: list[str] = []
    places: list[int] = []
    length = 0
    for word, opens_line, opens_caption in shown:
        gap = "\x1e\n" if opens_caption else "\n" if opens_line else " "
        parts += (gap, word.text)
        places.append(length + len(gap))
        length += len(gap) + len(word.text)
    text = "".join(parts)
    for aside in _ASIDES:
        # Blanks of the same length: every letter that is left keeps its place, and so its time.
        text = aside.sub(_blank, text)
    said: list[Word] = []
    for (word, *_), place in zip(shown, places, strict=True):
        for left in text[place : place + len(word.text)].split():
            _say(said, left, word)
    return said


def _blank(aside: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", aside[0])


def _say(said: list[Word], text: str, word: Word) -> None:
    """Add ``text`` at the time of ``word``; punctuation that stands alone joins the word before."""
    if any(map(str.isalnum, text)) or not _SPOKEN_SIGNS.isdisjoint(text):
        said.append(word if text == word.text else Word(text, word.start, word.end))
    elif said and _PUNCTUATION.fullmatch(text):
        last = said[-1]
        said[-1] = Word(last.text + text, last.start, last.end)
