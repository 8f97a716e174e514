"""The pages of the documentation, and the blocks of code on them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])
# What people read to use howsteps; docs/research is the log of what was measured and tried.
USER_PAGES = [page for page in DOCS.rglob("*.md") if page.parts[-2] != "research"]

# A block that cannot run here has this on the line before it, with the reason.
NOT_RUN = re.compile(r"<!-- not run: (?P<reason>needs [^>]+) -->")
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w-]*)$")


@dataclass(frozen=True)
class Block:
    """A block of code: where it begins, its language, its text, and why it is not run, if so."""

    page: Path
    line: int
    language: str
    text: str
    not_run: str | None

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    lines = page.read_text("utf-8").splitlines()
    start = None
    for number, line in enumerate(lines):
        if (fence := _FENCE.match(line)) is None:
            continue
        if start is None:
            start, language, indent = number, fence["language"], len(fence["indent"])
            continue
        text = "\n".join(inside[indent:] for inside in lines[start + 1 : number])
        marked = NOT_RUN.search(lines[start - 1])
        yield Block(page, start + 1, language, text, marked and marked["reason"])
        start = None
    assert start is None, f"{page}: a block is not closed"


def name(page: Path) -> str:
    """The name of the page in test ids."""
    return page.relative_to(ROOT).as_posix()
