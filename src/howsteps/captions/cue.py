"""The output of the parsers of caption formats: cues as written, and issues."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

_Item = TypeVar("_Item")

# Characters of four hours of speech; a longer text is not a caption.
LONGEST_TEXT = 2**18
# More than one a second for a day.
MOST_CUES = 100_000
# Words with times, in a file as in one cue: 14 hours of fast speech.
MOST_WORDS = 150_000
# Lines of text, elements of XML, lists and objects of JSON: a day of captions, one every second,
# each with a number, times, two lines and a break.
MOST_PARTS = 500_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a cue with a time of its own; white space inside ``text`` separates words."""

    text: str
    start: float | None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class Cue:
    """One cue as written: times may be missing (None), reversed or out of order.

    ``pieces`` are the last part of ``text``, if the file has word times. ``line`` or, in JSON,
    ``entry`` is the position of the cue in the file, counted from 1.
    """

    start: float | None
    end: float | None
    text: str
    pieces: tuple[Piece, ...] = ()
    line: int | None = None
    entry: int | None = None


@dataclass(frozen=True, slots=True)
class Issue:
    """A part of the file that was left out or, if it is not ``lost``, repaired.

    The reader converts it to a :class:`~howsteps.errors.Problem` with the name of the file.
    """

    reason: str
    line: int | None = None
    entry: int | None = None
    lost: bool = True


ParsedCues: TypeAlias = Iterator[Cue | Issue]


class UnreadableError(Exception):
    """The file as a whole cannot be used; the reader adds the name of the file."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def limited(items: Iterable[_Item], most: int, what: str) -> Iterator[_Item]:
    """Yield ``items``; raise ``UnreadableError`` if there are more than ``most``."""
    for count, item in enumerate(items):
        if count == most:
            raise UnreadableError(f"more than {most:,} {what} cannot be captions")
        yield item
