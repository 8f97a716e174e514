"""Page and exports decode in a worker process, and never reopen a refused file."""

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from howsteps.io.files import Folder
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from howsteps.report import decoding
from howsteps.report.decoding import Pictures, rate_of
from howsteps.task import Video
from tests.films import RATE, film
from tests.io.test_media import large_video
from tests.pipeline.jobs import captions


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The jobs of the workers, with their files."""
    asked: list[tuple[str, str]] = []
    real = decoding.run_in_worker

    def noted(module: str, job: dict[str, Any], **options: Any) -> Any:
        asked.append((job["do"], Path(job["media"]).name))
        return real(module, job, **options)

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a video is opened in this process")

    monkeypatch.setattr(decoding, "run_in_worker", noted)
    monkeypatch.setattr("av.open", refused)
    return asked


@pytest.mark.slow
def test_thumbnails_and_rates_come_from_a_worker(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    media = film(tmp_path / "film.mp4")
    opened = request.getfixturevalue("opened")
    pictures = Pictures(Folder(tmp_path / "out"))
    assert pictures.make(Video("film", media=media), [1.0, 2.0]).keys() == {1, 2}
    assert (rate_of(media), rate_of(media)) == (RATE, RATE)
    assert opened == [("thumbnails", "film.mp4"), ("rate", "film.mp4")]
    assert rate_of(None) == Fraction(25)


@pytest.mark.slow
def test_copies_and_clips_come_from_a_worker(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    media = film(tmp_path / "film.mp4", 3.0)
    opened = request.getfixturevalue("opened")
    folder = Folder(tmp_path)
    decoding.run(media, "chapters", folder, name="copy.mp4", chapters=[(0.0, 3.0, "lift it")])
    decoding.run(media, "clip", folder, name="clip.mp4", start=1.0, end=2.0)
    assert [what for what, _ in opened] == ["chapters", "clip"]
    assert (tmp_path / "copy.mp4").is_file()
    assert (tmp_path / "clip.mp4").is_file()


@pytest.mark.slow
def test_a_frame_beyond_all_screens_is_refused_by_the_worker(tmp_path: Path) -> None:
    media = large_video(tmp_path / "large.mov")
    pictures = Pictures(Folder(tmp_path / "out"))
    assert pictures.make(Video("large", media=media), [0.0]) == {}
    assert [problem.path for problem in pictures.problems] == [media]


@pytest.mark.slow
@pytest.mark.parametrize("vision", [None, False])
def test_a_refused_file_is_not_opened_again(
    tmp_path: Path, vision: bool | None, request: pytest.FixtureRequest
) -> None:
    folder = captions(tmp_path / "job", ("ann", "bob"))
    large_video(folder / "ann.mov")
    opened = request.getfixturevalue("opened")
    done = run(folder, tmp_path / "out", RunOptions(vision=vision, quick=True))
    assert done.results["job"].task.videos[0].media == folder / "ann.mov"
    assert [p.path.name for p in done.problems if not p.harmless] == ["ann.mov"]
    assert len(opened) == (0 if vision is None else 1)


def test_a_worker_loads_no_compiler() -> None:
    """It must start fast, because there is one per video."""
    code = (
        "import sys; import howsteps.report.decoding; "
        "from howsteps.report.exports import video_copies; "
        "sys.exit('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)  # noqa: S603 - our own code
    assert done.returncode == 0
