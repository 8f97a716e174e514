"""The page in a real browser: mouse, keyboard, small screens."""

from dataclasses import replace
from itertools import combinations, pairwise

import pytest

from howsteps.report.page import write_page
from howsteps.task import LEVELS, SetAside

from .chromium import until
from .job import tea, with_video
from .looking import absent_places, cell, place, wait_to_play_from

pytestmark = pytest.mark.browser

# Looking


def test_the_sheet_shows_every_step_with_its_support(visit, report, job) -> None:
    page = visit(report)
    cards = page.locator(".sheet li")
    assert cards.count() == 5
    assert "fill the kettle" in cards.first.inner_text().lower()
    said = job.script.steps[0].support
    assert f"said in {said} of 4 videos" in cards.first.inner_text()


def test_every_cell_has_a_frame_or_is_absent(visit, report, job) -> None:
    page = visit(report)
    absent = absent_places(job)
    assert absent  # or the test says nothing
    for video in range(4):
        for step in range(5):
            shown = cell(page, video, step)
            if (video, step) in absent:
                assert shown.locator("img").count() == 0
                assert "absent" in shown.inner_text()
            else:
                assert any(level in shown.inner_text() for level in LEVELS)
                shown.scroll_into_view_if_needed()
                until(
                    page,
                    "img => img.complete && img.naturalWidth === 320",
                    arg=shown.locator("img").element_handle(),
                )


def test_timelines_number_every_mark(visit, report, job) -> None:
    page = visit(report)
    page.locator("#timelines").scroll_into_view_if_needed()
    page.wait_for_selector(".timeline .mark")
    first = page.locator(".timeline").first
    found = [p for p in job.localisations if p.video == "Ada" and p.time is not None]
    assert first.locator(".mark").all_inner_texts() == [str(p.step + 1) for p in found]
    assert first.locator(".window").count() == len(job.task.videos[0].mentions)


def test_marks_close_together_do_not_cover_each_other(visit, job, tmp_path) -> None:
    close = tuple(
        replace(p, time=20 + 0.2 * p.step, start=None, end=None) for p in job.localisations
    )
    page = visit(write_page(replace(job, localisations=close), tmp_path))
    page.locator("#timelines").scroll_into_view_if_needed()
    marks = page.locator(".timeline").first.locator(".mark")
    marks.first.wait_for()
    boxes = [marks.nth(k).bounding_box() for k in range(3)]
    for above, below in pairwise(boxes):
        assert above["y"] + above["height"] <= below["y"]


def test_the_extent_of_a_guess_is_dashed(visit, job, tmp_path) -> None:
    mixed = tuple(
        replace(p, time=5 + 12 * p.step, confidence=0.2 if p.step % 2 else 0.9)
        for p in job.localisations
    )
    page = visit(write_page(replace(job, localisations=mixed), tmp_path))
    page.locator("#timelines").scroll_into_view_if_needed()
    page.wait_for_selector(".timeline .mark")
    blocks = page.locator(".timeline").first.locator(".block")
    styles = blocks.evaluate_all("all => all.map(one => getComputedStyle(one).borderTopStyle)")
    assert styles == ["solid", "dashed", "solid", "dashed", "solid"]


def test_phrases_are_in_the_column_of_their_step(visit, report, job) -> None:
    page = visit(report)
    page.locator("#words").scroll_into_view_if_needed()
    page.wait_for_selector("table.words")
    for number, step in enumerate(job.script.steps):
        column = page.locator(f"table.words button[data-step='{number}']")
        assert column.count() == len(step.mentions)


# Playing


@pytest.mark.parametrize(("video", "step"), [(0, 3), (1, 1)])
def test_clicking_a_frame_plays_the_video_there(visit, report, job, video, step) -> None:
    page = visit(report)
    cell(page, video, step).click()
    wait_to_play_from(page, place(job, video, step).start)
    assert page.locator("#viewer-title").inner_text().lower().endswith(job.script.steps[step].label)
    assert page.evaluate("!document.querySelector('#viewer video').paused")


def test_clicking_words_plays_them(visit, report, job) -> None:
    page = visit(report)
    page.locator("#words").scroll_into_view_if_needed()
    said = job.script.steps[2].mentions[0]
    page.locator("table.words button[data-step='2']").first.click()
    wait_to_play_from(page, said.start)


def test_the_current_sentence_is_marked(visit, report, job) -> None:
    page = visit(report)
    cell(page, 0, 2).click()
    wait_to_play_from(page, place(job, 0, 2).start)
    assert "warm the pot" in page.locator(".transcript [aria-current]").first.inner_text()


