"""``howsteps features`` from the command line."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from howsteps._cli.app import app
from tests.vision.scenes import film, scene

FAST = ("--network", "none", "--motion", "--motion-words", "30", "--workers", "1")


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweeping")
    film(folder / "a.mp4", scene(45, size=(320, 180), disc=(3, 0)))
    (folder / "broken.mp4").write_text("no film")
    return folder


@pytest.fixture(scope="module")
def work(films: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, int]:
    folder = tmp_path_factory.mktemp("work")
    out, code = run(films, "--out", folder, "--save-vocabulary", folder / "words.npz", *FAST)
    return folder, out, code


def run(*arguments: object) -> tuple[str, int]:
    result = CliRunner().invoke(app, ["features", *map(str, arguments)])
    return result.output, result.exit_code


@pytest.mark.slow
def test_vectors_are_written_and_summarised(work: tuple[Path, str, int]) -> None:
    folder, out, code = work
    vectors = np.load(folder / "features" / "a.npy", allow_pickle=False)
    assert vectors.shape == (5, 30)
    assert "1 video described (0:01), 1 video set aside" in out
    assert "30 codewords of motion" in out
    assert "MB cached in" in out
    assert code == 3
    assert "broken.mp4: is not a readable video file" in out


@pytest.mark.slow
def test_frames_are_pooled_by_default(films: Path, tmp_path: Path) -> None:
    out, _ = run(films, "--out", tmp_path, "--workers", "1")
    assert np.load(tmp_path / "features" / "a.npy", allow_pickle=False).shape == (5, 1280)
    assert "5 intervals × 1,280 numbers\n" in out


@pytest.mark.slow
def test_the_second_time_nothing_is_decoded(films: Path, work: tuple[Path, str, int]) -> None:
    out, code = run(films, "--out", work[0], "--vocabulary", work[0] / "words.npz", *FAST)
    assert "1 video cached, 1 video set aside" in out
    assert code == 3


def test_nothing_to_compute_is_an_error(films: Path, tmp_path: Path) -> None:
    out, code = run(films, "--out", tmp_path, "--network", "none", "--no-motion")
    assert code == 2
    assert "nothing to compute" in out


def test_codebooks_of_several_jobs_are_not_saved_in_one_file(films: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(films, tmp_path / "jobs" / name)
    words = tmp_path / "words.npz"
    _, code = run(tmp_path / "jobs", "--out", tmp_path / "o", "--save-vocabulary", words, *FAST)
    assert code == 1
    assert not words.exists()
