"""The live page in a real Chromium: edits, placement, thumbnails, a second page."""

import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page

from howsteps.store import read_result
from howsteps.task import BY_HAND
from tests.report.chromium import until
from tests.report.job import TEA, make_films, tea

from .conftest import Served, running, write_work

pytestmark = pytest.mark.browser
LABELS = [label.capitalize() for label, *_ in TEA[:5]]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open an address; errors and requests to other addresses fail the test."""
    contexts, trouble = [], []

    def opened(served: Served, *, width: int = 1280) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 800})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda said: said.type == "error" and trouble.append(said.text))
        near = (served.address, "data:", "blob:")
        page.on("request", lambda one: one.url.startswith(near) or trouble.append(one.url))
        page.goto(served.address)
        return page

    yield opened
    for context in contexts:
        context.close()
    # A page that outlives its server says so in its bar, and Chromium in its console.
    assert [one for one in trouble if "net::ERR_" not in one and "status of 400" not in one] == []


def key(page: Page, name: str):
    return page.locator(f"[data-key='{name}']")


def labels(page: Page) -> list[str]:
    return page.locator("textarea.label").evaluate_all("all => all.map(one => one.value)")


def placed(page: Page, served: Served) -> None:
    """Wait until all edits were sent, placed, and are shown."""
    until(page, "!document.querySelector('.state').textContent.includes('…')")
    served.until_placed()
    until(page, "!document.querySelector('.state').textContent.includes('…')")


def test_an_edit_is_placed_without_reload_or_scrolling(visit, served, work) -> None:
    page = visit(served)
    page.evaluate("window.same = true")
    page.locator("[data-key='label 3']").scroll_into_view_if_needed()
    page.evaluate("scrollBy({ top: 150, behavior: 'instant' })")
    before = page.evaluate("scrollY")
    key(page, "delete 2").click()
    key(page, "label 0").fill("Fetch water")
    key(page, "label 0").press("Enter")
    placed(page, served)
    until(page, "document.querySelectorAll('.grid tbody tr').length === 4")
    assert page.evaluate("window.same")
    assert abs(page.evaluate("scrollY") - before) < 60
    result = read_result(work)
    assert [step.label for step in result.script.steps][:2] == ["Fetch water", "boil the water"]
    shown = page.locator(".grid tbody tr").count() * page.locator(".grid thead th").count()
    assert shown == 4 * 6


def test_a_new_step_is_matched_with_mentions(visit, served) -> None:
    page = visit(served)
    key(page, "delete 1").click()
    key(page, "new").fill("Boil water")
    key(page, "after").select_option("1")
    key(page, "add").click()
    placed(page, served)
    support = len({m.video for m in tea(5, 5).script.steps[1].mentions})
    until(
        page,
        "text => document.querySelectorAll('.sheet li')[1].textContent.includes(text)",
        f"said in {support} of 5",
    )


def test_a_step_without_mentions_has_a_warning(visit, served) -> None:
    page = visit(served)
    assert page.locator(".warning").count() == 0
    key(page, "new").fill("juggle flamingos")
    key(page, "add").click()
    placed(page, served)
    until(page, "document.querySelectorAll('.warning').length === 1")
    card = page.locator(".sheet li").nth(5).inner_text()
    assert "No narrator mentions this step: its places are guesses." in card
    assert "No narrator mentions “Juggle flamingos”" in page.locator(".state").inner_text()


def test_on_a_phone_the_toolbar_covers_no_scroll_target(visit, served) -> None:
    page = visit(served, width=390)
    bar = page.locator("#editor").bounding_box()
    for name in ("delete 3", "add"):
        button = page.locator(f"[data-key='{name}']")
        button.evaluate("one => one.scrollIntoView({ block: 'end', behavior: 'instant' })")
        box = button.bounding_box()
        assert box["y"] + box["height"] <= bar["y"]
    page.locator("#grid").evaluate("one => one.scrollIntoView({ behavior: 'instant' })")
    page.locator("[data-view=grid]").evaluate(
        "one => one.scrollIntoView({ block: 'end', behavior: 'instant' })"
    )
    grid = page.locator("[data-view=grid]").bounding_box()
    head = page.locator("header.bar").bounding_box()
    assert head["y"] + head["height"] <= grid["y"] + 1
    assert grid["y"] + grid["height"] <= bar["y"]


def test_typed_text_survives_placement(visit, served) -> None:
    page = visit(served)
    key(page, "delete 0").click()
    key(page, "label 2").focus()
    page.keyboard.press("End")
    page.keyboard.type(" slow")
    placed(page, served)
    until(page, "document.querySelectorAll('.grid tbody tr').length === 4")
    page.wait_for_timeout(300)
    page.keyboard.type("ly")
    assert labels(page)[2] == f"{LABELS[3]} slowly"


def test_undo_works_after_a_reload(visit, served, work) -> None:
    page = visit(served)
    key(page, "delete 0").click()
    placed(page, served)
    page.reload()
    until(page, "document.querySelectorAll('textarea.label').length === 4")
    assert labels(page) == LABELS[1:]
    key(page, "undo").click()
    placed(page, served)
    until(page, "document.querySelectorAll('textarea.label').length === 5")
    assert labels(page) == LABELS
    key(page, "redo").click()
    placed(page, served)
    until(page, "document.querySelectorAll('textarea.label').length === 4")
    assert len(read_result(work).script.steps) == 4


def test_a_redo_after_a_reload_is_the_one_of_the_server(visit, served) -> None:
    page = visit(served)
    key(page, "delete 0").click()
    placed(page, served)
    page.reload()
    until(page, "document.querySelector('[data-key=undo]')?.title === 'Undo: deleted step 1'")
    key(page, "label 1").fill("Rinse the pot")
    key(page, "label 1").press("Enter")
    placed(page, served)
    for name in ("renamed step 2", "deleted step 1"):
        page.keyboard.press("ControlOrMeta+z")
        until(page, f"document.querySelector('#news').textContent === 'Undone: {name}.'")
    until(page, "document.querySelectorAll('textarea.label').length === 5")
    assert labels(page) == LABELS
    page.keyboard.press("ControlOrMeta+Shift+z")
    until(page, "document.querySelector('#news').textContent === 'Redone: deleted step 1.'")
    until(page, "document.querySelectorAll('textarea.label').length === 4")
    assert labels(page) == LABELS[1:]
    placed(page, served)


def test_an_undo_is_named(visit, served) -> None:
    page = visit(served)
    key(page, "label 2").fill("Rinse the pot")
    key(page, "label 2").press("Enter")
    assert page.evaluate("document.activeElement.dataset.key") == "label 2"
    placed(page, served)
    assert key(page, "undo").get_attribute("title") == "Undo: renamed step 3"
    page.reload()
    until(page, "document.querySelector('[data-key=undo]').title === 'Undo: renamed step 3'")
    key(page, "undo").click()
    until(page, "document.querySelector('#news').textContent === 'Undone: renamed step 3.'")


def test_a_name_is_kept_by_the_key_and_by_the_click_that_leave_its_field(visit, served) -> None:
    page = visit(served)
    key(page, "label 0").fill("Fetch water")
    key(page, "label 0").press("Tab")
    until(page, "document.querySelector(\"[data-key='label 0']\").defaultValue === 'Fetch water'")
    assert page.evaluate("document.activeElement.closest('.sheet li') !== null")
    key(page, "label 1").fill("Heat it")
    key(page, "delete 4").click()
    until(page, "document.querySelectorAll('textarea.label').length === 4")
    assert labels(page)[:2] == ["Fetch water", "Heat it"]
    placed(page, served)


def test_a_name_that_is_typed_while_the_page_is_redrawn_is_kept(visit, served) -> None:
    page = visit(served)
    key(page, "later 2").click()
    key(page, "label 0").fill("Fetch water")
    placed(page, served)
    assert key(page, "label 0").input_value() == "Fetch water"
    key(page, "label 0").press("Tab")
    until(page, "document.querySelector(\"[data-key='label 0']\").defaultValue === 'Fetch water'")
    placed(page, served)


def test_a_key_pressed_five_times_is_undone_at_once(visit, served, work) -> None:
    page = visit(served)
    key(page, "later 0").focus()
    for _ in range(4):
        page.keyboard.press("Enter")
    assert labels(page) == [*LABELS[1:], LABELS[0]]
    placed(page, served)
    key(page, "undo").click()
    until(
        page, "first => document.querySelector('[data-key=\"label 0\"]').value === first", LABELS[0]
    )
    assert labels(page) == LABELS
    placed(page, served)
    assert [step.label.capitalize() for step in read_result(work).script.steps] == LABELS


def test_splitting_shows_the_sentences_and_plays_them(visit, served) -> None:
    page = visit(served)
    key(page, "split 1").click()
    said = page.locator("#ask .said")
    assert said.first.inner_text().count("“") == 1
    said.first.locator("button").click()
    until(page, "document.getElementById('viewer').open")
    page.keyboard.press("Escape")
    until(page, "!document.getElementById('viewer').open")
    assert page.locator("#ask").is_visible()


def test_an_open_page_goes_on_after_a_restart(visit, work, start) -> None:
    with running(work) as before:
        page = visit(before)
        key(page, "delete 0").click()
        placed(page, before)
    until(page, "document.querySelector('.state').textContent.includes('has stopped')")
    again = start(work)
    assert again.address == before.address
    until(page, "!document.querySelector('.state').textContent.includes('has stopped')", seconds=30)
    key(page, "delete 0").click()
    placed(page, again)
    assert len(read_result(work).script.steps) == 3


def test_ctrl_z_undoes_a_delete_while_a_label_has_focus(visit, served) -> None:
    page = visit(served)
    key(page, "delete 1").click()
    placed(page, served)
    assert page.evaluate("document.activeElement.dataset.key") == "label 1"
    page.keyboard.type("x")
    page.keyboard.press("ControlOrMeta+z")  # what was typed goes first
    assert labels(page) == [LABELS[0], *LABELS[2:]]
    page.keyboard.press("ControlOrMeta+z")
    until(page, "document.querySelectorAll('textarea.label').length === 5")
    assert labels(page) == LABELS
    placed(page, served)
    page.keyboard.press("ControlOrMeta+Shift+z")
    until(page, "document.querySelectorAll('textarea.label').length === 4")


def test_a_mark_is_moved_by_keys_and_by_dragging(visit, served, work) -> None:
    page = visit(served)
    page.locator("#timelines").scroll_into_view_if_needed()
    mark = key(page, "mark 1 2")
    mark.wait_for()
    places = read_result(work).localisations
    before = next(p.time for p in places if (p.video, p.step) == ("Bo", 2))
    mark.focus()
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    assert page.evaluate("document.activeElement.dataset.key") == "mark 1 2"
    placed(page, served)
    [one] = [p for p in read_result(work).localisations if p.evidence == BY_HAND]
    assert one.time == pytest.approx(before + 2, abs=0.02)
    box = mark.bounding_box()
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 70, box["y"] + 8, steps=4)
    page.mouse.up()
    page.wait_for_timeout(200)
    placed(page, served)
    [one] = [p for p in read_result(work).localisations if p.evidence == BY_HAND]
    assert one.time > before + 3
    assert not page.locator("#viewer").is_visible()  # a drag is not a click


def test_the_player_says_where_a_step_is(visit, served, work) -> None:
    page = visit(served)
    page.locator(".grid button[data-video='0'][data-step='1']").click()
    page.locator(".transcript button").nth(3).click()
    key(page, "here").first.click()
    placed(page, served)
    [one] = [p for p in read_result(work).localisations if p.evidence == BY_HAND]
    assert one.time == pytest.approx(tea(5, 5).task.videos[0].sentences[3].start, abs=0.02)
    until(page, "document.querySelector('.where').textContent.includes('placed by hand')")
    key(page, "absent").first.click()
    placed(page, served)
    [one] = [p for p in read_result(work).localisations if p.evidence == BY_HAND]
    assert one.time is None
    key(page, "release").first.click()
    placed(page, served)
    assert not [p for p in read_result(work).localisations if p.evidence == BY_HAND]


def test_a_name_that_is_typed_while_the_server_stops_is_kept_in_its_field(
    visit, work, browser
) -> None:
    with running(work) as served:
        page = browser.new_page()
        page.goto(served.address)
        until(page, "document.querySelectorAll('textarea.label').length === 5")
        key(page, "label 2").fill("Rinse the pot")
    until(page, "document.querySelector('.state').textContent.includes('has stopped')")
    key(page, "label 2").press("Enter")
    assert key(page, "label 2").input_value() == "Rinse the pot"
    with running(work) as served:
        until(page, "!document.querySelector('.state').textContent.includes('has stopped')")
        key(page, "label 2").press("Enter")
        placed(page, served)
    page.close()
    assert read_result(work).steps[2].label == "Rinse the pot"


@pytest.mark.slow
def test_videos_are_served_by_number_and_thumbnails_follow_the_places(
    visit, start, tmp_path
) -> None:
    films = make_films(tmp_path / "films", 3, 3)
    work = write_work(tmp_path / "steps", tea(3, 3, media=films))
    served = start(work)
    page = visit(served)
    until(page, "document.querySelectorAll('.grid img').length > 0", seconds=90)
    status, headers, body = served.get("videos/0", range="bytes=0-99")
    assert (status, len(body), headers["accept-ranges"]) == (206, 100, "bytes")
    assert served.get("videos/0", range="bytes=99999999-")[0] == 416
    page.locator(".grid button[data-video='0'][data-step='1']").click()
    until(page, "document.querySelector('#viewer video').readyState >= 2")
    before = page.evaluate("document.querySelector('#viewer video').currentSrc")
    assert before.endswith("/videos/0")
    time.sleep(0.2)
    page.evaluate("document.querySelector('#viewer video').pause()")
    page.evaluate("document.querySelector('#viewer video').currentTime = 30")
    key(page, "here").first.click()
    placed(page, served)
    [one] = [p for p in read_result(work).localisations if p.evidence == BY_HAND]
    assert one.time == pytest.approx(30.0, abs=0.1)
    row = "document.querySelectorAll('.grid tbody tr')[1]"
    until(page, f"{row}.querySelector('img') !== null", seconds=90)


def test_a_new_step_goes_after_the_one_that_was_chosen_last(visit, served) -> None:
    page = visit(served)
    key(page, "optional 1").click()
    key(page, "new").fill("juggle flamingos")
    key(page, "add").click()
    placed(page, served)
    until(page, "document.querySelector('[data-key=\"label 2\"]').value === 'Juggle flamingos'")
    key(page, "new").fill("bow")
    key(page, "add").click()
    placed(page, served)
    until(page, "document.querySelector('[data-key=\"label 3\"]').value === 'Bow'")
    assert page.locator(".timeline .mark[data-step='3']").count() > 0  # it has places


def test_a_video_is_left_out_and_used_again_with_a_click(visit, served, work) -> None:
    page = visit(served)
    key(page, "delete 0").click()
    page.locator("#timelines").scroll_into_view_if_needed()
    page.get_by_role("button", name="Leave out: Bo makes tea").click()
    until(page, "document.querySelectorAll('#aside [data-id=Bo]').length === 1", seconds=30)
    assert page.evaluate("document.activeElement.dataset.key") == "undo"
    assert [each.video for each in read_result(work).set_aside] == ["Bo"]
    page.get_by_role("button", name="Use again: Bo makes tea").click()
    until(page, "document.querySelector('#aside') === null", seconds=30)
    assert "Bo" in read_result(work).by_video
    for video, step in ((4, 4), (5, 4), (5, 5)):  # back to before it was left out, then the step
        name = "step 1" if step == 5 else "“Bo makes tea”"
        undo = "document.querySelector(`[data-key='undo']`)"
        until(page, f"name => {undo}?.title.includes(name) ?? false", name)  # after it was loaded
        key(page, "undo").click()
        until(page, f"document.querySelectorAll('.timeline').length === {video}", seconds=30)
        until(page, f"document.querySelectorAll('textarea.label').length === {step}", seconds=30)
        placed(page, served)


def test_two_pages_follow_each_other(visit, served) -> None:
    first, second = visit(served), visit(served)
    for page, rows in ((first, 4), (second, 3)):
        key(page, "delete 0").click()
        for each in (first, second):
            until(each, f"document.querySelectorAll('.grid tbody tr').length === {rows}")
            assert each.locator("textarea.label").count() == rows


def test_an_export_is_written(visit, served, work) -> None:
    page = visit(served)
    key(page, "format").select_option("csv")
    key(page, "export").click()
    until(page, "document.querySelector('.state').textContent.includes('1 file in exports/csv')")
    assert (work / "exports" / "csv" / "steps.csv").is_file()


def test_the_page_says_why_nothing_can_be_undone(visit, start, work) -> None:
    with running(work) as served:
        served.edit(0, do={"op": "delete", "step": 0})
        served.until_placed()
    write_work(work, tea(6, 5))  # as a run with a new video does
    page = visit(start(work))
    until(page, "document.querySelector('.state').textContent.includes('edits-1.jsonl')")
    assert key(page, "undo").get_attribute("aria-disabled") == "true"
