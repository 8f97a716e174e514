"""A small canvas in units of its height, on which films are drawn (OpenCV)."""

from collections.abc import Sequence
from math import cos, pi, sin
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from howsteps.demo.look import Camera, Colour, Look

WIDTH, HEIGHT = 320, 240
_SHIFT = 4  # positions to a sixteenth of a pixel, so that slow things do not jump

Point: TypeAlias = tuple[float, float]


class Canvas:
    """One frame; x runs from 0 to 4/3 and y from 0 (top) to 1."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self.pixels: NDArray[np.uint8] = np.empty((HEIGHT, WIDTH, 3), np.uint8)
        self._ground = _ground(look)

    def clear(self) -> None:
        """Begin the next frame: the room, and nothing in it."""
        self.pixels[:] = self._ground

    def line(self, points: Sequence[Point], colour: Colour, width: float) -> None:
        """A line through points."""
        path = np.array([_fixed(point) for point in points], np.int32)
        cv2.polylines(self.pixels, [path], False, colour, _pixels(width), cv2.LINE_AA, _SHIFT)

    def patch(self, points: Sequence[Point], colour: Colour) -> None:
        """A filled polygon."""
        path = np.array([_fixed(point) for point in points], np.int32)
        cv2.fillPoly(self.pixels, [path], colour, cv2.LINE_AA, _SHIFT)

    def disc(self, centre: Point, radius: float, colour: Colour) -> None:
        """A filled circle."""
        self._circle(centre, radius, colour, -1)

    def ring(self, centre: Point, radius: float, colour: Colour, width: float) -> None:
        """A circle of a width."""
        self._circle(centre, radius, colour, _pixels(width))

    def arc(
        self,
        centre: Point,
        radius: tuple[float, float],
        span: Point,
        colour: Colour,
        width: float,
    ) -> None:
        """A part of an ellipse from one angle to another, in turns."""
        angles = np.linspace(*span, 24) * 2 * pi
        x, y = centre
        self.line([(x + radius[0] * cos(a), y + radius[1] * sin(a)) for a in angles], colour, width)

    def filmed(self, seconds: float) -> NDArray[np.uint8]:
        """The frame as the camera sees it."""
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

    def _circle(self, centre: Point, radius: float, colour: Colour, width: int) -> None:
        size = round(max(radius, 0.004) * HEIGHT * (1 << _SHIFT))
        cv2.circle(self.pixels, _fixed(centre), size, colour, width, cv2.LINE_AA, _SHIFT)


def _fixed(point: Point) -> tuple[int, int]:
    scale = HEIGHT * (1 << _SHIFT)
    return round(point[0] * scale), round(point[1] * scale)


def _pixels(width: float) -> int:
    return max(1, round(width * HEIGHT))


def _ground(look: Look) -> NDArray[np.uint8]:
    """Wall and floor, each lit from one side, with a grain that films have."""
    ground = np.empty((HEIGHT, WIDTH, 3), np.float32)
    edge = round(HEIGHT * look.horizon)
    ground[:edge], ground[edge:] = look.wall, look.floor
    ground *= np.linspace(0.82, 1.08, WIDTH, dtype=np.float32)[None, :, None]
    grain = np.random.default_rng(round(look.phase * 1000)).normal(0, 3, (HEIGHT, WIDTH, 1))
    return np.clip(ground + grain, 0, 255).astype(np.uint8)
