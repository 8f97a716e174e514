"""The page with hostile text, missing videos and incomplete results."""

import shutil
from dataclasses import replace

import pytest

from howsteps.io.files import Folder
from howsteps.report.exports import export
from howsteps.report.page import write_page
from howsteps.task import LIKE_SEEN, Script

from .chromium import until
from .job import tea, with_video
from .looking import cell, place, wait_to_play_from

pytestmark = pytest.mark.browser

HOSTILE = (
    "</script><script>window.hurt=1</script>",
    "<img src=x onerror='window.hurt=1'>",
    "\"'`${window.hurt=1}`'\" & &lt;b&gt; {{ 7*7 }}",
    "\u202eright to left\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "emoji 👩🏽‍🔧🔧 and \u2028 line \ud83d half <!--",
)


def test_hostile_text_is_shown_as_text(visit, films, tmp_path) -> None:
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
    page = visit(write_page(result, tmp_path))
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
    assert labels[4].startswith("Emoji 👩🏽‍🔧🔧 and ")
    assert HOSTILE[0] in page.locator(".transcript").first.text_content()
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("script").count() == 2  # its words and its program
    assert page.evaluate("window.hurt") is None


def test_no_injected_script_runs(browser, report) -> None:
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


def test_a_missing_video_shows_its_thumbnail_and_a_notice(visit, films, tmp_path) -> None:
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


def test_an_unplayable_video_is_not_called_missing(visit, job, tmp_path) -> None:
    strange = tmp_path / "Ada.avi"
    strange.write_bytes(b"RIFF of a kind that no browser knows")
    page = visit(write_page(with_video(job, 0, media=strange), tmp_path))
    cell(page, 0, 1).click()
    notice = page.locator("#viewer .notice").first
    notice.wait_for()
    assert "“Ada.avi” cannot be played here" in notice.inner_text()
    assert page.locator("#viewer video").first.is_hidden()


def test_a_narration_without_video_has_its_words_in_the_grid(visit, tmp_path) -> None:
    page = visit(write_page(tea(2, 3), tmp_path))
    assert cell(page, 0, 0).locator(".frame").inner_text() == "first fill the kettle"
    cell(page, 0, 0).click()
    assert "only the transcript" in page.locator("#viewer .notice").first.inner_text()


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
    wait_to_play_from(page, place(result, 0, 3).start)


def test_without_places_a_click_plays_the_first_mention(visit, job, tmp_path) -> None:
    page = visit(write_page(replace(job, localisations=()), tmp_path))
    assert "no places in the videos yet" in page.locator("#grid .legend").inner_text()
    said = job.script.steps[0].mentions[0]
    number = [video.id for video in job.task.videos].index(said.video)
    for way in (cell(page, number, 0), page.locator(".sheet h3 button").first):
        way.click()
        until(
            page,
            "time => Math.abs(document.querySelector('#viewer video').currentTime - time) < 0.5",
            arg=said.start,
        )
        page.keyboard.press("Escape")


@pytest.mark.parametrize("width", [390, 1280])
def test_very_long_names_do_not_break_the_layout(visit, job, tmp_path, width) -> None:
    endless = tuple(replace(step, label=f"{step.label}{'o' * 300}") for step in job.script.steps)
    result = with_video(replace(job, script=Script(endless)), 0, title="a" * 300)
    page = visit(write_page(result, tmp_path), width=width)
    page.locator("#search").fill("kettle")
    page.wait_for_selector("#results [role=option]")
    assert page.locator("#results").evaluate("one => one.scrollWidth <= one.clientWidth")
    page.locator("#search").press("Escape")
    cell(page, 0, 0).click()
    assert page.locator("#viewer").evaluate("one => one.scrollWidth <= one.clientWidth")
    for chip in page.locator(".chips button").all():
        assert chip.bounding_box()["width"] < 320
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_job_without_steps_gives_advice(visit, job, tmp_path) -> None:
    page = visit(write_page(replace(job, script=Script(()), localisations=()), tmp_path))
    assert "More videos of this job may help" in page.locator("#steps").inner_text()
    assert page.locator("#grid .empty").is_visible()
    assert "localise" not in page.locator("#grid").inner_text()  # there is nothing to place


def test_only_timelines_near_the_viewport_are_built(visit, tmp_path) -> None:
    page = visit(write_page(tea(200, 6), tmp_path))
    page.locator("#timelines").scroll_into_view_if_needed()
    page.wait_for_selector(".timeline .mark")
    assert 0 < page.locator(".lanes:has(.mark)").count() < 50
    page.locator(".timeline").last.scroll_into_view_if_needed()
    page.locator(".timeline").last.locator(".mark").first.wait_for()


def test_where_nobody_speaks_nothing_is_said_about_words(visit, films, tmp_path) -> None:
    spoken = tea(3, 3, media=films)
    videos = [replace(video, sentences=(), mentions=()) for video in spoken.task.videos]
    steps = tuple(replace(s, label=f"Step {n}", mentions=()) for n, s in enumerate(spoken.steps, 1))
    seen = [replace(p, evidence=LIKE_SEEN if p.time else "") for p in spoken.localisations]
    task = replace(spoken.task, videos=tuple(videos))
    silent = replace(spoken, task=task, script=Script(steps), localisations=tuple(seen))
    page = visit(write_page(silent, tmp_path))
    text = page.locator("body").inner_text()
    assert "found by sight alone" in text
    for word in ("said", "mention", "narration", "words"):
        assert word not in text.lower()
    assert page.locator(".lane.said").count() == 0
    [howto, paper], _ = export(silent, Folder(tmp_path), ["howto"])
    note = "Nobody says what is done in the 3 videos: the steps were found by sight"
    for each in (howto, paper):
        assert note in (told := each.read_text("utf-8"))
        assert "narrators" not in told
        assert "Evidence" not in told
