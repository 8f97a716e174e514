"""A film that looks like one to a program: leaves of all sizes, a camera in a hand, moving things.

Shapes that cover each other at random ("dead leaves") have edges, occlusions and sizes distributed
as in photographs, so flow, codecs and networks have as much to do as with a real film.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
SIZE, RATE = (1280, 720), 30


def leaves(width: int, height: int, count: int, chance: np.random.Generator) -> Image:
    """A picture of discs that cover each other, with grain."""
    picture = np.full((height, width, 3), 128, np.uint8)
    for _ in range(count):
        # Areas fall off as 1/r³: many small ones, few large ones.
        radius = int(min(260.0, 6.0 / math.sqrt(1.0 - chance.random() * 0.9995)))
        centre = (int(chance.integers(width)), int(chance.integers(height)))
        colour = tuple(int(c) for c in chance.integers(20, 236, 3))
        axes = (radius, max(2, int(radius * (0.4 + 0.6 * chance.random()))))
        cv2.ellipse(picture, centre, axes, float(chance.random() * 180), 0, 360, colour, -1)
    grain = chance.normal(0, 8, picture.shape)
    return np.clip(cv2.GaussianBlur(picture, (0, 0), 0.8) + grain, 0, 255).astype(np.uint8)


def frames(count: int, seed: int = 0) -> Iterator[Image]:
    """720p pictures, 30 a second."""
    chance = np.random.default_rng(seed)
    width, height = SIZE
    back = leaves(width + 600, height + 400, 9000, chance)
    things = [leaves(200, 200, 300, chance) for _ in range(4)]
    disc = np.zeros((200, 200), np.uint8)
    cv2.circle(disc, (100, 100), 96, 255, -1)
    phases = chance.random((4, 4)) * 2 * math.pi
    for n in range(count):
        t = n / RATE
        # A hand: slow wandering, a little tremor, a little zoom.
        pan_x = 300 + 220 * math.sin(0.4 * t) + 2 * math.sin(9 * t)
        pan_y = 200 + 130 * math.sin(0.3 * t + 1) + 2 * math.sin(11 * t)
        zoom = 1 + 0.06 * math.sin(0.5 * t)
        view = cv2.getRotationMatrix2D(
            (pan_x + width / 2, pan_y + height / 2), 2 * math.sin(0.7 * t), zoom
        )
        view[:, 2] -= [pan_x, pan_y]
        picture = cv2.warpAffine(back, view, SIZE, borderMode=cv2.BORDER_REFLECT)
        for thing, (a, b, c, d) in zip(things, phases, strict=True):
            x = width / 2 + 420 * math.sin(1.3 * t + a) + 60 * math.sin(3 * t + b) - 100
            y = height / 2 + 200 * math.sin(1.7 * t + c) + 40 * math.sin(4 * t + d) - 100
            place = np.array([[1, 0, x], [0, 1, y]], np.float32)
            mask = cv2.warpAffine(disc, place, SIZE)
            np.copyto(picture, cv2.warpAffine(thing, place, SIZE), where=mask[..., None] > 127)
        yield picture


def render(path: Path, seconds: float, seed: int = 0) -> Path:
    """Write such a film as H.264, as a camera or a platform would."""
    with av.open(str(path), "w") as container:
        options = {"preset": "veryfast", "crf": "23", "g": "60"}
        stream = container.add_stream("libx264", rate=RATE, options=options)
        stream.width, stream.height = SIZE
        stream.pix_fmt = "yuv420p"
        for picture in frames(round(seconds * RATE), seed):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, "bgr24")))
        container.mux(stream.encode(None))
    return path


def repeat(source: Path, path: Path, times: int) -> Path:
    """The same film over and over in one file, without encoding it again."""
    with av.open(str(path), "w") as target:
        stream = None
        for turn in range(times):
            with av.open(str(source)) as container:
                if stream is None:
                    stream = target.add_stream_from_template(container.streams.video[0])
                length = Fraction(container.duration, av.time_base)
                for packet in container.demux(video=0):
                    if packet.dts is not None and packet.pts is not None:
                        shift = int(turn * length / packet.time_base)
                        packet.dts, packet.pts = packet.dts + shift, packet.pts + shift
                        packet.stream = stream
                        target.mux(packet)
    return path
