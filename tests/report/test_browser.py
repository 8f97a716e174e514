"""The page as people meet it: in a real browser, with a mouse, keys and a small screen."""

import shutil
from dataclasses import replace
from itertools import pairwise

import pytest

from howsteps.report import write_page
from howsteps.task import Script, Task

from .chromium import until
from .job import tea, with_video

NEAR = 1.5  # seconds that a film may have played on before we look


def player_time(page, pane: int = 0) -> float:
    until(page, "n => document.querySelectorAll('#viewer video')[n].currentTime > 0", arg=pane)
    return page.locator("#viewer video").nth(pane).evaluate("video => video.currentTime")


def place(result, video: int, step: int):
    name = result.task.videos[video].id
    return next(p for p in result.localisations if (p.video, p.step) == (name, step))


def cell(page, video: int, step: int):
    return page.locator(f".grid button[data-video='{video}'][data-step='{step}']")


def absent_places(result) -> list[tuple[int, int]]:
    names = [video.id for video in result.task.videos]
    return [(names.index(p.video), p.step) for p in result.localisations if p.time is None]


# Looking


def test_the_sheet_tells_every_step_with_its_support(visit, report, job) -> None:
    page = visit(report)
    cards = page.locator(".sheet li")
    assert cards.count() == 5
    assert "fill the kettle" in cards.first.inner_text().lower()
    said = job.script.steps[0].support
    assert f"said in {said} of 4 videos" in cards.first.inner_text()


def test_every_step_of_every_video_is_a_frame_or_said_to_be_absent(visit, report, job) -> None:
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
                assert "% sure" in shown.inner_text()
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
    page = visit(write_page(replace(job, localisations=close), tmp_path, pictures=False))
    page.locator("#timelines").scroll_into_view_if_needed()
    marks = page.locator(".timeline").first.locator(".mark")
    marks.first.wait_for()
    boxes = [marks.nth(k).bounding_box() for k in range(3)]
    for above, below in pairwise(boxes):
        assert above["y"] + above["height"] <= below["y"]


def test_words_stand_in_the_column_of_their_step(visit, report, job) -> None:
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
    assert 0 <= player_time(page) - place(job, video, step).time < NEAR
    assert page.locator("#viewer-title").inner_text().lower().endswith(job.script.steps[step].label)
    assert page.evaluate("!document.querySelector('#viewer video').paused")


def test_clicking_words_plays_them(visit, report, job) -> None:
    page = visit(report)
    page.locator("#words").scroll_into_view_if_needed()
    said = job.script.steps[2].mentions[0]
    page.locator("table.words button[data-step='2']").first.click()
    assert 0 <= player_time(page) - said.start < NEAR


def test_clicking_a_mark_on_a_timeline_plays_that_step(visit, report, job) -> None:
    page = visit(report)
    page.locator("#timelines").scroll_into_view_if_needed()
    page.locator(".timeline .mark[data-video='1'][data-step='4']").click()
    assert 0 <= player_time(page) - place(job, 1, 4).time < NEAR


def test_the_sentence_being_said_is_marked(visit, report) -> None:
    page = visit(report)
    cell(page, 0, 2).click()
    player_time(page)
    assert "warm the pot" in page.locator(".transcript [aria-current]").first.inner_text()


def test_an_absent_step_is_said_to_be_absent_and_nothing_plays(visit, report, job) -> None:
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
            until(
                page,
                "([n, time]) => Math.abs(document.querySelectorAll('#viewer video')[n].currentTime"
                " - time) < 1.5",
                arg=[pane, place(job, video, step).time],
            )
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
    assert page.evaluate("document.querySelector('#viewer video').paused")


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
    assert 0 <= player_time(page) - sentences[0].start < NEAR
    assert not page.locator("#results").is_visible()


def test_a_search_for_nothing_known_says_so(visit, report) -> None:
    page = visit(report)
    page.locator("#search").fill("zeppelin")
    assert "No step and no sentence" in page.locator("#results").inner_text()
    page.locator("#search").press("Escape")
    assert not page.locator("#results").is_visible()


