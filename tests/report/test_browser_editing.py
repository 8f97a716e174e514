"""Editing a page from disk: mouse, keyboard, phone; stored, and saved as text."""

from dataclasses import replace
from pathlib import Path

import pytest

from howsteps.report.page import write_page
from howsteps.script.text_form import parse_script_text

from .chromium import until
from .job import TEA, tea

pytestmark = pytest.mark.browser
LABELS = [label.capitalize() for label, *_ in TEA[:5]]


@pytest.fixture
def page(visit, tmp_path):
    opened = visit(write_page(tea(5, 5), tmp_path))
    opened.get_by_role("button", name="Edit", exact=True).click()
    return opened


def labels(page) -> list[str]:
    return page.locator("textarea.label").evaluate_all("all => all.map(one => one.value)")


def key(page, name: str):
    return page.locator(f"[data-key='{name}']")


def saved(page) -> str:
    with page.expect_download() as waited:
        key(page, "save").click()
    assert waited.value.suggested_filename == "script.md"
    return Path(waited.value.path()).read_text("utf-8")


def test_a_step_is_renamed_everywhere_at_once(page) -> None:
    key(page, "label 1").fill("Heat the water")
    key(page, "label 1").press("Enter")
    assert labels(page)[1] == "Heat the water"
    assert page.locator(".grid tbody th").nth(1).inner_text().startswith("2\nHeat the water")
    page.locator("#words").scroll_into_view_if_needed()
    page.wait_for_selector("table.words")
    assert "Heat the water" in page.locator("table.words thead").inner_text()
    assert "is now “Heat the water”" in page.locator("#news").inner_text()


@pytest.mark.parametrize("name", ["  ", "FILL the kettle"])
def test_an_invalid_name_is_refused_with_a_message(page, name) -> None:
    key(page, "label 1").fill(name)
    key(page, "label 1").press("Enter")
    assert labels(page) == LABELS
    reason = page.locator(".state").inner_text()
    assert reason.startswith(("A step needs", "There is already a step"))


def test_steps_are_moved_deleted_and_marked_and_undone(page) -> None:
    key(page, "later 0").click()
    assert labels(page)[:2] == [LABELS[1], LABELS[0]]
    key(page, "delete 4").click()
    key(page, "optional 0").click()
    assert page.locator(".sheet li").first.locator(".pill").inner_text() == "optional"
    assert len(labels(page)) == 4
    for _ in range(3):
        key(page, "undo").click()
    assert labels(page) == LABELS
    key(page, "redo").click()
    assert labels(page)[:2] == [LABELS[1], LABELS[0]]


def test_a_merged_step_has_both_mentions(page) -> None:
    result = tea(5, 5)
    both = {m.video for step in result.script.steps[1:3] for m in step.mentions}
    key(page, "merge 2").click()
    page.locator("#ask").get_by_role("button", name=LABELS[1]).click()
    assert labels(page) == [*LABELS[:2], *LABELS[3:]]
    card = page.locator(".sheet li").nth(1)
    assert f"said in {len(both)} of 5 videos" in card.inner_text()


def test_dragging_a_card_moves_it_and_dropping_it_on_another_merges(page) -> None:
    grip = page.locator(".sheet .badge")
    goal = page.locator(".sheet li").nth(2)
    width = goal.bounding_box()["width"]
    grip.nth(0).drag_to(goal, target_position={"x": width - 8, "y": 30})
    assert labels(page)[:3] == [LABELS[1], LABELS[2], LABELS[0]]
    grip.nth(0).drag_to(goal, target_position={"x": width / 2, "y": 20})
    assert labels(page) == [LABELS[2], LABELS[0], *LABELS[3:]]


def test_a_step_is_split_by_the_mentions_that_are_chosen(page) -> None:
    mentions = tea(5, 5).script.steps[0].mentions
    key(page, "split 0").click()
    page.locator("#ask summary").click()
    boxes = page.locator("#ask details input")
    assert boxes.count() == len(mentions)
    page.locator("#ask form > button").click()
    assert "needs a name" in page.locator("#ask [role=alert]").inner_text()
    page.locator("#ask .label").fill("Fetch water")
    page.locator("#ask form > button").click()
    assert "Choose some" in page.locator("#ask [role=alert]").inner_text()
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.locator("#ask form > button").click()
    assert labels(page)[:2] == [LABELS[0], "Fetch water"]
    assert "said in 2 of 5" in page.locator(".sheet li").nth(1).inner_text()


def test_the_script_is_saved_as_text_that_howsteps_reads(page, tmp_path) -> None:
    key(page, "new").fill("Put the tools away")
    key(page, "add").click()
    key(page, "optional 2").click()
    key(page, "delete 0").click()
    steps = parse_script_text(saved(page), tmp_path / "script.md")
    assert [step.label for step in steps] == [*LABELS[1:], "Put the tools away"]
    assert [step.optional for step in steps] == [False, True, False, False, False]
    assert steps[0].also == ("boil the water",)
    assert steps[-1].also == ()  # to be looked for


