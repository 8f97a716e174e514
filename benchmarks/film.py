"""Render synthetic videos with natural image statistics: dead leaves, hand-held camera, motion.

Shapes that occlude each other at random ("dead leaves") have edges, occlusions and sizes
distributed as in photographs, so that optical flow, codecs and networks take realistic time.
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


def leaves(width: int, height: int, count: int, rng: np.random.Generator) -> Image:
    """Draw an image of ellipses that occlude each other, with grain."""
    image = np.full((height, width, 3), 128, np.uint8)
    for _ in range(count):
        # Areas fall off as 1/r³: many small ones, few large ones.
        radius = int(min(260.0, 6.0 / math.sqrt(1.0 - rng.random() * 0.9995)))
        centre = (int(rng.integers(width)), int(rng.integers(height)))
        colour = tuple(int(c) for c in rng.integers(20, 236, 3))
        axes = (radius, max(2, int(radius * (0.4 + 0.6 * rng.random()))))
        cv2.ellipse(image, centre, axes, float(rng.random() * 180), 0, 360, colour, -1)
    grain = rng.normal(0, 8, image.shape)
    return np.clip(cv2.GaussianBlur(image, (0, 0), 0.8) + grain, 0, 255).astype(np.uint8)


def frames(count: int, seed: int = 0) -> Iterator[Image]:
    """Yield 720p frames at 30 frames per second."""
    rng = np.random.default_rng(seed)
    width, height = SIZE
    back = leaves(width + 600, height + 400, 9000, rng)
    objects = [leaves(200, 200, 300, rng) for _ in range(4)]
    disc = np.zeros((200, 200), np.uint8)
    cv2.circle(disc, (100, 100), 96, 255, -1)
    phases = rng.random((4, 4)) * 2 * math.pi
    for n in range(count):
        t = n / RATE
        # A hand-held camera: slow pan, tremor, zoom.
        pan_x = 300 + 220 * math.sin(0.4 * t) + 2 * math.sin(9 * t)
        pan_y = 200 + 130 * math.sin(0.3 * t + 1) + 2 * math.sin(11 * t)
        zoom = 1 + 0.06 * math.sin(0.5 * t)
        view = cv2.getRotationMatrix2D(
            (pan_x + width / 2, pan_y + height / 2), 2 * math.sin(0.7 * t), zoom
        )
        view[:, 2] -= [pan_x, pan_y]
        image = cv2.warpAffine(back, view, SIZE, borderMode=cv2.BORDER_REFLECT)
        for texture, (a, b, c, d) in zip(objects, phases, strict=True):
            x = width / 2 + 420 * math.sin(1.3 * t + a) + 60 * math.sin(3 * t + b) - 100
            y = height / 2 + 200 * math.sin(1.7 * t + c) + 40 * math.sin(4 * t + d) - 100
            shift = np.array([[1, 0, x], [0, 1, y]], np.float32)
            mask = cv2.warpAffine(disc, shift, SIZE)
            np.copyto(image, cv2.warpAffine(texture, shift, SIZE), where=mask[..., None] > 127)
        yield image


def render(path: Path, seconds: float, seed: int = 0) -> Path:
    """Write a synthetic video as H.264."""
    with av.open(str(path), "w") as container:
        options = {"preset": "veryfast", "crf": "23", "g": "60"}
        stream = container.add_stream("libx264", rate=RATE, options=options)
        stream.width, stream.height = SIZE
        stream.pix_fmt = "yuv420p"
        for image in frames(round(seconds * RATE), seed):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, "bgr24")))
        container.mux(stream.encode(None))
    return path


def repeat(source: Path, path: Path, times: int) -> Path:
    """Write a video repeated ``times`` times, without encoding it again."""
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