def test_an_absent_step_does_not_play(visit, report, job) -> None:
    page = visit(report)
    video, step = absent_places(job)[0]
    cell(page, video, step).click()
    assert page.locator("#viewer .notice").first.inner_text() == (
        f"Step {step + 1} is absent in this video."
    )
    assert page.evaluate("document.querySelector('#viewer video').paused")


# Side by side


def test_two_videos_step_through_the_same_steps(visit, report, job) -> None:
    page = visit(report)
    cell(page, 0, 0).click()
    page.get_by_role("button", name="Side by side").click()
    page.locator(".pane select").nth(1).select_option("1")
    for step in (1, 2):
        page.get_by_role("button", name="Next step").click()
        for pane in (0, 1):
            video = int(page.locator(".pane").nth(pane).get_attribute("data-video"))
            wait_to_play_from(page, place(job, video, step).start, pane)
        assert page.locator("#viewer").get_attribute("data-step") == str(step)


def test_keys_step_change_videos_and_pause(visit, report) -> None:
    page = visit(report)
    page.keyboard.press("c")
    page.wait_for_selector("#viewer.pair")
    left, right = (page.locator(".pane").nth(side) for side in (0, 1))
    before = left.get_attribute("data-video"), right.get_attribute("data-video")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#viewer").get_attribute("data-step") == "1"
    page.keyboard.press("ArrowDown")
    assert left.get_attribute("data-video") != before[0]
    assert right.get_attribute("data-video") == before[1]
    page.keyboard.press("Shift+ArrowDown")
    assert right.get_attribute("data-video") != before[1]
    page.locator(".transcript").first.focus()
    page.evaluate("document.querySelectorAll('#viewer video').forEach(v => v.pause())")
    page.keyboard.press("Space")
    until(page, "!document.querySelector('#viewer video').paused")
    page.keyboard.press("Escape")
    assert not page.locator("#viewer").is_visible()
    until(page, "document.querySelector('#viewer video').paused")


# Searching


def test_search_finds_steps_and_words_said(visit, report, job) -> None:
    page = visit(report)
    page.keyboard.press("/")
    page.keyboard.type("KETTLE")
    options = page.locator("#results [role=option]")
    sentences = [s for v in job.task.videos for s in v.sentences if "kettle" in s.text]
    assert options.count() == 1 + len(sentences)
    assert options.first.locator("mark").inner_text().lower() == "kettle"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_to_play_from(page, sentences[0].start)
    assert not page.locator("#results").is_visible()


def test_search_finds_a_step_by_what_is_said_in_it_and_titles(visit, report, job) -> None:
    page = visit(report)
    options = page.locator("#results [role=option]")
    page.locator("#search").fill("fresh")  # "first fill the kettle with fresh water"
    said = job.script.steps[0].support
    assert options.first.inner_text().split("\n") == [
        "1",
        "Fill the kettle",
        f"said in {count(said)}",
    ]
    assert options.count() == 1 + said
    assert "Ada makes tea" in options.nth(1).inner_text()
    assert options.nth(1).locator(".badge").inner_text() == "1"
    page.locator("#search").fill("bo makes")
    assert options.all_inner_texts() == ["Bo makes tea"]
    page.keyboard.press("Enter")
    assert page.locator("#viewer .pane").first.get_attribute("data-video") == "1"


def count(number: int) -> str:
    return f"{number} video{'s' * (number != 1)}"


# Which videos are used


def test_set_aside_videos_come_back_with_one_command(visit, job, tmp_path) -> None:
    others = [SetAside("it's", "Tie a knot", "says 'rope'"), SetAside("b", "Bee", "left out")]
    page = visit(write_page(replace(job, set_aside=tuple(others)), tmp_path))
    assert "2 of 6 videos set aside" in page.locator(".hero").inner_text()
    command = page.locator(".choice code")
    page.get_by_role("button", name="Use again: Tie a knot").click()
    assert command.inner_text() == r"howsteps run VIDEOS --out WORK '--keep=it'\''s'"
    page.get_by_role("button", name="Use again: Tie a knot").click()
    assert not command.is_visible()
    page.get_by_role("button", name="Use again: Bee").click()
    page.get_by_role("button", name="Leave out: Ada makes tea").click()
    assert command.inner_text() == "howsteps run VIDEOS --out WORK --keep=b --drop=Ada"
    page.get_by_role("button", name="Clear").click()
    assert page.locator("[aria-pressed=true].choose").count() == 0


# Keys, screen readers, themes, paper


