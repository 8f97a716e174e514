"""XML captions: a safe parser, and TTML with its relatives DFXP and EBU-TT."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from howsteps.captions.cues import (
    CLOCK,
    LONGEST_TEXT,
    MOST_PARTS,
    MOST_WORDS,
    Cue,
    Issue,
    ParsedCues,
    Piece,
    UnreadableError,
    plus,
    seconds,
)

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


_OFFSET = re.compile(r"(-?[0-9]{1,12}(?:\.[0-9]{1,9})?)(h|ms|m|s|f|t)")
_FRAMES = re.compile(r"([0-9]{1,4}:[0-9]{1,2}:[0-9]{1,2}):([0-9]{1,3})(?:\.[0-9]+)?")
_PARAGRAPH = frozenset({"p"})
_SPACES = re.compile(r"[ \t\n]+")


def is_ttml(root: Element) -> bool:
    """Check that the root element is ``<tt>``."""
    return root.name == "tt"


def parse_ttml(text: str) -> ParsedCues:
    """Yield one cue for each paragraph, at its time within its division and body."""
    clock = _Clock.of(root_of(text))
    offsets = [0.0]  # of the elements around the current one
    for element in parse_xml(text, _PARAGRAPH):
        if isinstance(element, Issue):
            yield element
            continue
        del offsets[element.depth + 1 :]
        if element.name in _PARAGRAPH:
            yield _paragraph(element, clock, offsets[-1])
        else:
            begin = clock.seconds(element.attributes.get("begin"))
            offsets.append(offsets[-1] + (begin or 0.0))


@dataclass(frozen=True, slots=True)
class _Clock:
    """The units that the root element declares for frames and ticks."""

    frame_rate: float
    tick_rate: float

    @classmethod
    def of(cls, root: Element) -> "_Clock":
        frames = seconds(root.attributes.get("frameRate")) or 30.0
        # "1000 1001" or "999 1000": numerator and denominator.
        parts = [seconds(part) for part in root.attributes.get("frameRateMultiplier", "").split()]
        if len(parts) == 2 and parts[0] and parts[1]:
            frames *= parts[0] / parts[1]
        ticks = seconds(root.attributes.get("tickRate"))
        return cls(frames, ticks or frames)

    def seconds(self, written: str | None) -> float | None:
        """Convert a time expression such as ``12.5s``, ``300f`` or ``00:01:02:12`` to seconds."""
        if written is None:
            return None
        written = written.strip()
        if offset := _OFFSET.fullmatch(written):
            units = {"h": 3600, "m": 60, "s": 1, "ms": 0.001}
            rates = {"f": 1 / self.frame_rate, "t": 1 / self.tick_rate}
            return seconds(float(offset[1]) * (units | rates)[offset[2]])
        if frames := _FRAMES.fullmatch(written):
            return plus(seconds(frames[1]), int(frames[2]) / self.frame_rate)
        return seconds(written) if CLOCK.fullmatch(written) else None


def _paragraph(element: Element, clock: _Clock, offset: float) -> Cue:
    start, end = _span(element, clock, offset)
    spans = [
        child
        for child in element.children
        if isinstance(child, Element) and "begin" in child.attributes
    ]
    if start is None and spans:
        # Only its spans have times.
        start, end = _span(spans[0], clock, offset)[0], _span(spans[-1], clock, offset)[1]
        inner = offset
    else:
        inner = _origin(spans, clock, start, end, offset)
    parts = [
        Piece(_collapsed(child), None)
        if isinstance(child, str)
        else Piece(_collapsed_text(child), *_span(child, clock, inner))
        for child in element.children
    ]
    text = "".join(part.text for part in parts)
    return Cue(start, end, text, tuple(parts) if spans else (), element.line)


def _origin(
    spans: list[Element],
    clock: _Clock,
    start: float | None,
    end: float | None,
    offset: float,
) -> float:
    """Return what the times of spans are relative to: their paragraph or, in many files, zero."""
    if not spans or start is None:
        return offset
    latest = clock.seconds(spans[-1].attributes["begin"]) or 0.0
    return offset if end is not None and start + latest > end + 1e-6 else start


def _span(element: Element, clock: _Clock, offset: float) -> tuple[float | None, float | None]:
    begin = plus(offset, clock.seconds(element.attributes.get("begin")))
    end = plus(offset, clock.seconds(element.attributes.get("end")))
    if end is None:
        end = plus(begin, clock.seconds(element.attributes.get("dur")))
    return begin, end


def _collapsed(text: str) -> str:
    """Collapse white space; only ``<br/>`` breaks a line."""
    return _SPACES.sub(" ", text)


def _collapsed_text(element: Element) -> str:
    if element.name == "br":
        return "\n"
    return "".join(
        _collapsed(c) if isinstance(c, str) else _collapsed_text(c) for c in element.children
    )
