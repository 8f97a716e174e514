"""Watching and comparing steps, and long names: problems that users had."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from statistics import fmean

import pytest

from howsteps.report.content import content, youtube_id
from howsteps.report.page import write_page
from howsteps.task import Mention, Sentence, Video, Word

from .chromium import until
from .job import tea, with_video
from .looking import cell, place, wait_to_play_from

pytestmark = pytest.mark.browser
LONG = "How to change a flat tire on the side of the road in the rain [dQw4w9WgXcQ]"


def short(job):
    """The job with steps of one second, so that playback ends soon."""
    return replace(
        job,
        localisations=tuple(
            p if p.time is None else replace(p, time=p.time, start=p.time, end=p.time + 1)
            for p in job.localisations
        ),
    )


def test_a_step_is_played_from_its_start_to_its_end_and_stops(visit, job, tmp_path) -> None:
    page = visit(write_page(short(job), tmp_path))
    cell(page, 0, 1).click()
    wait_to_play_from(page, place(short(job), 0, 1).start)
    until(page, "document.querySelector('#viewer video').paused")
    end = place(short(job), 0, 1).end
    assert end <= page.evaluate("document.querySelector('#viewer video').currentTime") < end + 1
    page.locator(".transcript").first.focus()
    page.keyboard.press("Space")  # on from there
    until(page, f"document.querySelector('#viewer video').currentTime > {end + 1.6}")


def test_a_step_can_be_looped(visit, job, tmp_path) -> None:
    page = visit(write_page(short(job), tmp_path))
    cell(page, 0, 1).click()
    page.keyboard.press("l")
    assert page.get_by_role("button", name="Loop").get_attribute("aria-pressed") == "true"
    start = place(short(job), 0, 1).start
    for _ in range(2):
        until(page, f"document.querySelector('#viewer video').currentTime > {start + 0.6}")
        until(page, f"document.querySelector('#viewer video').currentTime < {start + 0.4}")


def test_the_speed_of_playback_holds_for_every_video(visit, job, tmp_path) -> None:
    page = visit(write_page(job, tmp_path))
    cell(page, 0, 1).click()
    page.locator(".transcript").first.focus()
    page.keyboard.press(">")
    page.get_by_label("Speed").select_option("1.5")
    page.keyboard.press("Escape")
    cell(page, 1, 1).click()
    until(page, "document.querySelector('#viewer video').readyState > 0")
    assert page.evaluate("document.querySelector('#viewer video').playbackRate") == 1.5
    page.locator(".transcript").first.focus()
    page.keyboard.press("<")
    assert page.evaluate("document.querySelector('#viewer video').playbackRate") == 1.25


@pytest.mark.parametrize("height", [700, 844])
@pytest.mark.parametrize("filmed", [True, False])
def test_on_a_phone_two_videos_do_not_cover_one_another(
    visit, job, tmp_path, height, filmed
) -> None:
    shown = job if filmed else tea(3, 3)
    page = visit(write_page(shown, tmp_path), width=390, height=height)
    page.keyboard.press("c")
    page.wait_for_selector(".pane .axis")
    boxes = [
        page.locator(".pane").nth(side).locator(part).bounding_box()
        for side in (0, 1)
        for part in ((".screen", ".about") if filmed else (".about", ".transcript"))
    ]
    assert all(box["height"] > 20 for box in boxes)
    for above, below in pairwise(boxes):
        assert above["y"] + above["height"] <= below["y"] + 0.5


@pytest.mark.parametrize("videos", [2, 3])
def test_side_by_side_never_shows_one_video_twice(visit, tmp_path, videos) -> None:
    page = visit(write_page(tea(videos, 3), tmp_path))
    page.keyboard.press("c")
    panes = page.locator(".pane")

    def both() -> list[str]:
        return [panes.nth(side).get_attribute("data-video") for side in (0, 1)]

    for key in ("ArrowDown", "Shift+ArrowDown", "ArrowUp", "Shift+ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
        assert len(set(both())) == 2
    left, right = both()
    page.locator(".pane select").first.select_option(right)
    assert both() == [right, left]  # they changed places


def test_titles_differ_where_they_are_cut(visit, job, tmp_path) -> None:
    other = LONG.replace("rain [dQw4w9WgXcQ]", "snow, by night, and with a flat spare")
    shown = with_video(with_video(job, 0, title=LONG), 1, title=other)
    page = visit(write_page(shown, tmp_path))
    titles = page.locator(".timeline h3 .title").all_inner_texts()
    assert titles[:2] == ["…rain [dQw4w9WgXcQ]", "…snow, by night, and with a flat spare"]
    assert page.locator(".timeline h3 .title").first.get_attribute("title") == LONG
    alone = visit(write_page(with_video(job, 0, title=LONG), tmp_path / "b"))
    chosen = alone.locator(".pane select option").first.text_content()
    assert len(chosen) == 60
    assert chosen.endswith("4w9WgXcQ]")


# A video that is known on YouTube


def test_a_video_on_youtube_is_linked_at_the_step(visit, job, tmp_path) -> None:
    known = with_video(job, 0, youtube="dQw4w9WgXcQ")
    page = visit(write_page(known, tmp_path))
    cell(page, 0, 2).click()
    link = page.locator(".elsewhere").first
    start = int(place(job, 0, 2).start)
    assert link.get_attribute("href") == f"https://youtu.be/dQw4w9WgXcQ?t={start}"
    assert link.get_attribute("rel") == "noopener noreferrer"


def test_without_files_every_place_links_to_youtube(visit, tmp_path) -> None:
    known = with_video(tea(2, 3), 0, youtube="dQw4w9WgXcQ")
    page = visit(write_page(known, tmp_path))
    start = int(place(known, 0, 2).start)
    moment = f"https://youtu.be/dQw4w9WgXcQ?t={start}"
    links = {
        "the grid": page.locator(".grid tbody tr").nth(2).locator("td").first.locator("a"),
        "a card": page.locator(".sheet li").nth(2).locator("a"),
        "a timeline": page.locator(".timeline").first.locator("a.mark[data-step='2']"),
    }
    assert {name: one.get_attribute("href") for name, one in links.items()} == dict.fromkeys(
        links, moment
    )
    assert all(one.get_attribute("rel") == "noopener noreferrer" for one in links.values())
    # A video whose id is not known has no link, and its marks show its words.
    assert page.locator(".grid tbody tr").first.locator("td").nth(1).locator("a").count() == 0
    page.locator(".timeline").nth(1).locator("button.mark").first.click()
    assert page.locator("#viewer .mark").first.evaluate("one => one.tagName") == "BUTTON"


def test_texts_depend_on_what_can_be_played(visit, report, tmp_path) -> None:
    with_files = visit(report)
    assert "play the video" in with_files.locator("#grid .legend").inner_text()
    assert "of video" in with_files.locator(".facts").inner_text()
    words_alone = visit(write_page(tea(2, 3), tmp_path))
    words_alone.wait_for_selector("#words button")
    said = words_alone.locator("main, footer").all_inner_texts()
    assert not any("play" in text.lower() for text in said)
    assert not any("video file" in text for text in said)
    assert "read what is said" in said[0]
    words_alone.keyboard.press("?")
    assert "play" not in words_alone.locator("#help").inner_text()
    words_alone.keyboard.press("Escape")
    cell(words_alone, 0, 0).click()
    assert words_alone.get_by_role("button", name="Loop").count() == 0


def test_counts_on_the_page_say_what_they_count(visit, report, job) -> None:
    page = visit(report)
    placed = [p for p in job.localisations if p.time is not None]
    own = sum(p.video == "Ada" for p in placed)
    assert f"{own} of 5 steps placed" in page.locator(".timeline").first.inner_text()
    first = sum(p.step == 0 for p in placed)
    assert f"placed in {first} of 4 videos" in page.locator(".grid tbody th").first.inner_text()
    levels = Counter(p.level or "absent" for p in job.localisations if p.step == 0)
    bar = page.locator(".sheet li").first.locator(".tally")
    named = {"guess": "a guess"}
    assert {*bar.get_attribute("aria-label").split(", ")} == {
        f"{named.get(level, level)} in {number}" for level, number in levels.items()
    }
    for level in {p.level for p in placed}:
        right = fmean(p.confidence for p in placed if p.level == level)
        assert f"about {100 * right:.0f}% right" in page.locator(".kinds").inner_text()
    all_found = page.locator(".facts").inner_text()
    assert f"{len(placed)} of {len(job.localisations)}" in all_found


def test_an_invalid_youtube_id_is_not_linked(tmp_path) -> None:
    assert youtube_id(Video("a", youtube='x" onclick=1')) is None
    assert content(tea(1, 1), tmp_path, {})["videos"][0]["youtube"] is None


def test_the_grid_quotes_what_is_said_at_the_place(visit, tmp_path) -> None:
    job = tea(1, 3)
    video, [first, second, _] = job.task.videos[0], job.script.steps
    times = [place(job, 0, step).time for step in range(2)]
    # The first step is announced long before; the second one is only announced.
    said = [
        Mention(video.id, "fill", "kettle", "fill it later", 0.0, 1.0),
        Mention(video.id, "fill", "kettle", "fill it now", 97.0, 98.0),
        Mention(video.id, "boil", "water", "boil it later", 1.0, 2.0),
    ]
    job = with_video(
        replace(
            job,
            script=replace(
                job.script,
                steps=(
                    replace(first, mentions=tuple(said[:2])),
                    replace(second, mentions=(said[2],)),
                    job.script.steps[2],
                ),
            ),
            localisations=tuple(
                replace(p, time=p.time + 94.0, start=p.time + 92.0, end=p.time + 98.0)
                for p in job.localisations
            ),
        ),
        0,
        duration=200.0,
        mentions=tuple(said),
        sentences=(
            Sentence((Word("later", 0.0, 1.0),)),
            Sentence((Word("bubbles", times[1] + 93.0, times[1] + 94.0),)),
        ),
    )
    page = visit(write_page(job, tmp_path))
    assert cell(page, 0, 0).locator(".saying").inner_text() == "fill it now"
    assert cell(page, 0, 1).locator(".saying").inner_text() == "bubbles"


def test_a_step_that_others_mention_has_no_warning(visit, tmp_path) -> None:
    job = tea(1, 2)
    unsaid = [replace(step, mentions=()) for step in job.script.steps]
    steps = (replace(unsaid[0], learnt_from=7), unsaid[1])
    job = replace(job, script=replace(job.script, steps=steps))
    page = visit(write_page(job, tmp_path))
    cards = [page.locator(".card").nth(k).inner_text() for k in range(2)]
    assert "said in 0 of 1 video, and in 7 that it was learnt from" in cards[0]
    assert "No narrator" not in cards[0]
    assert "No narrator mentions this step" in cards[1]