# Keys, screen readers, themes, paper


def test_the_grid_is_one_stop_and_arrows_walk_in_it(visit, report, job) -> None:
    page = visit(report)
    assert page.locator(".grid button[tabindex='0']").count() == 1
    cell(page, 0, 0).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert 0 <= player_time(page) - place(job, 0, 1).time < NEAR
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.step") == "1"  # back where one was


def test_everything_to_press_has_a_name_and_every_picture_a_text(visit, report) -> None:
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
    assert "confidence" in cell(page, 0, 0).get_attribute("aria-label")


def test_help_lists_the_keys(visit, report) -> None:
    page = visit(report)
    page.keyboard.press("?")
    assert "side by side" in page.locator("#help").inner_text()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


def test_dark_follows_the_system_until_somebody_chooses(visit, report) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    page = visit(report, color_scheme="dark")
    dark = page.evaluate(paper)
    page.keyboard.press("t")
    light = page.evaluate(paper)
    assert dark != light
    page.reload()
    assert page.evaluate(paper) == light


def test_nothing_glides_where_the_system_asks_for_less_motion(visit, report) -> None:
    glide = "getComputedStyle(document.documentElement).scrollBehavior"
    assert visit(report).evaluate(glide) == "smooth"
    assert visit(report, reduced_motion="reduce").evaluate(glide) == "auto"


@pytest.mark.parametrize("width", [320, 390, 768])
def test_small_screens_never_scroll_sideways(visit, report, width) -> None:
    page = visit(report, width=width, height=800)
    page.locator("#words").scroll_into_view_if_needed()
    page.wait_for_selector("table.words")
    cell(page, 0, 0).click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#viewer").evaluate("one => one.scrollWidth <= innerWidth")


def test_paper_gets_the_sheet_alone(visit, report) -> None:
    page = visit(report)
    page.emulate_media(media="print")
    assert page.locator(".sheet li").first.is_visible()
    for part in (".bar", "#grid", "#timelines", "#words"):
        assert not page.locator(part).is_visible()


# Trouble


HOSTILE = (
    "</script><script>window.hurt=1</script>",
    "<img src=x onerror='window.hurt=1'>",
    "\"'`${window.hurt=1}`'\" & &lt;b&gt; {{ 7*7 }}",
    "\u202eright to left\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "emoji 👩🏽‍🔧🔧 and \u2028 line \ud83d half <!--",
)


def test_hostile_words_are_shown_as_text(visit, films, tmp_path) -> None:
    result = tea(3, 5, media=films)
    steps = tuple(
        replace(
            step,
            label=text,
            examples=(text,),
            mentions=tuple(replace(m, phrase=text) for m in step.mentions),
        )
        for step, text in zip(result.script.steps, HOSTILE, strict=True)
    )
    spoken = result.task.videos[0].sentences[0]
    bad = replace(spoken, words=tuple(replace(spoken.words[0], text=text) for text in HOSTILE))
    result = with_video(result, 0, title=HOSTILE[0], sentences=(bad,))
    result = replace(result, script=Script(steps), task=replace(result.task, name=HOSTILE[0]))
    page = visit(write_page(result, tmp_path, pictures=False))
    page.locator("#words").scroll_into_view_if_needed()
    page.wait_for_selector("table.words")
    page.locator("#search").fill("<script>")
    assert HOSTILE[0] in page.locator("#results").inner_text()
    page.locator("#search").press("Escape")
    cell(page, 0, 0).click()
    assert page.locator("h1").inner_text() == HOSTILE[0]
    assert page.title().startswith(HOSTILE[0])
    labels = page.locator(".grid tbody th .name [dir]").all_text_contents()
    assert labels[:4] == list(HOSTILE[:4])
    assert labels[4].startswith("emoji 👩🏽‍🔧🔧 and ")
    assert HOSTILE[0] in page.locator(".transcript").first.text_content()
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("script").count() == 2  # its words and its program
    assert page.evaluate("window.hurt") is None


