"""Whatever narrators say and files are called, it stays text in every file that is written.

The same job is written twice, with harmless and with hostile text. The hostile text may change
what a cell, a title or a paragraph says, but never how many of them there are.
"""

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.parsers import expat

import pytest

from howsteps import captions
from howsteps.api import export
from howsteps.report.exports import TEXT_FORMATS
from howsteps.report.page import write_page
from howsteps.task import Result, Sentence, Video
from tests.report.job import tea

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><!-- ]]> &amp; &#x3c;",
    "=HYPERLINK(1)",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "pour --> 00:00:09.000\n\n7\n00:00:01.000 --> 00:00:02.000\nmore",
    "tea\n[CHAPTER]\nTIMEBASE=1/1\nSTART=0\ntitle=x;#\\",
    "tea\r* COMMENT: x\r\n002  AX       V     C",
    "{{ 7 * 7 }} {% raw %} ${7*7}",
    "../../../etc/passwd\0",
    "\x1b]0;owned\x07\u202etea\u2028\x85",
    "](javascript:alert(1)) # *x*",
)


def told(result: Result, text: str) -> Result:
    """The job with ``text`` in all untrusted fields."""
    names = {video.id: f"{video.id} {text}" for video in result.task.videos}

    def changed(video: Video) -> Video:
        sentences = tuple(
            Sentence(tuple(replace(word, text=f"{word.text} {text}") for word in s.words))
            for s in video.sentences
        )
        mentions = tuple(replace(m, video=names[m.video]) for m in video.mentions)
        title = f"{video.title} {text}"
        return replace(
            video, id=names[video.id], title=title, sentences=sentences, mentions=mentions
        )

    steps = tuple(
        replace(
            step,
            label=f"{text} {step.label}",
            examples=(text,),
            mentions=tuple(replace(m, video=names[m.video], phrase=text) for m in step.mentions),
        )
        for step in result.script.steps
    )
    task = replace(result.task, name=f"tea {text}", videos=tuple(map(changed, result.task.videos)))
    places = tuple(replace(place, video=names[place.video]) for place in result.localisations)
    return Result(task, replace(result.script, steps=steps), places)


@pytest.fixture(params=HOSTILE, ids=range(len(HOSTILE)))
def files(request, tmp_path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The exports of both, by format."""
    return written(tmp_path / "a", "harmless"), written(tmp_path / "b", request.param)


def written(folder: Path, text: str) -> dict[str, list[str]]:
    result = told(tea(videos=3), text)
    paths, _ = export(result, folder / "out", [*TEXT_FORMATS, "howto"])
    assert sorted(folder.iterdir()) == [folder / "out"]  # nothing was written beside it
    found: dict[str, list[str]] = {name: [] for name in (*TEXT_FORMATS, "howto")}
    for path in sorted(paths):
        content = path.read_bytes()
        assert b"\0" not in content
        assert b"\x1b" not in content
        found[path.relative_to(folder / "out").parts[0]].append(content.decode("utf-8"))
    return found


def test_subtitles_and_chapters_have_the_same_cues(files):
    for name in ("vtt", "srt"):
        for good, hostile in zip(*(found[name] for found in files), strict=True):
            times = [
                [
                    (line.start, line.end)
                    for line in captions.parse_captions(text.encode(), "x").captions
                ]
                for text in (good, hostile)
            ]
            assert times[0] == times[1]


@pytest.mark.parametrize("name", ["youtube", "edl"])
def test_line_based_formats_have_the_same_lines(files, name):
    for good, hostile in zip(*(found[name] for found in files), strict=True):
        assert len(good.splitlines()) == len(hostile.splitlines())
        # A line begins as it does without the text: no section, event or comment of its own.
        starts = [re.sub(r"[^0-9A-Z\[;*:=]+.*", "", line) for line in good.splitlines()]
        for start, line in zip(starts, hostile.splitlines(), strict=True):
            assert line.startswith(start)


def test_a_table_has_the_same_cells_and_no_formula(files):
    for good, hostile in zip(*(found["csv"] for found in files), strict=True):
        rows = [list(csv.reader(io.StringIO(text))) for text in (good, hostile)]
        assert [len(row) for row in rows[0]] == [len(row) for row in rows[1]]
        assert not any(cell[:1] in "=+-@\t\r" for row in rows[1] for cell in row if cell)


def elements(text: str) -> list[tuple[str, list[str]]]:
    """The elements of XML with their attributes' names; it must be well-formed."""
    found: list[tuple[str, list[str]]] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, given: found.append((name, sorted(given)))
    parser.Parse(text.encode(), True)
    return found


def test_xml_has_the_same_elements(files):
    for name in ("elan", "label-studio"):
        for good, hostile in zip(*(found[name] for found in files), strict=True):
            if good.startswith("<"):
                assert elements(good) == elements(hostile)


def shape(value: object) -> object:
    """The structure of a JSON value, without its texts."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    return [shape(inner) for inner in value] if isinstance(value, list) else type(value).__name__


def test_json_has_the_same_shape(files):
    for name in ("otio", "label-studio"):
        for good, hostile in zip(*(found[name] for found in files), strict=True):
            if good.startswith(("{", "[")):
                assert shape(json.loads(good)) == shape(json.loads(hostile))


def test_a_how_to_has_no_injected_markup(files):
    (printed, page), (hostile_print, hostile) = (found["howto"] for found in files)
    assert len(page.splitlines()) == len(hostile.splitlines())
    bare = re.sub(r"\\.", "", hostile)  # what is escaped is text
    assert {*re.findall(r"<\w+", bare)} <= {"<details", "<summary"}
    assert not re.search(r"\]\(|\n#+ .*\n#", bare)
    assert Tags(printed).found == Tags(hostile_print).found


class Tags(HTMLParser):
    """The tags of a page with their attributes' names."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(sorted(name for name, _ in attrs))))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_the_page_has_the_same_tags(tmp_path, text):
    good, hostile = (
        write_page(told(tea(videos=3), words), tmp_path / name).read_text("utf-8")
        for name, words in (("a", "harmless"), ("b", text))
    )
    assert Tags(good).found == Tags(hostile).found
