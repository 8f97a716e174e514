"""Media files are opened safely, and their audio decoded."""

import os
import struct
import zlib
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from howsteps.errors import InputError
from howsteps.io import media as sound_module
from howsteps.io.media import MAX_PIXELS, SAMPLE_RATE, Sound, blocks, decoded, open_media
from tests.films import film

SIDE = 9_000  # pixels; 243 MB when decoded


def chunk(kind: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check


def png(side: int) -> bytes:
    """A black image in a few kilobytes."""
    packer = zlib.compressobj(1)
    rows = b"".join(packer.compress(bytes(3 * side + 1)) for _ in range(side)) + packer.flush()
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(kind, content) for kind, content in ((b"IHDR", head), (b"IDAT", rows), (b"IEND", b""))
    )


def large_video(path: Path, side: int = SIDE) -> Path:
    """A video with frames above the size limit."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("png", rate=1)
        stream.width, stream.height, stream.pix_fmt = side, side, "rgb24"
        packet = av.Packet(png(side))
        packet.stream, packet.time_base, packet.pts, packet.dts = stream, Fraction(1, 1000), 0, 0
        packet.is_keyframe = True
        container.mux(packet)
    return path


def test_the_file_name_is_ignored(tmp_path: Path) -> None:
    path = film(tmp_path / "film.mp4", 1.0).rename(tmp_path / "http:film.xyz")
    with open_media(path) as container:
        assert container.streams.video


def test_messages_of_a_decoder_do_not_wait_for_python(clip: Path) -> None:
    # Or its threads wait for the one that closes it, which holds the interpreter.
    with open_media(clip, "cannot be used"):
        assert av.logging.get_level() is None


@pytest.mark.parametrize(
    "text",
    [
        "ffconcat version 1.0\nfile other.mp4\n",
        "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nother.mp4\n#EXT-X-ENDLIST\n",
        "<?xml version='1.0'?><MPD xmlns='urn:mpeg:dash:schema:mpd:2011'></MPD>",
        "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=video 9 RTP/AVP 96\n",
    ],
    ids=["ffconcat", "hls", "dash", "sdp"],
)
def test_playlists_are_refused(tmp_path: Path, text: str) -> None:
    film(tmp_path / "other.mp4", 1.0)
    (tmp_path / "list.mp4").write_text(text)
    with pytest.raises(InputError, match=r"list\.mp4: is not a readable video file"):
        open_media(tmp_path / "list.mp4")


@pytest.mark.parametrize("name", ["pipe", "folder", "missing"])
def test_only_regular_files_are_opened(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"is not a file|no such file"):
        open_media(tmp_path / name)


def test_too_large_frames_are_not_decoded(tmp_path: Path) -> None:
    assert SIDE**2 > MAX_PIXELS
    with open_media(large_video(tmp_path / "large.mov")) as container:
        with pytest.raises(av.error.FFmpegError):
            next(container.decode(video=0))
        assert container.streams.video[0].width == 0  # FFmpeg did not decode one either


SECONDS = 6


def read_audio(media: Path) -> NDArray[np.float32]:
    """All audio of a file, decoded in this process."""
    return np.concatenate(list(blocks(media))).astype(np.float32) / 2**15


def make(path: Path, *, picture: bool = True, sound: bool = True, delay: float = 0.0) -> Path:
    """Write a clip: a grey picture, and a tone that begins after ``delay`` seconds."""
    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        if picture:
            video = container.add_stream("mpeg4", rate=10)
            video.width, video.height, video.pix_fmt = 64, 64, "yuv420p"
        if sound:
            audio = container.add_stream("aac", rate=SAMPLE_RATE, layout="mono")
        if picture:
            for number in range(SECONDS * 10):
                frame = av.VideoFrame.from_ndarray(np.full((64, 64, 3), number * 4, np.uint8))
                frame.pts = number
                container.mux(video.encode(frame))
            container.mux(video.encode(None))
        if sound:
            times = np.arange(int((SECONDS - delay) * SAMPLE_RATE)) / SAMPLE_RATE
            tone = (8000 * np.sin(2 * np.pi * 440 * times)).astype(np.int16)
            frame = av.AudioFrame.from_ndarray(tone[np.newaxis], format="s16", layout="mono")
            frame.sample_rate, frame.pts = SAMPLE_RATE, int(delay * SAMPLE_RATE)
            container.mux(audio.encode(frame))
            container.mux(audio.encode(None))
    return path


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("clips") / "whole.mp4")


@pytest.mark.parametrize("name", ["clip.mp4", "clip.mkv", "a clip: with odd name.mp4"])
def test_sound_of_a_video(tmp_path: Path, name: str) -> None:
    sound = read_audio(make(tmp_path / name))
    assert sound.dtype == np.float32
    assert len(sound) / SAMPLE_RATE == pytest.approx(SECONDS, abs=0.1)
    assert 0.2 < np.abs(sound).max() < 0.3


def test_a_relative_path_is_not_a_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "http:clip.mp4")
    monkeypatch.chdir(tmp_path)
    assert read_audio(Path("http:clip.mp4")).size


@pytest.mark.parametrize("kind", ["mp4", "mkv"])
def test_audio_that_starts_late(tmp_path: Path, kind: str) -> None:
    sound = read_audio(make(tmp_path / f"late.{kind}", delay=2.0))
    begin = np.flatnonzero(np.abs(sound) > 0.1)[0] / SAMPLE_RATE
    assert begin == pytest.approx(2.0, abs=0.1)


def test_a_video_without_audio(tmp_path: Path) -> None:
    silent = make(tmp_path / "silent.mp4", sound=False)
    with pytest.raises(InputError, match=r"silent\.mp4: there is no audio stream"):
        read_audio(silent)


@pytest.mark.parametrize(
    "content", [b"", b"how to change a tyre\n" * 40, bytes(5000)], ids=["empty", "text", "zeros"]
)
def test_other_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "video.mp4").write_bytes(content)
    with pytest.raises(InputError, match=r"video\.mp4: not a readable audio or video file"):
        read_audio(tmp_path / "video.mp4")


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.mp4: no such file"):
        read_audio(tmp_path / "absent.mp4")


@pytest.mark.parametrize("kind", ["mp4", "mkv"])
def test_a_truncated_video_is_read_up_to_its_end(tmp_path: Path, kind: str) -> None:
    path = make(tmp_path / f"cut.{kind}")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert 1 < len(read_audio(path)) / SAMPLE_RATE < SECONDS


def test_metadata_in_another_encoding(tmp_path: Path, clip: Path) -> None:
    path = tmp_path / "latin1.mp4"
    path.write_bytes(
        clip.read_bytes().replace(b"\xa9too", b"\xa9nam").replace(b"Lavf", b"\xe9\xe8\xff\xfe")
    )
    assert read_audio(path).size


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_files_are_decoded_or_refused(clip: Path, data: st.DataObject) -> None:
    path = clip.with_name("damaged.mp4")
    content = bytearray(clip.read_bytes())
    for index in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=12)):
        content[index] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    with suppress(InputError):
        assert read_audio(path).dtype == np.float32


def silence(path: Path, seconds: int) -> Path:
    """Hours of silence as FLAC, in a few kilobytes for each."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("flac", rate=8000, layout="mono")
        stream.codec_context.options = {"compression_level": "0", "frame_size": "65535"}
        block = np.zeros((1, 8000 * 600), np.int16)
        for start in range(0, seconds, 600):
            frame = av.AudioFrame.from_ndarray(block, format="s16", layout="mono")
            frame.sample_rate, frame.pts = 8000, 8000 * start
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def test_a_worker_process_decodes(clip: Path) -> None:
    with decoded(clip) as sound:
        [(start, samples)] = sound.chunks()
    assert start == 0.0
    assert sound.duration == round(len(samples) / SAMPLE_RATE, 3)
    np.testing.assert_array_equal(samples, read_audio(clip))
    assert not sound.path.exists()


