"""Films to play in a browser, and a page of them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from howsteps.report import write_page
from howsteps.task import Result

from .job import tea
from .videos import make_films

VIDEOS, STEPS = 4, 5


@pytest.fixture(scope="session")
def films(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The films of the invented job, by video."""
    return make_films(tmp_path_factory.mktemp("films"), VIDEOS, STEPS, (160, 90))


@pytest.fixture(scope="session")
def job(films: dict[str, Path]) -> Result:
    """The invented job, with its films."""
    return tea(VIDEOS, STEPS, media=films)


@pytest.fixture(scope="session")
def report(job: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the invented job."""
    return write_page(job, tmp_path_factory.mktemp("page"))


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a page; at the end, no error and no word to the network may have come of it."""
    contexts, trouble = [], []

    def open_page(path: Path, *, width: int = 1280, height: int = 800, **options: object) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda said: said.type == "error" and trouble.append(said.text))
        page.on(
            "request", lambda one: one.url.startswith(("file:", "data:")) or trouble.append(one.url)
        )
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert trouble == []
