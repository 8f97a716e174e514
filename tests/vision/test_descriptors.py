"""Descriptors of a whole video: intervals, limits, and frames that are shown for long."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from howsteps.errors import HowstepsError
from howsteps.paper.motion import MotionDescriber
from howsteps.paper.visual_words import AppearanceOptions, MotionOptions, appearance_describer
from howsteps.vision import descriptors
from howsteps.vision.descriptors import (
    Chunk,
    Describer,
    Descriptors,
    describe_frames,
    pooled_describer,
)
from howsteps.vision.features import PooledOptions
from howsteps.vision.frames import VideoReader
from tests.vision.scenes import film, scene


class Network:
    """A network that returns the mean colour, and counts its calls."""

    looks = 0

    def pooled(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        self.looks += len(frames)
        return frames.mean(axis=(1, 2)).astype(np.float32)

    def describe(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        return self.pooled(frames)[:, None]


@pytest.fixture
def network() -> Network:
    return Network()


Make = Callable[[VideoReader], Describer]


def pooling(network: Network, every: int = 1) -> Make:
    """Pooled vectors of small frames."""
    options = PooledOptions(side=32, every=every)
    return lambda video: pooled_describer(video, options, network)


def looking(network: Network) -> Make:
    """Local descriptors of small frames, as in the paper."""
    options = AppearanceOptions(sides=(32,))
    return lambda video: appearance_describer(video, options, network, most=150, seed=0)


def moving(most: int = 200, seed: int = 0) -> Make:
    """Motion descriptors, as in the paper."""
    return lambda video: MotionDescriber(video, MotionOptions(), most, seed)


def chunks(path: Path, **describers: Make) -> list[Chunk]:
    with VideoReader(path) as opened:
        return [*describe_frames(opened, {kind: make(opened) for kind, make in describers.items()})]


def joined(parts: list[Chunk], kind: str) -> Descriptors:
    """All chunks of a video, concatenated."""
    return Descriptors(
        np.concatenate([part[kind].values for part in parts if part[kind].values.size]),
        np.concatenate([part[kind].intervals for part in parts]),
    )


def watch(path: Path, describer: Make) -> Descriptors:
    return joined(chunks(path, a=describer), "a")


def coloured(path: Path, colours: list[tuple[int, int, int]], **how: object) -> Path:
    pictures = [np.full((64, 96, 3), colour, np.uint8) for colour in colours]
    return film(path, pictures, **how)  # type: ignore[arg-type]


def test_every_interval_is_described_by_its_middle_frame(tmp_path: Path, network: Network) -> None:
    red, blue = (200, 10, 10), (10, 10, 200)
    path = coloured(tmp_path / "a.mp4", [red] * 20 + [blue] * 20)
    seen = watch(path, looking(network))
    assert seen.intervals.tolist() == [0, 1, 2, 3]
    assert [row.argmax() for row in seen.values] == [0, 0, 2, 2]


def test_a_pooled_frame_is_one_row_of_half_floats(tmp_path: Path, network: Network) -> None:
    path = coloured(tmp_path / "a.mp4", [(200, 10, 10)] * 20 + [(10, 10, 200)] * 20)
    seen = watch(path, pooling(network))
    assert seen.values.dtype == np.float16
    assert seen.values == pytest.approx(np.repeat([[200, 10, 10], [10, 10, 200]], 2, axis=0), abs=9)


def test_a_video_of_less_than_half_an_interval_is_described(
    tmp_path: Path, network: Network
) -> None:
    path = coloured(tmp_path / "a.mp4", [(200, 10, 10)] * 2)
    for describer in (looking(network), pooling(network)):
        seen = watch(path, describer)
        assert (seen.intervals.tolist(), len(seen.values)) == ([0], 1)


@pytest.mark.parametrize("value", [1e38, np.nan])
def test_a_network_that_gives_no_numbers_is_named(
    tmp_path: Path, network: Network, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = coloured(tmp_path / "a.mp4", [(90, 90, 90)] * 20)
    monkeypatch.setattr(network, "pooled", lambda f: np.full((len(f), 3), value, np.float32))
    with pytest.raises(HowstepsError, match="the network gives values that are too large"):
        watch(path, pooling(network))


def test_intervals_may_be_skipped(tmp_path: Path, network: Network) -> None:
    path = coloured(tmp_path / "a.mp4", [(90, 90, 90)] * 60)
    assert watch(path, pooling(network, every=2)).intervals.tolist() == [0, 2, 4]
    assert network.looks == 3


def test_a_frame_of_several_intervals_is_described_once(tmp_path: Path, network: Network) -> None:
    """A frame that is shown for ten seconds has thirty intervals and is described once."""
    path = coloured(
        tmp_path / "a.mkv", [(200, 10, 10), (10, 200, 10), (10, 10, 200)], stamps=[0, 300, 310]
    )
    seen = watch(path, looking(network))
    assert seen.intervals.tolist() == list(range(len(seen.intervals)))
    assert [row.argmax() for row in seen.values[:31]] == [0] * 30 + [1]
    assert network.looks <= 3


def test_an_hour_of_one_frame_is_yielded_in_chunks(tmp_path: Path, network: Network) -> None:
    path = coloured(tmp_path / "a.mkv", [(200, 10, 10), (10, 10, 200)], stamps=[0, 30 * 3600])
    lengths = [len(chunk["look"].intervals) for chunk in chunks(path, look=looking(network))]
    assert sum(lengths) in {10_800, 10_801}
    assert max(lengths) == 180


@pytest.mark.parametrize("rate", [10, 25, 60])
def test_the_grid_is_in_seconds(tmp_path: Path, network: Network, rate: int) -> None:
    path = coloured(tmp_path / "a.mkv", [(90, 90, 90)] * (2 * rate), rate=Fraction(rate))
    assert watch(path, looking(network)).intervals.tolist() == list(range(6))


@pytest.mark.slow
def test_motion_is_in_the_intervals_where_it_happens(tmp_path: Path) -> None:
    still = [next(scene(1, size=(320, 180)))] * 45
    disc = [*scene(45, size=(320, 180), disc=(3, 0))]
    path = film(tmp_path / "a.mp4", [*still, *disc])
    seen = watch(path, moving())
    assert len(seen.intervals) > 100
    # The disc begins to move at 1.5 s; a track with that motion begins up to half a second before.
    assert seen.intervals.min() >= 3
    assert np.median(seen.intervals) >= 5


@pytest.mark.slow
def test_the_number_of_descriptors_per_interval_is_limited(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4", scene(60, size=(320, 180), disc=(3, 0)))
    some = watch(path, moving(20))
    assert np.bincount(some.intervals).max() == 20
    again = watch(path, moving(20))
    assert np.array_equal(some.values, again.values)
    other = watch(path, moving(20, seed=1))
    assert not np.array_equal(some.values, other.values)


@pytest.mark.slow
def test_chunks_do_not_change_the_descriptors(
    tmp_path: Path, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = film(tmp_path / "a.mp4", scene(90, size=(320, 180), disc=(3, 0)))
    both = {"motion": moving(), "appearance": looking(network)}
    whole = chunks(path, **both)
    monkeypatch.setattr(descriptors, "_CHUNK", 2)
    parts = chunks(path, **both)
    assert len(parts) > 3
    for kind in both:
        assert np.array_equal(joined(parts, kind).values, joined(whole, kind).values)
