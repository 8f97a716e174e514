"""Selective decoding: unneeded frames are skipped, times and durations are unchanged."""

from pathlib import Path

import pytest

from howsteps.vision.frames import Decoding, VideoReader, plan_decoding
from tests.vision.scenes import film, scene

SIZE = (160, 96)


def times(path: Path, decoding: Decoding) -> tuple[list[float], float]:
    with VideoReader(path, 1, decoding) as video:
        return [frame.time for frame in video], video.end


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds with non-reference frames, and one key frame."""
    path = tmp_path_factory.mktemp("usual") / "a.mp4"
    options = {"g": "250", "bf": "3", "sc_threshold": "0", "b-adapt": "0"}
    return film(path, scene(90, size=SIZE, disc=(2, 0)), options=options)


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds with two key frames per second."""
    path = tmp_path_factory.mktemp("keyed") / "a.mp4"
    options = {"g": "15", "bf": "0"}
    return film(path, scene(90, size=SIZE, disc=(2, 0)), options=options)


def test_non_reference_frames_are_skipped(usual: Path) -> None:
    every, end = times(usual, Decoding())
    some, same = times(usual, plan_decoding(usual, 1 / 3))
    assert len(every) == 90
    assert 20 < len(some) < 80
    assert set(some) < set(every)
    assert same == pytest.approx(end, abs=0.02)


def test_sparing_decodes_key_frames_only_if_they_are_frequent(keyed: Path) -> None:
    plan = plan_decoding(keyed, 2 / 3, sparing=True)
    assert plan == Decoding("key", apart=1 / 3, deblock=False)
    some, end = times(keyed, plan)
    assert some == pytest.approx([0, 0.5, 1, 1.5, 2, 2.5], abs=0.01)
    assert end == pytest.approx(3.0, abs=0.02)
    assert plan_decoding(keyed, 1 / 3).frames == "reference"


def test_sparing_decodes_other_frames_if_key_frames_are_rare(usual: Path) -> None:
    assert plan_decoding(usual, 2 / 3, sparing=True) == Decoding("reference", deblock=False)


def test_a_video_of_key_frames_is_decoded_at_the_needed_rate_only(
    tmp_path: Path,
) -> None:
    path = film(tmp_path / "a.avi", scene(60, size=SIZE, disc=(2, 0)), codec="mjpeg")
    plan = plan_decoding(path, 1 / 3)
    assert plan.frames == "key"
    some, end = times(path, plan)
    assert len(some) == 12
    assert end == pytest.approx(2.0, abs=0.02)


def test_a_file_that_is_not_a_video_gets_the_default(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_text("no video")
    assert plan_decoding(path, 1 / 3) == Decoding()
