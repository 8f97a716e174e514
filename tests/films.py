"""Tiny test videos: a square that moves over a coloured background, and a tone."""

from bisect import bisect
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

WIDTH, HEIGHT, RATE = 64, 48, 10


def film(
    path: Path,
    seconds: float = 6.0,
    *,
    sound: bool = False,
    keyframes: int = 10,
    b_frames: int = 0,
    scenes: Sequence[float] = (),
) -> Path:
    """Write a video with another colour every second, so that frames can be told apart.

    With ``scenes``, the colour and the place of the square change at these seconds instead.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.options = {
            **{"preset": "ultrafast", "threads": "1"},
            **{"g": str(keyframes), "bf": str(b_frames)},
        }
        voice = container.add_stream("aac", rate=16_000, layout="mono") if sound else None
        for n in range(round(seconds * RATE)):
            scene = bisect(scenes, n / RATE) if scenes else n // RATE
            picture = np.full((HEIGHT, WIDTH, 3), (40 * scene % 256, 90, 150), np.uint8)
            at = 50 * scene % 37 if scenes else n % 50
            picture[10:20, at : at + 10] = 255
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
        if voice is not None:
            tone = np.sin(np.arange(round(seconds * 16_000)) / 6).astype(np.float32)
            for at in range(0, len(tone), 1024):
                part = tone[None, at : at + 1024]
                heard = av.AudioFrame.from_ndarray(part, format="fltp", layout="mono")
                heard.sample_rate, heard.pts, heard.time_base = 16_000, at, Fraction(1, 16_000)
                container.mux(voice.encode(heard))
            container.mux(voice.encode(None))
    return path


def lay_on_its_side(path: Path) -> Path:
    """Set the rotation in the header of an MP4 file to a quarter turn to the right."""
    content = bytearray(path.read_bytes())
    # The matrix in the track header says how the picture is turned: [0 1; -1 0] is a quarter.
    upright, turned = (
        b"".join(n.to_bytes(4, "big") for n in (*matrix, 0, 0, 0x40000000))
        for matrix in ((0x10000, 0, 0, 0, 0x10000, 0), (0, 0x10000, 0, 0xFFFF0000, 0, 0))
    )
    place = content.index(upright, content.index(b"tkhd"))
    content[place : place + len(turned)] = turned
    path.write_bytes(content)
    return path


def length(path: Path) -> float:
    """Seconds from the first frame to the last."""
    with av.open(str(path)) as container:
        times = [float(frame.time) for frame in container.decode(video=0)]
    return times[-1] - times[0]
