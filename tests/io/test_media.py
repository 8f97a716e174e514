"""Media files are recognised by their content, and open no other files."""

import os
import struct
import zlib
from fractions import Fraction
from pathlib import Path

import av
import pytest

from howsteps.errors import InputError
from howsteps.io.media import MAX_PIXELS, open_media
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
