"""Rows of frames: one per step and video, marked correct or wrong."""

import pytest

from howsteps.report.figures import SHOWN_VIDEOS, frame_rows
from howsteps.task import Localisation, Video

from .videos import film

PLACES = [
    Localisation("anna", 0, 2.0),
    Localisation("anna", 1, 5.0),
    Localisation("ben", 0, 1.0),
    Localisation("ben", 1, None),
]


@pytest.mark.slow
def test_every_place_has_a_frame_and_a_mark(tmp_path):
    videos = [
        Video(name, media=film(tmp_path / f"{name}.mp4", 8.0, n))
        for n, name in enumerate(("anna", "ben"))
    ]
    table, problems = frame_rows(
        ["boil <water> | wait", "pour"], PLACES, {("anna", 0)}, videos, tmp_path / "out"
    )
    assert problems == []
    heading, rule, boil, pour = table.splitlines()
    assert (heading, rule) == ("| step |  |  |", "| --- | --- | --- |")
    assert boil.startswith(r"| Boil &lt;water&gt; \| wait | ![](frames/anna-")
    assert (boil.count("✓"), boil.count("✗")) == (1, 1)
    assert (pour.count("✗"), pour.count("frames/")) == (1, 1)
    assert len(list((tmp_path / "out" / "frames").glob("*.webp"))) == 3


@pytest.mark.slow
def test_a_broken_video_does_not_affect_the_others(tmp_path):
    (tmp_path / "anna.mp4").write_bytes(b"not a film")
    videos = [
        Video("anna", media=tmp_path / "anna.mp4"),
        Video("ben", media=film(tmp_path / "ben.mp4", 8.0, 1)),
    ]
    table, [problem] = frame_rows(["boil", "pour"], PLACES, set(), videos, tmp_path)
    assert problem.path.name == "anna.mp4"
    assert table.count("frames/ben-") == 1


def test_only_a_few_videos_are_shown(tmp_path):
    videos = [Video(f"v{n}") for n in range(SHOWN_VIDEOS + 3)]
    table, _ = frame_rows(["boil"], [], set(), videos, tmp_path)
    assert table.splitlines()[0].count("|") == SHOWN_VIDEOS + 2