def test_edits_are_still_there_after_a_reload_until_they_are_discarded(page) -> None:
    key(page, "label 0").fill("<img src=x onerror=alert(1)>")
    key(page, "label 0").press("Enter")
    key(page, "delete 4").click()
    page.wait_for_timeout(300)  # Chromium hands on what it is to keep a moment later
    page.reload()
    assert labels(page) == ["<img src=x onerror=alert(1)>", *LABELS[1:4]]
    assert page.locator("img[src=x]").count() == 0
    assert "2 changes of your last visit" in page.locator(".state").inner_text()
    key(page, "discard").click()
    assert labels(page) == LABELS
    page.wait_for_timeout(300)
    page.reload()
    assert page.locator(".sheet h3 button").first.inner_text() == LABELS[0]


@pytest.mark.parametrize(
    "kept", ["{", "[]", '{"edits": 7}', '{"edits": [{"op": "delete", "step": 99}]}']
)
def test_invalid_stored_edits_are_ignored(visit, tmp_path, kept) -> None:
    page = visit(write_page(tea(5, 5), tmp_path))
    page.get_by_role("button", name="Edit", exact=True).click()
    key(page, "delete 0").click()
    page.evaluate(
        """kept => {
          const name = Object.keys(localStorage).find((key) => key.startsWith("howsteps-edits"));
          const { identity } = JSON.parse(localStorage.getItem(name));
          const value = kept.startsWith("{\\"edits") ? { identity, ...JSON.parse(kept) } : null;
          localStorage.setItem(name, value ? JSON.stringify(value) : kept);
        }""",
        kept,
    )
    page.wait_for_timeout(300)
    page.reload()
    assert page.locator(".sheet li h3").count() == 5


def test_the_edits_of_another_run_are_not_replayed(visit, tmp_path) -> None:
    page = visit(write_page(tea(5, 5), tmp_path))
    page.get_by_role("button", name="Edit", exact=True).click()
    key(page, "delete 0").click()
    page.wait_for_timeout(300)
    other = tea(5, 5)
    steps = tuple(replace(step, label=f"{step.label} now") for step in other.script.steps)
    write_page(replace(other, script=replace(other.script, steps=steps)), tmp_path)
    page.reload()
    assert page.locator(".sheet h3 button").first.inner_text() == "Fill the kettle now"


def test_everything_works_by_keyboard_alone(visit, tmp_path) -> None:
    page = visit(write_page(tea(5, 5), tmp_path))
    page.keyboard.press("e")
    until(page, "document.activeElement.dataset.key === 'undo'")

    def go_to(name: str) -> None:
        for _ in range(120):
            if page.evaluate("document.activeElement.dataset.key") == name:
                ring = "getComputedStyle(document.activeElement).outlineStyle"
                assert page.evaluate(ring) != "none"
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"Tab never comes to {name}")

    go_to("label 0")
    page.keyboard.press("Control+a")
    page.keyboard.type("Fetch water")
    page.keyboard.press("Enter")
    go_to("later 0")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.dataset.key") == "later 1"  # it goes along
    page.keyboard.press("Enter")
    assert labels(page)[:3] == [LABELS[1], LABELS[2], "Fetch water"]
    go_to("merge 3")
    page.keyboard.press("Enter")
    until(page, "document.getElementById('ask').open")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert labels(page) == [LABELS[1], LABELS[2], "Fetch water", LABELS[4]]
    go_to("split 0")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("Heat it")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    go_to("optional 0")
    page.keyboard.press("Space")
    go_to("delete 3")
    page.keyboard.press("Enter")
    go_to("new")
    page.keyboard.type("Rest")
    page.keyboard.press("Enter")
    assert labels(page)[-1] == "Rest"
    made = len(labels(page))
    page.locator("h1").click()
    page.keyboard.press("Control+z")
    assert len(labels(page)) == made - 1
    page.keyboard.press("Control+Shift+z")
    assert len(labels(page)) == made


def test_on_a_phone_editing_stays_inside_the_screen(visit, tmp_path) -> None:
    page = visit(write_page(tea(5, 5), tmp_path), width=390, height=844, has_touch=True)
    page.locator(".tools [data-action=edit]").tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    key(page, "later 0").tap()
    assert labels(page)[1] == LABELS[0]
    key(page, "split 1").tap()
    assert page.locator("#ask").evaluate("one => one.scrollWidth <= one.clientWidth")
    page.keyboard.press("Escape")
    for name in ("earlier 1", "delete 1", "undo", "save"):
        box = key(page, name).bounding_box()
        assert box["height"] >= 30
        assert box["x"] + box["width"] <= 390
