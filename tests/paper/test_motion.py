"""Motion descriptors of rendered scenes with known motion."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from howsteps.paper.motion import (
    TrajectoryExtractor,
    direction_sums,
    estimate_camera_motion,
    frame_histograms,
    optical_flow,
    remove_camera_motion,
)
from howsteps.paper.visual_words import MotionOptions
from tests.paper.naive_visual import hof_frame
from tests.vision.scenes import scene, texture

FRAMES = 40


def watch(
    options: MotionOptions | None = None, rate: float = 30.0, **what: object
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Descriptors and speeds (pixels per frame of 1/30 s) of all tracks in a rendered scene."""
    motion = TrajectoryExtractor(options)
    descriptors, speeds = [np.empty((0, 108), np.float32)], [np.empty((0, 2), np.float32)]
    for n, picture in enumerate(scene(int(FRAMES * rate / 30), **what)):  # type: ignore[arg-type]
        for ended in motion.step(picture, n / rate):
            descriptors.append(ended.descriptors)
            path = ended.paths
            speeds.append((path[:, -1] - path[:, 0]) / (path.shape[1] - 1) * rate / 30)
    return np.concatenate(descriptors), np.concatenate(speeds)


def directions(descriptors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Share of each of the nine bins, over all cells."""
    shares = (descriptors.reshape(-1, 12, 9) ** 2).mean(axis=(0, 1))
    return shares / shares.sum()


def test_a_static_scene_has_no_tracks() -> None:
    assert len(watch()[0]) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("towards", "bin_"), [((3, 0), 0), ((0, 3), 2), ((-3, 0), 4), ((0, -3), 6)]
)
def test_directions_have_their_bins(towards: tuple[float, float], bin_: int) -> None:
    shares = directions(watch(disc=towards)[0])
    assert shares[:8].argmax() == bin_


@pytest.mark.slow
@pytest.mark.parametrize("pan", [(3, 1), (-2.5, 0.3), (0.5, -4)])
def test_a_pan_over_a_static_scene_has_no_tracks(pan: tuple[float, float]) -> None:
    assert len(watch(camera=pan)[0]) == 0
    before, speeds = watch(MotionOptions(camera=False), camera=pan)
    assert len(before) > 3000
    assert np.abs(np.median(speeds, axis=0) + pan).max() < 0.15  # the image moves the other way


def test_a_disc_under_a_pan_keeps_its_own_motion() -> None:
    descriptors, speeds = watch(camera=(-3, 1), disc=(2, 2))
    assert len(descriptors) > 300
    shares = directions(descriptors)
    assert shares[1] > 0.6  # down to the right, relative to the scene
    # In the image it moves by (5, 1).
    assert np.abs(np.median(speeds, axis=0) - [5, 1]).max() < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("rate", [15.0, 25.0, 30.0, 60.0])
def test_a_disc_is_tracked_at_its_speed_whatever_the_frame_rate(rate: float) -> None:
    descriptors, speeds = watch(rate=rate, disc=(3 * 30 / rate, 0))
    assert len(descriptors) > 150
    inside = speeds[np.abs(speeds[:, 0] - 3) < 0.5]
    assert np.abs(np.median(inside, axis=0) - [3, 0]).max() < 0.1
    shares = directions(descriptors)
    assert shares[0] > 0.65  # to the right
    if rate == 30:
        assert len(descriptors) > 300
        assert len(inside) > 0.4 * len(speeds)  # the others are on the disc's edge
        assert shares[0] > 0.7
        assert shares[1:8].max() < 0.06


def test_frames_above_the_rate_are_skipped() -> None:
    motion = TrajectoryExtractor(MotionOptions(rate=15.0))
    seen = []
    for n in range(60):
        if motion.due(n / 60):
            motion.step(np.zeros((60, 80), np.uint8), n / 60)
            seen.append(n)
    assert seen == list(range(0, 60, 4))


def test_no_track_is_lost_if_the_frame_rate_drops() -> None:
    """Tracks that start in different frames may end in the same one."""
    motion = TrajectoryExtractor(MotionOptions(camera=False))
    times = [*(n / 30 for n in range(14)), *(13 / 30 + n * 0.2 for n in range(1, 6))]
    pictures = [*scene(len(times), disc=(3, 0))]
    ended = [motion.step(picture, time) for picture, time in zip(pictures, times, strict=True)]
    assert max(map(len, ended)) > 1
    steps = {tracks.paths.shape[1] - 1 for found in ended for tracks in found}
    assert len(steps) > 1


def test_integral_images_agree_with_plain_sums() -> None:
    chance = np.random.default_rng(0)
    flow = chance.normal(0, 2, (48, 64, 2)).astype(np.float32)
    points = (chance.random((200, 2)) * [63, 47]).astype(np.float32)
    patches = chance.choice([16.0, 22.6, 32.0], 200)
    found = frame_histograms(direction_sums(flow, 0.4), points, patches)
    for n in range(200):
        wanted = hof_frame(flow, *points[n], patches[n], still=0.4)
        assert found[n] == pytest.approx(wanted, abs=2e-3)


def test_tracks_that_leave_the_frame_end(monkeypatch) -> None:
    flow = np.full((60, 80, 2), (9, 0), np.float32)
    monkeypatch.setattr("howsteps.paper.motion.optical_flow", lambda *_: (flow, flow))
    motion = TrajectoryExtractor(MotionOptions(camera=False, seconds=0.1))
    picture = next(scene(1, size=(80, 60)))
    ended = [tracks for n in range(12) for tracks in motion.step(picture, n / 30)]
    assert ended
    for tracks in ended:
        assert np.diff(tracks.paths[..., 0], axis=1) == pytest.approx(9)
        assert tracks.paths[..., 0].max() < 80


def test_camera_motion_is_the_homography_of_the_scene() -> None:
    picture = texture(240, 320)
    turn = cv2.getRotationMatrix2D((160, 120), 1.5, 1.01)
    moved = cv2.warpAffine(picture, turn, (320, 240), borderMode=cv2.BORDER_REFLECT)
    flow, filtered = optical_flow(picture, moved)
    found = estimate_camera_motion(picture, flow)
    assert found is not None
    corners = np.array([[40, 40, 1], [280, 40, 1], [40, 200, 1], [280, 200, 1]], float)
    there = corners @ found.T
    assert there[:, :2] / there[:, 2:] == pytest.approx(corners @ turn.T, abs=0.6)
    left = remove_camera_motion(filtered, np.linalg.inv(found), 1.0)
    assert np.abs(left[40:200, 40:280]).mean() < 0.15
