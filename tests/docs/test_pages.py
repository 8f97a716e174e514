"""The pages hold together: links lead somewhere, nothing is left out, and users read little."""

import re
from pathlib import Path

import pytest

from howsteps._cli.app import app

from .pages import DOCS, PAGES, ROOT, USER_PAGES, blocks, name

MOST_WORDS = 13_500
_WORD = re.compile(r"\S*\w\S*")  # the bars and dashes of tables are none
_LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as mkdocs and GitHub make them."""
    heads = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    dead = []
    for link in (found[0] or found[1] for found in _LINK.findall(page.read_text("utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page if not path else (page.parent / path).resolve()
        if not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(link)
    assert dead == []


def test_a_user_reads_little() -> None:
    assert sum(len(_WORD.findall(page.read_text("utf-8"))) for page in USER_PAGES) <= MOST_WORDS


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    pages = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    assert [page for page in sorted(pages) if f" {page}" not in navigation] == []


def test_every_block_says_its_language() -> None:
    assert [str(block) for page in PAGES for block in blocks(page) if not block.language] == []


def test_every_command_is_listed() -> None:
    page = (DOCS / "reference" / "commands.md").read_text("utf-8")
    names = [command.callback.__name__ for command in app.registered_commands if command.callback]
    assert [each for each in names if f"`howsteps {each}" not in page] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_tests_that_a_page_names_are_there(page: Path) -> None:
    named = re.findall(r"(?<![\w/])((?:tests/)[\w/]+(?:\.py)?)", page.read_text("utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []
