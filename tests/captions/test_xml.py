"""TTML and YouTube's XML: valid, broken and malicious."""

import pytest

from howsteps.errors import InputError
from tests.captions.texts import parse, problems, spans


def test_document_types_are_refused() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><tt><p begin="1s">&b;</p></tt>'
    with pytest.raises(InputError, match=r"here\.txt:1: XML with a document type"):
        parse(bomb)


def test_cues_before_a_syntax_error_are_kept() -> None:
    text = '<tt><body><div>\n<p begin="1s" end="2s">one</p>\n<p begin="2s" end="3s">two</q>'
    assert [span[2] for span in spans(text)] == ["one", "two"]
    assert problems(text) == [
        "here.txt:3: the XML is broken here (mismatched tag); what follows is lost"
    ]


def test_lines_of_youtube_before_a_syntax_error_are_kept() -> None:
    text = '<timedtext><body><p t="1000" d="500">one</p><p t="2'
    assert spans(text) == [(1.0, 1.5, "one")]
    assert "the XML is broken here" in problems(text)[0]


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(InputError, match="nested too deeply"):
        parse("<tt>" + "<p>" * 100_000)


def test_other_xml() -> None:
    with pytest.raises(InputError, match=r"is XML \(<svg>\), but not captions"):
        parse("<svg/>")
    with pytest.raises(InputError, match="the XML is broken here"):
        parse("<<<")


def test_ttml_times() -> None:
    text = (
        '<?xml version="1.0" encoding="utf-16"?><tt xmlns="http://www.w3.org/ns/ttml" '
        'xmlns:ttp="http://www.w3.org/ns/ttml#parameter" ttp:frameRate="25" ttp:tickRate="10">'
        '<body begin="1s"><div>'
        '<p begin="0.5s" dur="500ms">a</p><p begin="50f" end="30t">b</p>'
        '<p begin="00:00:04:05" end="00:00:05.000">c<br/>d\n  e</p>'
        '<p begin="1m" end="0.02h">f</p></div></body></tt>'
    )
    assert spans(text) == [
        (1.5, 2.0, "a"),
        (3.0, 4.0, "b"),
        (5.2, 6.0, "c\nd e"),
        (61.0, 73.0, "f"),
    ]


def test_spans_of_ttml_timed_from_zero() -> None:
    text = (
        '<tt><body><div><p begin="10s" end="12s"><span begin="10s">one</span> '
        '<span begin="11s">two</span></p></div></body></tt>'
    )
    (line,) = parse(text).captions
    assert [(w.text, w.start, w.end) for w in line.words] == [
        ("one", 10.0, 11.0),
        ("two", 11.0, 12.0),
    ]


def test_fractional_frame_rates() -> None:
    text = '<tt frameRate="30" frameRateMultiplier="1000 1001"><p begin="30f" end="2s">a</p></tt>'
    assert spans(text) == [(pytest.approx(1.001), 2.0, "a")]


def test_a_paragraph_with_times_on_its_spans_only() -> None:
    text = '<tt><p><span begin="1s">one</span> <span begin="2s" end="3s">two</span></p></tt>'
    assert spans(text) == [(1.0, 3.0, "one two")]


def test_srv1_has_seconds() -> None:
    text = '<transcript><text start="1.5" dur="2">it&amp;#39;s on</text></transcript>'
    assert spans(text) == [(1.5, 3.5, "it&#39;s on")]


def test_lines_of_srv_inside_others_are_read_once() -> None:
    text = '<timedtext><p t="1000" d="9">one <p t="2000" d="9">two</p><s>three</s></p></timedtext>'
    assert spans(text) == [(1.0, 1.009, "one three"), (2.0, 2.009, "two")]
