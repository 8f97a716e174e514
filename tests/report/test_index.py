"""The page over several jobs."""

from dataclasses import replace
from pathlib import Path

import pytest

from howsteps.report.page import INDEX, write_index, write_page
from howsteps.task import Result, SetAside

from .job import tea, with_video


def named(result: Result, name: str) -> Result:
    return replace(result, task=replace(result.task, name=name))


@pytest.fixture
def index(tmp_path: Path) -> Path:
    coffee = with_video(named(tea(3, 2), "make <coffee>"), 0, title="Kyoto & drip")
    jobs = {"pot": tea(4, 5), "make <coffee>": replace(coffee, set_aside=(SetAside("x", "", ""),))}
    folders = {name: tmp_path / f"{name} 100%" for name in jobs}
    for name, result in jobs.items():
        write_page(result, folders[name])
    return write_index(jobs, folders, tmp_path)


def test_every_job_has_its_steps_and_counts(index: Path) -> None:
    text = index.read_text("utf-8")
    assert index.name == INDEX
    assert "2 jobs" in text
    assert "Make &lt;coffee&gt;" in text
    assert "5 steps from 4 videos" in text
    assert "2 steps from 3 videos, 1 set aside" in text
    assert '<li dir="auto">Warm the pot</li>' in text


@pytest.mark.browser
def test_search_finds_names_steps_and_titles(visit, index: Path) -> None:
    page = visit(index)
    jobs = page.locator(".jobs > li")

    def found(text: str) -> list[str]:
        page.locator("#search").fill(text)
        return [job.locator("h2").inner_text() for job in jobs.all() if job.is_visible()]

    page.keyboard.press("/")
    page.keyboard.type("COFFEE")
    assert found("coffee") == ["Make <coffee>"]
    assert found("drip kyoto") == ["Make <coffee>"]
    assert found("warm") == ["Make a pot of tea"]
    assert page.locator("#news").inner_text() == "1 of 2 jobs"
    assert page.locator(".found").all_inner_texts() == ["Warm the pot"]
    assert found("nowhere") == []
    assert page.locator(".empty").is_visible()
    assert len(found("")) == 2


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 768])
def test_every_job_leads_to_its_page(visit, index: Path, width: int) -> None:
    page = visit(index, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("link", name="Make <coffee>").click()
    page.wait_for_selector(".sheet li")
    assert page.locator("h1").inner_text() == "Make <coffee>"
