"""Small videos of making tea: one scene per step, in H.264."""

from fractions import Fraction
from functools import cache
from pathlib import Path

import av
import numpy as np
from PIL import Image, ImageDraw

from .job import SECONDS, tea

FRAMES = 3  # a second
# A wall and a table for each kitchen.
KITCHENS = (
    ("#dfe7ea", "#b98d62"),
    ("#f3e6d0", "#7d5a43"),
    ("#cfdccb", "#d8c3a0"),
    ("#e9d5d3", "#8f8f8a"),
    ("#d9d4e6", "#a9795b"),
    ("#f0ead9", "#5f6f73"),
)
SIZE = (320, 180)


def make_films(
    folder: Path, videos: int, steps: int, size: tuple[int, int] = SIZE
) -> dict[str, Path]:
    """Render the videos of :func:`tests.report.job.tea` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    films = {}
    for n, video in enumerate(tea(videos, steps).task.videos):
        films[video.id] = folder / f"{video.id}.mp4"
        film(films[video.id], video.duration or 0.0, n, size)
    return films


def film(path: Path, seconds: float, kitchen: int, size: tuple[int, int] = SIZE) -> Path:
    """Write one video; the scene changes with the step, and things move a little."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FRAMES)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.options = {"preset": "ultrafast", "crf": "26"}
        for number in range(int(seconds * FRAMES)):
            image = scene(int(number / FRAMES / SECONDS), kitchen, number % FRAMES, size)
            frame = av.VideoFrame.from_ndarray(np.asarray(image), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, FRAMES)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


@cache
def scene(step: int, kitchen: int, beat: int, size: tuple[int, int]) -> Image.Image:
    """A frame of a step: kettle, pot and cups on a table, one of them in use."""
    wall, table = KITCHENS[kitchen % len(KITCHENS)]
    image = Image.new("RGB", (640, 360), wall)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 235, 640, 360), fill=table)
    draw.rectangle((0, 235, 640, 240), fill="#f7f4ee")
    sway = 8 * (beat - 1)
    things = ("kettle", "pot", "cup", "tin")
    for place, thing in enumerate(things):
        in_use = place == step % len(things)
        x = 95 + 150 * place + (sway if in_use else 0)
        y = 250 - (70 if in_use else 0) + 10 * ((step // 4 + place) % 3)
        _thing(draw, thing, x, y, 1.35 if in_use else 0.9, (step * 37 + kitchen * 11) % 360)
    return image.resize(size)


def _thing(draw: ImageDraw.ImageDraw, thing: str, x: float, y: float, by: float, hue: int) -> None:
    colour = f"hsl({hue}, 45%, 42%)"
    dark = f"hsl({hue}, 45%, 28%)"
    if thing in ("kettle", "pot"):
        draw.ellipse((x - 50 * by, y - 45 * by, x + 50 * by, y + 50 * by), fill=colour)
        draw.polygon(
            [(x + 40 * by, y), (x + 80 * by, y - 35 * by), (x + 45 * by, y + 20 * by)], fill=colour
        )
        draw.ellipse((x - 8 * by, y - 60 * by, x + 8 * by, y - 44 * by), fill=dark)
        if thing == "kettle":
            draw.arc(
                (x - 38 * by, y - 85 * by, x + 38 * by, y), 180, 360, fill=dark, width=int(9 * by)
            )
        else:
            draw.arc(
                (x - 85 * by, y - 25 * by, x - 30 * by, y + 30 * by),
                90,
                270,
                fill=dark,
                width=int(9 * by),
            )
    elif thing == "cup":
        draw.rounded_rectangle(
            (x - 35 * by, y - 25 * by, x + 35 * by, y + 45 * by), 14 * by, fill="#fbfbf8"
        )
        draw.ellipse((x - 35 * by, y - 35 * by, x + 35 * by, y - 13 * by), fill=dark)
    else:
        draw.rectangle((x - 34 * by, y - 50 * by, x + 34 * by, y + 48 * by), fill=colour)
        draw.rectangle((x - 38 * by, y - 62 * by, x + 38 * by, y - 44 * by), fill=dark)
