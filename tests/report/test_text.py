"""Labels and titles, and escaping for Markdown."""

from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from howsteps.report.content import capitalised, markdown, markdown_line, one_line, title_of

READER = MarkdownIt("commonmark").enable(["strikethrough", "table"])


class Page(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def read(text: str) -> tuple[list[str], str]:
    page = Page(READER.render(text))
    return page.tags, page.text.strip()


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("fix_a_flat_tire", "Fix a flat tire"),
        ("make tea_pot", "Make tea_pot"),
        ("CPR", "CPR"),
        ("", ""),
    ],
)
def test_the_name_of_a_folder_becomes_a_heading(name: str, title: str) -> None:
    assert title_of(name) == title


def test_a_heading_is_capitalised_and_otherwise_unchanged() -> None:
    assert capitalised("pump up the BMX tire") == "Pump up the BMX tire"


@given(st.text())
def test_one_line_is_printable_and_never_empty(text: str) -> None:
    line = one_line(text)
    assert line
    assert line.isprintable()
    assert len(line.splitlines()) == 1


SIGNS = st.text("ab 1.)#+-*_`~[](){}<>!&|\\=:/'\"", max_size=30) | st.text(max_size=30)


@given(SIGNS)
@example("# x")
@example("1. x")
@example("c #")
@example("&lt;")
@example("<script>alert(1)</script>")
def test_markdown_renders_any_text_literally(text: str) -> None:
    shown = one_line(text)
    assert read(f"## 1. {markdown(text)}") == (["h2"], f"1. {shown}")
    assert read(f"> {markdown_line(text)}") == (["blockquote", "p"], shown)
    assert read(f"Seen in *{markdown(text)}* at 0:10.")[0][:1] == ["p"]


def test_plain_text_is_not_escaped() -> None:
    assert markdown("Add 1.5 cups (not 2) - stir!") == "Add 1.5 cups (not 2) - stir!"
