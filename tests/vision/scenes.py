"""Rendered videos with known motion: a textured scene, a panning camera, a moving disc."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]


def texture(height: int, width: int, seed: int = 0) -> Image:
    """Cloudy noise with detail at all scales."""
    chance = np.random.default_rng(seed)
    total = np.zeros((height, width), np.float32)
    for size in (2, 4, 8, 16, 32, 64):
        noise = chance.random((height // size + 2, width // size + 2), dtype=np.float32)
        total += size**0.75 * cv2.resize(noise, (width, height), interpolation=cv2.INTER_CUBIC)
    low, high = np.percentile(total, (1, 99))
    return np.clip(255 * (total - low) / (high - low), 0, 255).astype(np.uint8)


def scene(
    frames: int,
    *,
    size: tuple[int, int] = (320, 240),
    camera: tuple[float, float] = (0, 0),
    disc: tuple[float, float] | None = None,
    radius: int = 40,
    seed: int = 0,
) -> Iterator[Image]:
    """Luminance images; speeds are in pixels per frame, that of the disc relative to the scene."""
    width, height = size
    margin = int(max(map(abs, camera)) * frames) + 4
    back = texture(height + 2 * margin, width + 2 * margin, seed)
    front = texture(2 * radius + 1, 2 * radius + 1, seed + 1)
    rows, columns = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    mask = (rows**2 + columns**2 <= radius**2).astype(np.float32)
    for n in range(frames):
        # If the camera moves right, the scene moves left.
        view = shifted(back, margin + camera[0] * n, margin + camera[1] * n, width, height)
        if disc is not None:
            x = width / 2 + (disc[0] - camera[0]) * n - disc[0] * frames / 2 + 0.0
            y = height / 2 + (disc[1] - camera[1]) * n - disc[1] * frames / 2
            view = pasted(view, front, mask, x - radius, y - radius)
        yield np.rint(view).astype(np.uint8)


def shifted(back: Image, x: float, y: float, width: int, height: int) -> NDArray[np.float32]:
    """The part of an image that begins at (x, y), with subpixel interpolation."""
    centre = (x + (width - 1) / 2, y + (height - 1) / 2)
    return cv2.getRectSubPix(back.astype(np.float32), (width, height), centre)


def pasted(
    view: NDArray[np.float32], front: Image, mask: NDArray[np.float32], x: float, y: float
) -> NDArray[np.float32]:
    """Paste a small image into another at (x, y)."""
    move = np.array([[1, 0, x], [0, 1, y]], np.float32)
    size = (view.shape[1], view.shape[0])
    over = cv2.warpAffine(front.astype(np.float32), move, size)
    cover = cv2.warpAffine(mask, move, size)
    return view * (1 - cover) + over * cover


def film(
    path: Path,
    pictures: Iterable[NDArray[np.uint8]],
    *,
    rate: Fraction = Fraction(30),
    stamps: Sequence[int | None] | None = None,
    codec: str = "libx264",
    form: str | None = None,
    aspect: Fraction = Fraction(1),
    kind: str | None = None,
    options: dict[str, str] | None = None,
) -> Path:
    """Write images (luminance or RGB) as a video file; ``aspect`` is that of a pixel."""
    with av.open(str(path), "w", format=kind) as container:
        stream = None
        for n, picture in enumerate(pictures):
            if stream is None:
                stream = container.add_stream(codec, rate=rate, options=options or {})
                stream.height, stream.width = picture.shape[:2]
                stream.pix_fmt = form or ("yuvj420p" if codec == "mjpeg" else "yuv420p")
                stream.codec_context.sample_aspect_ratio = aspect
            frame = av.VideoFrame.from_ndarray(picture, "gray" if picture.ndim == 2 else "rgb24")
            frame.pts = n if stamps is None else stamps[n]
            container.mux(stream.encode(frame))
        assert stream is not None
        container.mux(stream.encode(None))
    return path
