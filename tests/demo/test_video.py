"""The demo videos: rendered from the ground truth, each with its own look, reproducible."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import av
import numpy as np
import pytest

from howsteps.demo.job import (
    DEMO_FRAME_RATE,
    NAME,
    DemoVideo,
    draw_frames,
    draw_video,
    prepare,
    true_steps,
)
from howsteps.demo.scenes import HEIGHT, SCENES, WIDTH, Canvas, look_of

TRUTH = true_steps()


def shown(video: str, *times: float) -> Sequence[np.ndarray]:
    """The frames of a video at some times."""
    found = list(draw_frames(DemoVideo.of(video, max(times) + 1, TRUTH, Path())))
    return [found[round(time * DEMO_FRAME_RATE)] for time in times]


def test_every_true_step_has_a_scene_of_its_own() -> None:
    assert set(SCENES) == set(TRUTH.steps)
    canvas = Canvas(look_of("walt"))
    drawings = {}
    for step, scene in SCENES.items():
        canvas.clear()
        scene(canvas, 0.5, 3.0)
        drawings[step] = canvas.pixels.astype(int)
    for one, two in combinations(drawings, 2):
        assert np.abs(drawings[one] - drawings[two]).mean() > 3, (one, two)


@pytest.mark.parametrize("step", SCENES)
def test_something_moves_in_every_scene(step: str) -> None:
    canvas = Canvas(look_of("jo"))
    seen = []
    for share, seconds in ((0.2, 5.0), (0.8, 8.2)):
        canvas.clear()
        SCENES[step](canvas, share, seconds)
        seen.append(canvas.pixels.astype(int))
    assert np.abs(seen[0] - seen[1]).mean() > 0.5


def test_a_step_is_shown_while_it_is_done_and_a_person_otherwise() -> None:
    first = min((a for a in TRUTH.annotations if a.video == "jo"), key=lambda a: a.start)
    before, during = shown("jo", first.start - 1.0, first.start + 1.0)
    talking, _ = shown("jo", first.start - 2.0, first.start - 1.0)
    assert before.shape == (HEIGHT, WIDTH, 3)
    unlike = np.abs(before.astype(int) - during).mean()
    assert unlike > 4 * np.abs(before.astype(int) - talking).mean()


def test_a_video_is_reproducible_and_has_the_requested_duration(tmp_path: Path) -> None:
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        draw_video(DemoVideo("walt", (("flip the bike", 1.0, 2.0),), 3.0, folder / "walt.mp4"))
    assert (tmp_path / "a" / "walt.mp4").read_bytes() == (tmp_path / "b" / "walt.mp4").read_bytes()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["walt.mp4"]
    with av.open(str(tmp_path / "a" / "walt.mp4")) as container:
        assert sum(1 for _ in container.decode(video=0)) == 3 * DEMO_FRAME_RATE


class Listing:
    """An executor that renders nothing, and records its items."""

    def __init__(self) -> None:
        self.asked: list[DemoVideo] = []

    def map(self, function, items):
        self.asked += items
        return iter(())


def test_the_folder_has_all_captions_and_videos_that_outlast_the_last_word(tmp_path: Path) -> None:
    listing = Listing()
    folder = prepare(tmp_path, listing)
    assert folder == tmp_path / NAME
    assert len(list(folder.iterdir())) == 14
    assert len(listing.asked) == 13
    for video in listing.asked:
        assert video.seconds > max(end for _, _, end in video.steps)


def test_an_existing_video_is_not_rendered_again(tmp_path: Path) -> None:
    prepare(tmp_path, Listing())
    (tmp_path / NAME / "walt.mp4").write_bytes(b"a video")
    again = Listing()
    prepare(tmp_path, again)
    assert "walt" not in {video.id for video in again.asked}
    assert len(again.asked) == 12
