"""Parse XML with line numbers, safe against entity expansion.

A thin layer on expat. Document types, and with them custom entities, are refused; nesting is
limited; what precedes a syntax error is kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from howsteps.captions.cue import LONGEST_TEXT, Issue, UnreadableError

_DEEPEST = 100


@dataclass(slots=True)
class Element:
    """An element with local names; ``children`` are elements and text in order."""

    name: str
    attributes: dict[str, str]
    line: int
    children: list["Element | str"] = field(default_factory=list)

    def descendants(self) -> Iterator["Element"]:
        """Yield the element itself and all its descendants, in document order."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.descendants()

    def text(self) -> str:
        """Return all text inside the element."""
        return "".join(c if isinstance(c, str) else c.text() for c in self.children)


def parse_xml(text: str) -> tuple[Element, list[Issue]]:
    """Parse XML up to its end, or up to the first syntax error.

    Raises
    ------
    UnreadableError
        There is no element before the error, or the file declares a document type.
    """
    root = Element("", {}, 0)
    path = [root]
    text_parts: list[str] = []
    allowance = 0  # characters that the current text may still have
    parser = expat.ParserCreate("utf-8")

    def start(name: str, attributes: dict[str, str]) -> None:
        flush_text()
        if len(path) > _DEEPEST:
            raise UnreadableError("the XML is nested too deeply", parser.CurrentLineNumber)
        names = {_local(key): value for key, value in attributes.items()}
        element = Element(_local(name), names, parser.CurrentLineNumber)
        path[-1].children.append(element)
        path.append(element)

    def end(_: str) -> None:
        flush_text()
        path.pop()

    def characters(data: str) -> None:
        # Text comes in parts; with expat's own buffer it would be lost at a syntax error.
        nonlocal allowance
        allowance = allowance if text_parts else LONGEST_TEXT + 1
        if allowance > 0:  # longer text is refused later
            text_parts.append(data)
            allowance -= len(data)

    def flush_text() -> None:
        if text_parts:
            path[-1].children.append("".join(text_parts))
            text_parts.clear()

    def refuse(*_: object) -> None:
        raise UnreadableError("XML with a document type is not read", parser.CurrentLineNumber)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    issues = []
    try:
        parser.Parse(text.encode("utf-8"), True)
    except expat.ExpatError as error:
        reason = f"the XML is broken here ({expat.ErrorString(error.code)})"
        if not any(isinstance(child, Element) for child in root.children):
            raise UnreadableError(reason, error.lineno) from None
        issues.append(Issue(reason + "; what follows is lost", error.lineno))
    flush_text()
    return next(child for child in root.children if isinstance(child, Element)), issues


def _local(name: str) -> str:
    return name.rpartition(":")[2]
