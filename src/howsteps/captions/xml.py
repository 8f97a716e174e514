"""Parse XML with line numbers, safe against entity expansion, in little memory.

A thin layer on expat. Document types, and with them custom entities, are refused; nesting and the
length of tags are limited; what precedes a syntax error is kept. Only one cue is in memory at a
time, so that the caller can stop parsing after too many cues.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from howsteps.captions.cue import LONGEST_TEXT, MOST_PARTS, MOST_WORDS, Issue, UnreadableError

_DEEPEST = 100
_CHUNK = 2**16  # characters that are parsed at once
# Attributes that caption formats use; all others are dropped.
_ATTRIBUTES = frozenset(
    ("t", "d", "start", "dur", "begin", "end", "frameRate", "frameRateMultiplier", "tickRate")
)


@dataclass(slots=True)
class Element:
    """An element with local names; ``children`` are elements and text in order.

    ``attributes`` are those that caption formats use; ``depth`` is 0 for the root.
    """

    name: str
    attributes: dict[str, str]
    line: int
    depth: int
    children: list["Element | str"] = field(default_factory=list)

    def descendants(self) -> Iterator["Element"]:
        """Yield the element itself and all its descendants, in document order."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += [c for c in reversed(element.children) if isinstance(c, Element)]

    def text(self, without: frozenset[str]) -> str:
        """Return all text inside the element, but not that of elements of the given names."""
        return "".join(
            c if isinstance(c, str) else c.text(without) if c.name not in without else ""
            for c in self.children
        )


def root_of(text: str) -> Element:
    """Return the root element without its children; raise ``UnreadableError`` if there is none."""
    return next(found for found in parse_xml(text, frozenset()) if isinstance(found, Element))


def parse_xml(text: str, cues: frozenset[str]) -> Iterator[Element | Issue]:
    """Yield the elements in document order up to the end, or up to an issue: a syntax error.

    Elements of a name in ``cues`` have children, and those are not yielded. All others have none.

    Raises
    ------
    UnreadableError
        There is no element before the error, the file declares a document type, or it is too large
        or nested too deeply to be captions.
    """
    builder = _Builder(cues)
    for start in range(0, len(text), _CHUNK):
        chunk = text[start : start + _CHUNK].encode("utf-8")
        issue = builder.feed(chunk, is_last=start + _CHUNK >= len(text))
        yield from builder.take()
        if issue is not None:
            yield issue
            return


class _Builder:
    """Builds the elements of :func:`parse_xml` from chunks of the file."""

    def __init__(self, cues: frozenset[str]) -> None:
        self._cues = cues
        self._complete: list[Element] = []
        self._path: list[Element] = []
        self._cue: Element | None = None  # the one that is open
        self._text: list[str] = []
        self._allowance = 0  # characters that the current text may still have
        self._n_bytes = self._n_elements = self._n_in_cue = 0
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse

    def take(self) -> list[Element]:
        """Return the elements that are complete, each once."""
        complete, self._complete = self._complete, []
        return complete

    def feed(self, chunk: bytes, *, is_last: bool) -> Issue | None:
        """Parse the next chunk; at a syntax error, complete what is open and return an issue."""
        self._n_bytes += len(chunk)
        try:
            self._parser.Parse(chunk, is_last)
        except expat.ExpatError as error:
            reason = f"the XML is broken here ({expat.ErrorString(error.code)})"
            if not self._n_elements:
                raise UnreadableError(reason, error.lineno) from None
            self._flush_text()
            self._complete += [self._cue] if self._cue is not None else []
            return Issue(reason + "; what follows is lost", error.lineno)
        # Expat reports a tag only when it is complete, so one tag could grow without limit.
        position = self._parser.CurrentByteIndex  # -1: not known
        if position >= 0 and self._n_bytes - position > LONGEST_TEXT:
            reason = f"a tag of more than {LONGEST_TEXT:,} characters cannot be captions"
            raise UnreadableError(reason, self._parser.CurrentLineNumber)
        return None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._flush_text()
        line = self._parser.CurrentLineNumber
        if len(self._path) >= _DEEPEST:
            raise UnreadableError("the XML is nested too deeply", line)
        self._n_elements += 1
        self._n_in_cue += 1
        if self._n_elements > MOST_PARTS:
            raise UnreadableError(f"more than {MOST_PARTS:,} elements cannot be captions", line)
        used = {
            local: value
            for key, value in attributes.items()
            if (local := _local(key)) in _ATTRIBUTES
        }
        element = Element(_local(name), used, line, len(self._path))
        if self._cue is not None:
            if self._n_in_cue > MOST_WORDS:
                reason = f"more than {MOST_WORDS:,} words cannot be captions"
                raise UnreadableError(reason, self._cue.line)
            self._path[-1].children.append(element)
        elif element.name in self._cues:
            self._cue, self._n_in_cue = element, 0
        else:
            self._complete.append(element)
        self._path.append(element)

    def _end(self, _: str) -> None:
        self._flush_text()
        if self._path.pop() is self._cue:
            self._complete.append(self._cue)
            self._cue = None

    def _characters(self, data: str) -> None:
        # Text comes in parts; with expat's own buffer it would be lost at a syntax error.
        if self._cue is None:
            return
        self._allowance = self._allowance if self._text else LONGEST_TEXT + 1
        if self._allowance > 0:  # the rest is dropped; the cue is rejected later
            self._text.append(data)
            self._allowance -= len(data)

    def _flush_text(self) -> None:
        if self._text:
            self._path[-1].children.append("".join(self._text))
            self._text.clear()

    def _refuse(self, *_: object) -> None:
        line = self._parser.CurrentLineNumber
        raise UnreadableError("XML with a document type is not read", line)


def _local(name: str) -> str:
    return name.rpartition(":")[2]