def test_errors_of_the_worker_process(tmp_path: Path) -> None:
    (tmp_path / "list.mp4").write_text("ffconcat version 1.0\nfile other.mp4\n")
    with (
        pytest.raises(InputError, match=r"list\.mp4: not a readable audio or video file"),
        decoded(tmp_path / "list.mp4"),
    ):
        pass


@pytest.mark.parametrize("kind", ["mkv", "ogg"])
def test_too_long_audio_is_not_decoded_to_its_end(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = silence(tmp_path / f"long.{kind}", 1200)
    monkeypatch.setattr(sound_module, "MAX_SECONDS", 60.0)
    lengths: list[int] = []
    with pytest.raises(InputError, match=r"long\..*: lasts longer than"):
        lengths.extend(len(block) for block in blocks(long))
    assert sum(lengths) <= 60 * SAMPLE_RATE


def test_audio_is_split_into_chunks(tmp_path: Path) -> None:
    path = tmp_path / "sound"
    samples = np.arange(12 * SAMPLE_RATE, dtype=np.int16)
    path.write_bytes(samples.tobytes())
    parts = list(Sound(path, len(samples)).chunks(5.0))
    assert [(start, len(part) / SAMPLE_RATE) for start, part in parts] == [(0, 5), (5, 5), (10, 2)]
    np.testing.assert_array_equal(np.concatenate([part for _, part in parts]) * 2**15, samples)
