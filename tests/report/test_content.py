"""The content of the page agrees with the result."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations, pairwise
from math import dist
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlparse

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from playwright.sync_api import Browser

from howsteps.report import content as content_module
from howsteps.report.agreed import Narrations
from howsteps.report.content import (
    address,
    capitalised,
    content,
    markdown,
    one_line,
    title_of,
)
from howsteps.report.page import render
from howsteps.task import Localisation, Result, Script, Step, Task, Video

from .job import tea


def shown(result: Result, thumbnails=None) -> dict:
    return content(result, Path("out"), thumbnails or {})


def island(page: bytes) -> dict:
    """The content after a round trip through JSON."""
    text = page.decode()
    start = text.index('id="content">') + len('id="content">')
    return json.loads(text[start : text.index("</script", start)])


@pytest.fixture
def counted(browser: Browser) -> Callable[..., list[dict]]:
    """The steps of a result as the page counts them."""
    program = (Path(content_module.__file__).parent / "parts" / "edits.js").read_text("utf-8")

    def count(result: Result, thumbnails=None) -> list[dict]:
        page = browser.new_page()
        script = f"content => {{ {program}; return withCounts(content).steps; }}"
        steps = page.evaluate(script, shown(result, thumbnails))
        page.close()
        return steps

    return count


@pytest.mark.browser
def test_counts_of_a_step_add_up(counted) -> None:
    result = tea(9, 5)
    for k, step in enumerate(counted(result)):
        column = [p.time for p in result.localisations if p.step == k]
        assert step["found"] == sum(time is not None for time in column)
        assert step["found"] + step["absent"] == 9
        assert step["said"] == result.script.steps[k].support


def test_videos_with_the_same_title_are_numbered() -> None:
    result = tea(4, 1)
    titles = ("Tea", "", "Tea", "How I make tea")
    videos = [replace(v, title=t) for v, t in zip(result.task.videos, titles, strict=True)]
    named = shown(replace(result, task=replace(result.task, videos=tuple(videos))))["videos"]
    ids = [video.id for video in videos]
    assert [video["title"] for video in named] == ["Tea (1)", ids[1], "Tea (2)", "How I make tea"]


def test_the_quote_of_a_step_is_that_of_its_how_to() -> None:
    result = tea(4, 3)
    narrations = Narrations(result)
    steps = shown(result)["steps"]
    assert [step["example"] for step in steps] == [
        narrations.told(k).quotes[0].text for k in range(3)
    ]
    # Of a result without sentences, an example that is stored.
    silent = [replace(video, sentences=()) for video in result.task.videos]
    script = replace(result.script, steps=tuple(replace(s, examples=("so",)) for s in result.steps))
    plain = replace(result, task=replace(result.task, videos=tuple(silent)), script=script)
    assert [step["example"] for step in shown(plain)["steps"]] == ["so"] * 3


@pytest.mark.browser
def test_the_sheet_shows_the_most_confident_place_with_a_thumbnail(counted) -> None:
    result = tea(4, 1)
    by_sureness = sorted(result.localisations, key=lambda p: -p.confidence)
    names = [video.id for video in result.task.videos]
    [step] = counted(result)
    assert step["best"] == names.index(by_sureness[0].video)
    second = by_sureness[1].video
    [step] = counted(result, {(second, 0): "a.webp"})
    assert (step["best"], step["thumbnail"]) == (names.index(second), "a.webp")


@pytest.mark.browser
def test_a_step_without_a_place_is_played_at_its_mention(counted) -> None:
    result = replace(tea(4, 3), localisations=())
    names = [video.id for video in result.task.videos]
    for told, step in zip(counted(result), result.script.steps, strict=True):
        assert told["best"] == names.index(step.mentions[0].video)
    silent = replace(result.script, steps=(Step("wait", ()),))
    assert counted(replace(result, script=silent))[0]["best"] is None


def test_a_step_that_was_not_localised_is_not_called_absent() -> None:
    result = replace(tea(2, 2), localisations=(Localisation("Ada", 0, None),))
    ada, bo = shown(result)["videos"]
    assert ada["places"] == [{"time": None}, None]
    assert bo["places"] == [None, None]


def test_every_mention_is_shown_once_with_its_step() -> None:
    result = tea(3, 4)
    stray = replace(result.task.videos[0].mentions[0], verb="greet", noun="viewer", start=0.5)
    first = replace(result.task.videos[0], mentions=(*result.task.videos[0].mentions, stray))
    videos = (first, *result.task.videos[1:])
    result = replace(result, task=Task("Tea", videos))
    for video, told in zip(videos, shown(result)["videos"], strict=True):
        assert len(told["mentions"]) == len(video.mentions)
        assert [m["start"] for m in told["mentions"]] == sorted(
            m["start"] for m in told["mentions"]
        )
    assert shown(result)["videos"][0]["mentions"][0]["step"] == -1


@pytest.mark.parametrize(
    ("media", "expected"),
    [
        ("/job/out/a.mp4", "a.mp4"),
        ("/job/out/videos/a b#1.mp4", "videos/a%20b%231.mp4"),
        ("/job/videos/100%.mp4", "../videos/100%25.mp4"),
        ("/a.mp4", "../../a.mp4"),
    ],
)
def test_a_video_close_to_the_page_is_linked_by_a_relative_path(media, expected) -> None:
    assert address(Path(media), Path("/job/out")) == expected


def test_a_distant_video_is_linked_by_a_file_uri() -> None:
    link = address(Path("/films/a b.mp4"), Path("/home/me/job/out"))
    assert unquote(urlparse(link).path) == "/films/a b.mp4"
    assert link.startswith("file:///")


def test_a_colon_in_a_name_is_not_taken_for_a_protocol() -> None:
    assert address(Path("/out/data:x.mp4"), Path("/out")) == "data%3Ax.mp4"


@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_text_is_unchanged(text: str) -> None:
    result = Result(Task(text, (Video(text, title=text),)), Script((Step(text, ()),)), ())
    told = island(render(shown(result)))
    assert told["task"] == text
    assert told["steps"][0]["label"] == capitalised(text)
    assert told["videos"][0]["id"] == text


@pytest.mark.browser
def test_the_step_is_shown_in_a_video_that_can_be_watched(counted) -> None:
    result = tea(4, 3)
    surest = [
        max(result.localisations, key=lambda p: (p.step == k, p.confidence)) for k in range(3)
    ]
    other = next(v for v in result.task.videos if v.id not in {p.video for p in surest[:1]})
    videos = tuple(
        replace(v, youtube="dQw4w9WgXcQ") if v.id == other.id else v for v in result.task.videos
    )
    result = replace(result, task=replace(result.task, videos=videos))
    assert videos[counted(result)[0]["best"]].id == other.id
    told = shown(result)
    assert (told["filmed"], told["playable"], told["linked"]) == (False, False, True)


class Colour(NamedTuple):
    """A fill colour, and that of the text on it."""

    fill: str
    ink: str


STYLE = (Path(content_module.__file__).parent / "parts" / "colours.css").read_text("utf-8")
STEP_COLOURS = [Colour(*both) for both in re.findall(r"fill: (#\w+); --ink-on: (#\w+)", STYLE)]


def contrast(first: str, second: str) -> float:
    """Contrast of two colours as WCAG 2 defines it, from 1 (none) to 21 (black on white).

    (L₁ + 0.05) / (L₂ + 0.05), with the relative luminance L₁ ≥ L₂ of the two.
    """
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    """0.2126 R + 0.7152 G + 0.0722 B, with linearised sRGB channels."""
    weights = (0.2126, 0.7152, 0.0722)
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return sum(
        weight * (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)
        for weight, value in zip(weights, channels, strict=True)
    )


@pytest.mark.parametrize("colour", STEP_COLOURS)
def test_numbers_are_readable_on_their_colour(colour) -> None:
    assert contrast(colour.fill, colour.ink) >= 4.5  # WCAG AA


def test_any_two_colours_differ_to_the_eye() -> None:
    seen = [_oklab(colour.fill) for colour in STEP_COLOURS]
    assert len(seen) == 20
    assert min(dist(one, other) for one, other in combinations(seen, 2)) > 0.1


@pytest.mark.parametrize("paper", ["#fbfaf7", "#121314"])
def test_every_colour_differs_from_light_and_dark_paper(paper: str) -> None:
    assert min(dist(_oklab(colour.fill), _oklab(paper)) for colour in STEP_COLOURS) > 0.15


def _oklab(colour: str) -> list[float]:
    """Lightness and opponent colours in which distances are about as they are seen (Ottosson)."""
    channels = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    cones = [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]]
    axes = [[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]]
    return (axes @ np.cbrt(cones @ linear)).tolist()


def test_neighbouring_steps_differ_in_lightness_too() -> None:
    repeated = (*STEP_COLOURS, STEP_COLOURS[0])
    assert min(contrast(one.fill, two.fill) for one, two in pairwise(repeated)) > 1.5


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
    assert read(f"* “{markdown(text)}”") == (["ul", "li"], f"“{shown}”")
    assert read(f"Seen in *{markdown(text)}* at 0:10.")[0][:1] == ["p"]
