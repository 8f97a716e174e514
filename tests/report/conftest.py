"""Videos that a browser can play, and a page of them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page

from howsteps.report.page import write_page
from howsteps.task import Result

from .job import make_films, tea

VIDEOS, STEPS = 4, 5


@pytest.fixture(scope="session")
def films(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The video files of the synthetic job, by video id."""
    return make_films(tmp_path_factory.mktemp("films"), VIDEOS, STEPS)


@pytest.fixture(scope="session")
def job(films: dict[str, Path]) -> Result:
    """The synthetic job, with its video files."""
    return tea(VIDEOS, STEPS, media=films)


@pytest.fixture(scope="session")
def report(job: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the synthetic job."""
    return write_page(job, tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="session")
def tabs() -> Iterator[list[Page]]:
    """A browser page that tests share, because opening a new one takes three times as long."""
    waiting: list[Page] = []
    yield waiting
    for page in waiting:
        page.context.close()


@pytest.fixture
def visit(browser: Browser, tabs: list[Page]) -> Iterator[Callable[..., Page]]:
    """Open a page; errors and network requests fail the test."""
    opened: list[tuple[Page, bool]] = []
    trouble: list[str] = []
    listeners = {
        "pageerror": lambda error: trouble.append(str(error)),
        "console": lambda said: said.type == "error" and trouble.append(said.text),
        "request": lambda one: (
            one.url.startswith(("file:", "data:", "about:")) or trouble.append(one.url)
        ),
    }

    def open_page(path: Path, *, width: int = 1280, height: int = 800, **options: object) -> Page:
        if tabs and not options:
            page = tabs.pop()
            page.set_viewport_size({"width": width, "height": height})
        else:
            size = {"width": width, "height": height}
            page = browser.new_context(viewport=size, **options).new_page()
            page.set_default_timeout(10_000)
        opened.append((page, not options))
        for event, listener in listeners.items():
            page.on(event, listener)
        page.goto(path.as_uri())
        return page

    yield open_page
    for page, usual in opened:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
        if usual and not tabs and not trouble and is_emptied(page):
            tabs.append(page)
        else:
            page.context.close()
    assert trouble == []


def is_emptied(page: Page) -> bool:
    """Reset a page for the next test; False if that is impossible."""
    try:
        page.evaluate("localStorage.clear(); sessionStorage.clear()")
        page.emulate_media(media="null")
        page.mouse.move(0, 0)
        page.goto("about:blank")
        return len(page.context.pages) == 1
    except Error:
        return False