def test_no_foreign_program_could_run_on_the_page(browser, report) -> None:
    page = browser.new_page()
    page.goto(report.as_uri())
    answer = page.evaluate(
        """() => new Promise((done) => {
          document.addEventListener("securitypolicyviolation", () => done("refused"));
          const bad = document.createElement("img");
          bad.setAttribute("onerror", "window.hurt = 1");
          bad.src = "data:,x";
          document.body.append(bad);
        })"""
    )
    assert answer == "refused"
    assert page.evaluate("window.hurt") is None
    page.close()


def test_a_video_that_went_away_leaves_its_picture_and_a_line(visit, films, tmp_path) -> None:
    media = {name: tmp_path / path.name for name, path in films.items()}
    for name, path in films.items():
        shutil.copy(path, media[name])
    result = tea(4, 5, media=media)
    write_page(result, tmp_path)
    media["Ada"].unlink()
    page = visit(write_page(result, tmp_path))
    cell(page, 0, 1).click()
    assert "“Ada.mp4” was not found" in page.locator("#viewer .notice").first.inner_text()
    assert page.locator("#viewer video").first.is_hidden()
    assert page.locator("#viewer .still img").first.is_visible()
    page.keyboard.press("ArrowDown")
    assert page.locator("#viewer video").first.is_visible()


def test_a_narration_without_a_video_has_a_drawn_place_and_a_line(visit, tmp_path) -> None:
    page = visit(write_page(tea(2, 3), tmp_path))
    assert cell(page, 0, 0).locator(".drawn").is_visible()
    cell(page, 0, 0).click()
    assert "only its words" in page.locator("#viewer .notice").first.inner_text()


def test_a_moved_folder_works_as_before(visit, films, tmp_path) -> None:
    home = tmp_path / "here"
    (home / "my videos").mkdir(parents=True)
    media = {}
    for name, path in films.items():
        media[name] = home / "my videos" / f"{name} #1 50%?.mp4"
        shutil.copy(path, media[name])
    result = tea(4, 5, media=media)
    write_page(result, home / "out")
    shutil.move(home, tmp_path / "there")
    page = visit(tmp_path / "there" / "out" / "report.html")
    until(page, "document.querySelector('.sheet img').naturalWidth > 0")
    cell(page, 0, 3).click()
    assert 0 <= player_time(page) - place(result, 0, 3).time < NEAR


def test_without_places_a_click_plays_where_the_step_is_named(visit, job, tmp_path) -> None:
    page = visit(write_page(replace(job, localisations=()), tmp_path))
    assert "not placed in the videos yet" in page.locator("#grid .legend").inner_text()
    said = job.script.steps[0].mentions[0]
    number = [video.id for video in job.task.videos].index(said.video)
    cell(page, number, 0).click()
    until(
        page,
        "time => Math.abs(document.querySelector('#viewer video').currentTime - time) < 0.5",
        arg=said.start,
    )


def test_a_job_without_steps_says_what_would_help(visit, job, tmp_path) -> None:
    page = visit(write_page(replace(job, script=Script(()), localisations=()), tmp_path))
    assert "More videos of this job help most" in page.locator("#steps").inner_text()
    assert page.locator("#grid .empty").is_visible()


def test_a_job_without_videos_opens(visit, tmp_path) -> None:
    page = visit(
        write_page(
            replace(tea(), task=Task("Nothing", ()), script=Script(()), localisations=()), tmp_path
        )
    )
    assert page.locator("h1").inner_text() == "Nothing"
    assert page.locator("[data-action=compare]").first.is_disabled()


def test_of_a_hundred_timelines_only_those_near_the_screen_are_built(visit, tmp_path) -> None:
    page = visit(write_page(tea(100, 6), tmp_path))
    page.locator("#timelines").scroll_into_view_if_needed()
    page.wait_for_selector(".timeline .mark")
    assert 0 < page.locator(".lanes:has(.mark)").count() < 50
    page.locator(".timeline").last.scroll_into_view_if_needed()
    page.locator(".timeline").last.locator(".mark").first.wait_for()
