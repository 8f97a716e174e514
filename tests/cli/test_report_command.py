"""``howsteps export --format page`` from the command line."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from howsteps._cli.app import app
from howsteps.store import text_of
from howsteps.task import Result
from tests.report.job import tea, with_video


def work_of(result: Result, folder: Path) -> Path:
    folder.mkdir()
    (folder / "result.json").write_text(text_of(result, folder), "utf-8")
    return folder


def test_the_page_is_written_next_to_the_result(tmp_path: Path) -> None:
    work = work_of(tea(2, 2), tmp_path / "steps")
    done = CliRunner().invoke(app, ["export", str(work), "-f", "page"])
    assert done.exit_code == 0
    assert "1 file in" in done.output
    assert (work / "report.html").is_file()


@pytest.mark.slow
def test_a_video_that_cannot_be_decoded_is_reported(tmp_path: Path) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"not a film")
    work = work_of(with_video(tea(2, 2), 1, media=broken), tmp_path / "steps")
    done = CliRunner().invoke(app, ["export", str(work), "-f", "page"])
    assert done.exit_code == 3
    assert "broken.mp4" in done.output
    assert (work / "report.html").is_file()