def test_no_row_of_the_grid_is_hidden_in_a_box(visit, tmp_path) -> None:
    page = visit(write_page(tea(12, 15), tmp_path))
    box = page.locator("[data-view=grid]")
    assert box.evaluate("one => one.scrollHeight <= one.clientHeight")
    box.evaluate("one => one.scrollLeft = 300")
    page.locator(".grid tbody tr").last.scroll_into_view_if_needed()
    until(page, "document.querySelector('[data-view=heads]').scrollLeft === 300")
    title, place = page.locator(".heads .title").nth(4), cell(page, 4, 14)
    assert abs(title.bounding_box()["x"] - place.bounding_box()["x"]) < 1
    bar, head = page.locator(".bar").bounding_box(), title.bounding_box()
    assert bar["height"] <= head["y"] < place.bounding_box()["y"]


def test_the_grid_is_one_tab_stop_with_arrow_keys(visit, report, job) -> None:
    page = visit(report)
    assert page.locator(".grid button[tabindex='0']").count() == 1
    cell(page, 0, 0).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    wait_to_play_from(page, place(job, 0, 1).start)
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.step") == "1"  # back where one was


def test_the_phrases_are_one_tab_stop_with_arrow_keys(visit, job, tmp_path) -> None:
    first, *others = job.script.steps
    again = replace(first.mentions[0], start=50.0, end=51.0)
    step = replace(first, mentions=(*first.mentions, again))
    said = (*job.task.videos[0].mentions, again)
    job = with_video(
        replace(job, script=replace(job.script, steps=(step, *others))), 0, mentions=said
    )
    page = visit(write_page(job, tmp_path))
    page.locator("#words").scroll_into_view_if_needed()
    page.wait_for_selector("table.words")
    named = page.locator(f"table.words tr:has-text('{again.video}') button[data-step='0']")
    assert named.count() == 2
    assert page.locator("table.words button[tabindex='0']").count() == 1
    assert page.locator("table.words button:not([tabindex])").count() == 0
    named.first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.time") == "50"


def test_controls_have_names_and_images_alt_text(visit, report) -> None:
    page = visit(report)
    page.locator("#words").scroll_into_view_if_needed()
    page.wait_for_selector("table.words")
    cell(page, 0, 0).click()
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, select, input')].filter(one => "
        "!(one.ariaLabel || one.textContent.trim() || one.labels?.length)).length"
    )
    assert nameless == 0
    assert page.locator("img:not([alt])").count() == 0
    assert "said here" in cell(page, 0, 0).get_attribute("aria-label")


def test_the_theme_follows_the_system_until_chosen(visit, report) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    page = visit(report, color_scheme="dark")
    dark = page.evaluate(paper)
    page.keyboard.press("t")
    light = page.evaluate(paper)
    assert dark != light
    page.wait_for_timeout(300)  # Chromium hands on what it is to keep a moment later
    page.reload()
    assert page.evaluate(paper) == light


@pytest.mark.parametrize("width", [320, 390, 768, 1024])
def test_the_page_fits_every_screen(visit, report, width) -> None:
    page = visit(report, width=width, height=800)
    parts = page.locator(".bar nav a, .bar .search, .bar .tools button, .brand")
    boxes = [box for box in (part.bounding_box() for part in parts.all()) if box]
    for a, b in combinations(boxes, 2):  # nothing in the head covers anything else
        is_beside = a["x"] + a["width"] <= b["x"] + 0.5 or b["x"] + b["width"] <= a["x"] + 0.5
        is_below = a["y"] + a["height"] <= b["y"] + 0.5 or b["y"] + b["height"] <= a["y"] + 0.5
        assert is_beside or is_below
    page.locator("#search").fill("pot")
    boxes.append(results := page.locator("#results").bounding_box())
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
    field = page.locator("#search").bounding_box()
    assert results["y"] >= field["y"] + field["height"]
    page.keyboard.press("Escape")
    page.locator("#words").scroll_into_view_if_needed()
    page.wait_for_selector("table.words")
    cell(page, 0, 0).click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#viewer").evaluate("one => one.scrollWidth <= innerWidth")


def test_print_has_the_sheet_and_the_timelines(visit, tmp_path) -> None:
    page = visit(write_page(tea(130, 3), tmp_path))  # so many that few are built before
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".sheet li").first.is_visible()
    assert page.locator(".timeline").nth(99).locator(".mark").first.is_visible()
    for part in (".bar", "#grid", "#words"):
        assert not page.locator(part).is_visible()
    page.locator(".card button").first.focus()
    ring = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(ring) == "none"
