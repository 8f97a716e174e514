"""A small canvas for drawing the demo videos (OpenCV), and the look of each video.

The look distinguishes the videos: colours, layout, speed and camera.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from math import cos, pi, sin
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

RGB: TypeAlias = tuple[int, int, int]

_WALLS = ((226, 220, 205), (188, 205, 214), (206, 190, 178), (170, 178, 164), (232, 210, 190))
_FLOORS = ((120, 96, 72), (98, 104, 108), (140, 128, 104), (84, 92, 78), (150, 112, 84))
_BIKES = ((196, 40, 40), (36, 92, 180), (40, 140, 84), (226, 150, 24), (120, 60, 150), (50, 50, 54))
_SLEEVES = ((70, 70, 80), (30, 110, 120), (170, 60, 70), (210, 180, 70), (90, 120, 60))
_SKINS = ((236, 196, 164), (198, 148, 112), (148, 100, 70), (104, 68, 48))
_NEW_TUBES = ((250, 120, 160), (110, 210, 230), (240, 220, 80), (150, 230, 120))


class Camera(Enum):
    """How the camera is held."""

    STILL = auto()
    PAN = auto()
    ZOOM = auto()
    SHAKE = auto()


@dataclass(frozen=True, slots=True)
class Look:
    """The look of one video; ``pace`` is the speed of the hands, ``size`` the scale of objects."""

    wall: RGB
    floor: RGB
    bike: RGB
    sleeve: RGB
    skin: RGB
    new_tube: RGB
    camera: Camera
    mirrored: bool
    pace: float
    size: float
    horizon: float
    phase: float


def look_of(video: str) -> Look:
    """The look of a video; the same name always gives the same look."""
    seed = int.from_bytes(hashlib.sha256(video.encode()).digest()[:8])
    random = np.random.default_rng(seed)

    def one_of(colours: tuple[RGB, ...]) -> RGB:
        return colours[int(random.integers(len(colours)))]

    return Look(
        wall=one_of(_WALLS),
        floor=one_of(_FLOORS),
        bike=one_of(_BIKES),
        sleeve=one_of(_SLEEVES),
        skin=one_of(_SKINS),
        new_tube=one_of(_NEW_TUBES),
        camera=list(Camera)[int(random.integers(len(Camera)))],
        mirrored=bool(random.integers(2)),
        pace=float(random.uniform(0.75, 1.35)),
        size=float(random.uniform(0.88, 1.12)),
        horizon=float(random.uniform(0.62, 0.74)),
        phase=float(random.uniform(0.0, 6.28)),
    )


WIDTH, HEIGHT = 320, 240
_SHIFT = 4  # positions in sixteenths of a pixel, so that slow motion is smooth

Point: TypeAlias = tuple[float, float]


class Canvas:
    """One frame; x runs from 0 to 4/3 and y from 0 (top) to 1."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self.pixels: NDArray[np.uint8] = np.empty((HEIGHT, WIDTH, 3), np.uint8)
        self._background = _background(look)

    def clear(self) -> None:
        """Start the next frame with an empty room."""
        self.pixels[:] = self._background

    def line(self, points: Sequence[Point], colour: RGB, width: float) -> None:
        """Draw a line through points."""
        path = np.array([_fixed(point) for point in points], np.int32)
        cv2.polylines(self.pixels, [path], False, colour, _pixels(width), cv2.LINE_AA, _SHIFT)

    def patch(self, points: Sequence[Point], colour: RGB) -> None:
        """Draw a filled polygon."""
        path = np.array([_fixed(point) for point in points], np.int32)
        cv2.fillPoly(self.pixels, [path], colour, cv2.LINE_AA, _SHIFT)

    def disc(self, centre: Point, radius: float, colour: RGB) -> None:
        """Draw a filled circle."""
        self._circle(centre, radius, colour, -1)

    def ring(self, centre: Point, radius: float, colour: RGB, width: float) -> None:
        """Draw a circle with a line width."""
        self._circle(centre, radius, colour, _pixels(width))

    def arc(
        self,
        centre: Point,
        radius: tuple[float, float],
        span: Point,
        colour: RGB,
        width: float,
    ) -> None:
        """Draw an arc of an ellipse between two angles, in turns."""
        angles = np.linspace(*span, 24) * 2 * pi
        x, y = centre
        self.line([(x + radius[0] * cos(a), y + radius[1] * sin(a)) for a in angles], colour, width)

    def as_seen(self, seconds: float) -> NDArray[np.uint8]:
        """Return the frame as seen by the camera."""
        look = self.look
        turn = seconds * 0.7 + look.phase
        zoom, x, y = 1.06, 0.0, 0.0
        if look.camera is Camera.PAN:
            x = 9 * sin(0.4 * turn)
        elif look.camera is Camera.ZOOM:
            zoom += 0.06 * sin(0.5 * turn)
        elif look.camera is Camera.SHAKE:
            x, y = 2.2 * sin(5.3 * turn), 1.8 * sin(7.1 * turn + 1.0)
        flip = -1.0 if look.mirrored else 1.0
        view = np.array(
            [
                [flip * zoom, 0.0, WIDTH / 2 * (1 - flip * zoom) + x],
                [0.0, zoom, HEIGHT / 2 * (1 - zoom) + y],
            ]
        )
        seen = cv2.warpAffine(
            self.pixels,
            view,
            (WIDTH, HEIGHT),
            flags=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REFLECT,
        )
        return np.asarray(seen, np.uint8)

    def _circle(self, centre: Point, radius: float, colour: RGB, width: int) -> None:
        size = round(max(radius, 0.004) * HEIGHT * (1 << _SHIFT))
        cv2.circle(self.pixels, _fixed(centre), size, colour, width, cv2.LINE_AA, _SHIFT)


def _fixed(point: Point) -> tuple[int, int]:
    scale = HEIGHT * (1 << _SHIFT)
    return round(point[0] * scale), round(point[1] * scale)


def _pixels(width: float) -> int:
    return max(1, round(width * HEIGHT))


def _background(look: Look) -> NDArray[np.uint8]:
    """Wall and floor, each lit from one side, with video grain."""
    background = np.empty((HEIGHT, WIDTH, 3), np.float32)
    edge = round(HEIGHT * look.horizon)
    background[:edge], background[edge:] = look.wall, look.floor
    background *= np.linspace(0.82, 1.08, WIDTH, dtype=np.float32)[None, :, None]
    grain = np.random.default_rng(round(look.phase * 1000)).normal(0, 3, (HEIGHT, WIDTH, 1))
    return np.clip(background + grain, 0, 255).astype(np.uint8)
