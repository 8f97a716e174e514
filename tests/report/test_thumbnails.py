"""Thumbnails: the right frame, upright, small, and made only if needed."""

import io
import os
import sys
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from howsteps.errors import InputError, MissingExtra
from howsteps.io.files import Folder
from howsteps.report.decoding import THUMBNAIL_WIDTH, Pictures, thumbnail_name, thumbnails_at
from howsteps.task import Video

SHADE = 20  # how much lighter the film gets every second


def opened(picture: bytes) -> Image.Image:
    return Image.open(io.BytesIO(picture)).convert("L")


def shade(picture: bytes) -> float:
    return float(np.asarray(opened(picture)).mean())


def lighter(path: Path, *, keyframes: int) -> Path:
    """Write ten seconds of video that get brighter every second."""
    with av.open(str(path), "w") as container:
        options = {"g": str(keyframes), "crf": "10"}
        stream = container.add_stream("libx264", rate=5, options=options)
        stream.width, stream.height, stream.pix_fmt = 160, 90, "yuv420p"
        for number in range(50):
            grey = np.full((90, 160, 3), SHADE * (number // 5) + 10, np.uint8)
            frame = av.VideoFrame.from_ndarray(grey, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, 5)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    """A video with a key frame only at the start."""
    return lighter(tmp_path_factory.mktemp("film") / "lighter.mp4", keyframes=1000)


def test_each_thumbnail_is_the_frame_at_its_time(film) -> None:
    times = [0.0, 0.5, 1.1, 6.9, 7.05, 9.5]
    taken = list(thumbnails_at(film, times))
    assert [time for time, _ in taken] == times
    for time, picture in taken:
        assert shade(picture) == pytest.approx(SHADE * int(time) + 10, abs=5)


def test_after_the_end_the_last_frame_is_used(film) -> None:
    [(_, picture)] = thumbnails_at(film, [1000.0])
    assert shade(picture) == pytest.approx(SHADE * 9 + 10, abs=5)


def test_a_thumbnail_is_small_and_keeps_its_aspect_ratio(film) -> None:
    [(_, picture)] = thumbnails_at(film, [3.0])
    assert picture[8:12] == b"WEBP"
    assert opened(picture).size == (THUMBNAIL_WIDTH, 180)
    assert len(picture) < 10_000


def with_pixels(path: Path, proportions: Fraction) -> Path:
    """Write a video of 72 by 90 non-square pixels."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=1)
        stream.width, stream.height, stream.pix_fmt = 72, 90, "yuv420p"
        stream.codec_context.sample_aspect_ratio = proportions
        for number in range(2):
            frame = av.VideoFrame(72, 90, "yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, 1)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def test_non_square_pixels_are_respected(tmp_path) -> None:
    wide = with_pixels(tmp_path / "wide.mp4", Fraction(20, 9))  # shown as 160 by 90
    [(_, picture)] = thumbnails_at(wide, [0.0])
    assert opened(picture).size == (THUMBNAIL_WIDTH, 180)


@pytest.mark.slow
def test_thumbnails_are_remade_only_if_the_video_is_newer(film, tmp_path) -> None:
    video = Video("lighter", media=film)
    picture = tmp_path / thumbnail_name("lighter", 2.0)
    Pictures(Folder(tmp_path)).make(video, [2.0])
    made = picture.stat().st_mtime_ns
    Pictures(Folder(tmp_path)).make(video, [2.0])
    assert picture.stat().st_mtime_ns == made
    os.utime(picture, (0, 0))
    Pictures(Folder(tmp_path)).make(video, [2.0])
    assert picture.stat().st_mtime_ns >= made


@pytest.mark.slow
def test_existing_thumbnails_of_a_missing_video_are_used(film, tmp_path) -> None:
    names = Pictures(Folder(tmp_path)).make(Video("lighter", media=film), [2.0])
    assert names == {2.0: thumbnail_name("lighter", 2.0)}
    gone = Video("lighter", media=tmp_path / "gone.mp4")
    assert Pictures(Folder(tmp_path)).make(gone, [2.0, 3.0]) == names
    assert Pictures(Folder(tmp_path)).make(Video("another"), [2.0]) == {}


def test_a_damaged_video_gives_the_readable_thumbnails(film, tmp_path) -> None:
    damaged = tmp_path / "damaged.mp4"
    content = bytearray(film.read_bytes())
    start = content.index(b"mdat") + 4
    middle = start + (len(content) - start) // 3
    content[middle : middle + 40] = os.urandom(40)
    damaged.write_bytes(content)
    [(_, first), *_] = thumbnails_at(damaged, [0.0, 9.0])
    assert shade(first) == pytest.approx(10, abs=5)


@pytest.mark.parametrize("names", [("a/b", "a b"), ("é", "ü"), ("x" * 50, "x" * 51), ("", "-")])
def test_different_videos_never_share_a_thumbnail(names) -> None:
    first, second = (thumbnail_name(name, 1.0) for name in names)
    assert first != second
    assert "/" not in first


def test_truncated_invalid_and_audio_only_files_are_reported(tmp_path) -> None:
    for name, content in (("text.mp4", b"no film at all"), ("empty.mp4", b"")):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(InputError, match=name):
            list(thumbnails_at(path, [0.0]))
    sound = tmp_path / "sound.wav"
    with av.open(str(sound), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
    with pytest.raises(InputError, match="no video stream"):
        list(thumbnails_at(sound, [0.0]))


def test_without_pyav_the_message_names_the_command(film, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(MissingExtra, match=r"howsteps\[vision\]"):
        list(thumbnails_at(film, [0.0]))
