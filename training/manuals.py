"""Instructions that people wrote, with their punctuation: paragraphs of free manuals.

A teacher reads punctuated text almost without a mistake. Its trees are then made to look spoken, so
that the small parser learns to end sentences where a writer did. Two manuals of mostly commands
come as Debian packages: ``gnome-user-docs`` (CC BY-SA 3.0, Mallard XML) and
``libreoffice-help-en-us`` (MPL 2.0, HTML). No text of theirs is kept.
"""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

PARAGRAPHS = frozenset({"p", "h1", "h2", "h3", "title"})
ASIDE = frozenset({"info", "head", "footer", "code", "screen", "pre", "table", "script", "style"})
FEWEST_WORDS = 3  # shorter ones are names of buttons
FOLDERS = ("C", "guide")  # English Mallard pages, and how-to pages of the HTML help


class Paragraphs(HTMLParser):
    """Collects the running text of a page of HTML or Mallard."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.parts: list[str] | None = None
        self.aside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a paragraph, or an element without running text."""
        if tag in ASIDE:
            self.aside.append(tag)
        elif tag in PARAGRAPHS and not self.aside:
            self.parts = []
        elif tag == "br":
            self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        """End a paragraph or element."""
        if self.aside and tag == self.aside[-1]:
            self.aside.pop()
        elif tag in PARAGRAPHS and self.parts is not None:
            text = " ".join("".join(self.parts).replace("’", "'").split())
            if len(text.split()) >= FEWEST_WORDS:
                self.found.append(text)
            self.parts = None

    def handle_data(self, data: str) -> None:
        """Keep text inside paragraphs."""
        if self.parts is not None and not self.aside:
            self.parts.append(data)


def paragraphs(page: str) -> list[str]:
    """The running text of a page."""
    reader = Paragraphs()
    reader.feed(page)
    reader.close()
    return reader.found


def read_manuals(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the paragraphs of every page of unpacked packages, no paragraph twice."""
    seen: set[str] = set()
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".page", ".html"} and set(FOLDERS) & set(path.parts):
            texts = [text for text in paragraphs(path.read_text("utf-8")) if text not in seen]
            seen.update(texts)
            if texts:
                yield f"manual/{path.relative_to(folder).with_suffix('').as_posix()}", texts
