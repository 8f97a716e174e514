"""TTML and YouTube's XML: valid, broken and malicious."""

import pytest

from howsteps.errors import InputError
from tests.captions.texts import parse, problems, spans

BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><tt><p begin="1s">&b;</p></tt>'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BOMB, r"here\.txt: XML with a document type"),
        ("<svg/>", r"is XML \(<svg>\), but not captions"),
        ("<<<", "the XML is broken in line 1"),
    ],
)
def test_what_is_no_caption_file_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        parse(text)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('<tt><body>\n<p begin="1s" end="2s">one</p>\n<p begin="2s">two</q>', 3, "mismatched tag"),
        ('<timedtext><body><p t="1000" d="1000">one</p><p t="2', 1, "unclosed token"),
        ('<timedtext><body><p t="1000" d="1000">one</p>\n<p>', 2, "no element found"),
    ],
)
def test_cues_before_a_syntax_error_are_kept(text: str, line: int, reason: str) -> None:
    assert spans(text) == [(1.0, 2.0, "one")]
    broken = f"the XML is broken in line {line} ({reason}); what follows is lost"
    assert problems(text) == [f"here.txt: {broken}"]


def test_lines_that_are_nested_without_end_take_linear_time() -> None:
    nested = '<p begin="1s">a' * 50_000 + "</p>" * 50_000
    assert len(parse(f"<tt>{nested}</tt>").captions) == 50_000


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (
            '<?xml version="1.0" encoding="utf-16"?><tt xmlns="http://www.w3.org/ns/ttml" '
            'xmlns:tts="http://www.w3.org/ns/ttml#styling"><body tts:color="white"><div>'
            '<p begin="0.5s" dur="500ms">a</p>'
            '<p begin="00:00:04.2" end="00:00:05.000">c<br/><span>d</span></p>'
            '<p begin="1m" end="0.02h">f</p></div></body></tt>',
            [(0.5, 1.0, "a"), (4.2, 5.0, "c\nd"), (60.0, 72.0, "f")],
        ),
        (  # srv1 has seconds
            '<transcript><text start="1.5" dur="2">it&amp;#39;s on</text></transcript>',
            [(1.5, 3.5, "it&#39;s on")],
        ),
        (  # lines inside others are read once
            '<timedtext><p t="1000" d="9">one <p t="2000" d="9">two</p>'
            "<s>three</s></p></timedtext>",
            [(1.0, 1.009, "one three"), (2.0, 2.009, "two")],
        ),
    ],
    ids=["times of TTML", "srv1", "lines inside others"],
)
def test_times_and_texts(text: str, read: list) -> None:
    assert spans(text) == read
