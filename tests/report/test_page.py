"""Writing the page: atomic, nothing left behind, problems reported."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from howsteps.report.content import content
from howsteps.report.page import render, write_page
from howsteps.task import Localisation, SetAside

from .job import with_video


@pytest.mark.slow
def test_only_the_page_and_its_thumbnails_are_written(job, tmp_path) -> None:
    page = write_page(job, tmp_path)
    assert page == tmp_path / "report.html"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report-pictures", "report.html"]
    located = [p for p in job.localisations if p.time is not None]
    pictures = list((tmp_path / "report-pictures").iterdir())
    assert len(pictures) == len(located)
    assert all(picture.suffix == ".webp" for picture in pictures)


@pytest.mark.slow
def test_the_page_needs_no_network(report) -> None:
    text = report.read_text(encoding="utf-8")
    text = text.replace("http://www.w3.org/2000/svg", "")  # a name, not an address
    text = text.replace("https://youtu.be/", "")  # a link, which nobody follows by themselves
    assert "http:" not in text
    assert "https:" not in text


@pytest.mark.slow
def test_unused_thumbnails_are_removed(job, tmp_path) -> None:
    write_page(job, tmp_path)
    fewer = type(job)(job.task, job.script, (Localisation("Ada", 0, 6.0),))
    write_page(fewer, tmp_path)
    assert len(list((tmp_path / "report-pictures").iterdir())) == 1


@pytest.mark.slow
def test_a_broken_video_loses_only_its_own_thumbnails(job, tmp_path) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"not a film")
    problems = []
    write_page(with_video(job, 1, media=broken), tmp_path / "out", on_problem=problems.append)
    assert [problem.path for problem in problems] == [broken]
    pictures = [path.name for path in (tmp_path / "out" / "report-pictures").iterdir()]
    assert any(name.startswith("Ada") for name in pictures)
    assert not any(name.startswith("Bo") for name in pictures)


def test_without_pyav_the_page_says_how_to_get_thumbnails(job, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    problems = []
    page = write_page(job, tmp_path, on_problem=problems.append)
    assert "pip install &#39;howsteps[vision]&#39;" in page.read_text(encoding="utf-8")
    [problem] = problems
    assert problem.harmless


def test_the_name_of_a_file_is_quoted_where_it_is_copied_into_a_shell(job, tmp_path) -> None:
    aside = SetAside("$(ls)", "Tie a knot", "left out")
    page = write_page(replace(job, set_aside=(aside,)), tmp_path).read_text()
    assert "<code>--keep=&#39;$(ls)&#39;</code>" in page


def test_the_live_page_shows_the_ids_of_videos_that_were_set_aside(job) -> None:
    aside = (SetAside("x1y2", "Tie a knot", "left out"), SetAside("named", "", "left out"))
    shown = content(replace(job, set_aside=aside), Path(), {}, playable=lambda _: None)
    page = render(shown).decode()
    assert "<code>x1y2</code>" in page
    assert "<code>named</code>" not in page  # it is shown as the title
