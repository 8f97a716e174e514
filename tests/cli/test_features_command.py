"""``howsteps features`` from the command line."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from howsteps._cli.app import app
from tests.vision.scenes import film, scene


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweeping")
    film(folder / "a.mp4", scene(45, size=(320, 180), disc=(3, 0)))
    (folder / "broken.mp4").write_text("no film")
    return folder


@pytest.fixture(scope="module")
def work(films: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, int]:
    folder = tmp_path_factory.mktemp("work")
    out, code = run(films, "--out", folder, "--workers", "1")
    return folder, out, code


def run(*arguments: object) -> tuple[str, int]:
    result = CliRunner().invoke(app, ["features", *map(str, arguments)])
    return result.output, result.exit_code


@pytest.mark.slow
def test_vectors_are_written_and_summarised(work: tuple[Path, str, int]) -> None:
    folder, out, code = work
    vectors = np.load(folder / "features" / "a.npy", allow_pickle=False)
    assert vectors.shape == (5, 1280)
    assert "1 of 2 videos described (0 cached)" in out
    assert "5 intervals × 1,280 numbers, written to" in out
    assert code == 3
    assert "broken.mp4: is not a readable video file" in out


@pytest.mark.slow
def test_the_second_time_nothing_is_decoded(films: Path, work: tuple[Path, str, int]) -> None:
    out, code = run(films, "--out", work[0], "--workers", "1")
    assert "1 of 2 videos described (1 cached)" in out
    assert code == 3


def test_a_wrong_network_is_no_fault_of_the_videos(films: Path, tmp_path: Path) -> None:
    network = tmp_path / "s.txt"
    network.write_text("no network")
    options = ["--network", str(network), "--out", str(tmp_path / "work")]
    result = CliRunner().invoke(app, ["features", str(films), *options])
    assert result.exit_code
    assert str(result.exception) == f"{network}: is not an ONNX network"
