"""The scenes of the demo, one per step, drawn on a small canvas (OpenCV)."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
_CAMERAS = ("still", "pan", "zoom", "shake")
_NEW_TUBES = ((250, 120, 160), (110, 210, 230), (240, 220, 80), (150, 230, 120))


@dataclass(frozen=True, slots=True)
class Look:
    """The look of one video; ``pace`` is the speed of the hands, ``size`` the scale of objects."""

    wall: RGB
    floor: RGB
    bike: RGB
    sleeve: RGB
    skin: RGB
    new_tube: RGB
    camera: str
    mirrored: bool
    pace: float
    size: float
    horizon: float
    phase: float


def look_of(video: str) -> Look:
    """The look of a video; the same name always gives the same look."""
    seed = int.from_bytes(hashlib.sha256(video.encode()).digest()[:8])
    random = np.random.default_rng(seed)
    palettes = (_WALLS, _FLOORS, _BIKES, _SLEEVES, _SKINS, _NEW_TUBES)
    wall, floor, bike, sleeve, skin, tube = (each[random.integers(len(each))] for each in palettes)
    camera, mirrored = _CAMERAS[random.integers(len(_CAMERAS))], bool(random.integers(2))
    ranges = ((0.75, 1.35), (0.88, 1.12), (0.62, 0.74), (0.0, 6.28))
    numbers = (random.uniform(low, high) for low, high in ranges)
    return Look(wall, floor, bike, sleeve, skin, tube, camera, mirrored, *numbers)


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
        self.ring(centre, radius, colour, 0)

    def ring(self, centre: Point, radius: float, colour: RGB, width: float) -> None:
        """Draw a circle with a line width; without one, it is filled."""
        size = round(max(radius, 0.004) * HEIGHT * (1 << _SHIFT))
        line = _pixels(width) if width else cv2.FILLED
        cv2.circle(self.pixels, _fixed(centre), size, colour, line, cv2.LINE_AA, _SHIFT)

    def arc(self, centre: Point, radius: Point, span: Point, colour: RGB, width: float) -> None:
        """Draw an arc of an ellipse between two angles, in turns."""
        angles = np.linspace(*span, 24) * 2 * pi
        x, y = centre
        self.line([(x + radius[0] * cos(a), y + radius[1] * sin(a)) for a in angles], colour, width)

    def as_seen(self, seconds: float) -> NDArray[np.uint8]:
        """Return the frame as seen by the camera."""
        look = self.look
        turn = seconds * 0.7 + look.phase
        zoom, x, y = 1.06, 0.0, 0.0
        if look.camera == "pan":
            x = 9 * sin(0.4 * turn)
        elif look.camera == "zoom":
            zoom += 0.06 * sin(0.5 * turn)
        elif look.camera == "shake":
            x, y = 2.2 * sin(5.3 * turn), 1.8 * sin(7.1 * turn + 1.0)
        across = -zoom if look.mirrored else zoom
        to_centre = WIDTH / 2 * (1 - across) + x, HEIGHT / 2 * (1 - zoom) + y
        view = np.array([[across, 0, to_centre[0]], [0, zoom, to_centre[1]]])
        seen = cv2.warpAffine(self.pixels, view, (WIDTH, HEIGHT), borderMode=cv2.BORDER_REFLECT)
        return np.asarray(seen, np.uint8)


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


RUBBER: RGB = (38, 38, 42)
STEEL: RGB = (176, 182, 190)
OLD_TUBE: RGB = (70, 62, 60)
TOOL: RGB = (40, 110, 210)


def along(start: Point, end: Point, share: float) -> Point:
    """A point between two."""
    share = min(1.0, max(0.0, share))
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def on_circle(centre: Point, radius: float, turn: float) -> Point:
    """A point on a circle; ``turn`` counts whole turns from the right, clockwise."""
    return centre[0] + radius * cos(2 * pi * turn), centre[1] + radius * sin(2 * pi * turn)


def wheel(c: Canvas, centre: Point, radius: float, turn: float = 0.0) -> None:
    """A spoked wheel with its tire."""
    for spoke in range(10):
        c.line([centre, on_circle(centre, 0.86 * radius, turn + spoke / 10)], STEEL, 0.004)
    c.ring(centre, 0.86 * radius, STEEL, 0.05 * radius + 0.008)
    c.ring(centre, radius, RUBBER, 0.16 * radius)
    c.disc(centre, 0.1 * radius, STEEL)


def bicycle(
    c: Canvas, centre: Point, size: float, turn: float, *, front: bool = True
) -> tuple[Point, float]:
    """A bicycle, rotated by ``turn`` turns; returns centre and radius of its front wheel."""

    def at(x: float, y: float) -> Point:
        angle = 2 * pi * turn
        return (
            centre[0] + size * (x * cos(angle) - y * sin(angle)),
            centre[1] + size * (x * sin(angle) + y * cos(angle)),
        )

    rear, hub, crank = at(-0.5, 0.2), at(0.52, 0.2), at(-0.05, 0.2)
    seat, head = at(-0.2, -0.18), at(0.36, -0.2)
    wheel(c, rear, 0.3 * size)
    if front:
        wheel(c, hub, 0.3 * size)
    frame = c.look.bike
    for path in ([rear, crank, head, seat, rear], [seat, crank], [head, hub]):
        c.line(path, frame, 0.03 * size + 0.008)
    c.line([at(-0.3, -0.27), at(-0.1, -0.27)], RUBBER, 0.05 * size)
    c.line([at(0.36, -0.2), at(0.34, -0.32), at(0.46, -0.34)], STEEL, 0.02 * size + 0.006)
    return hub, 0.3 * size


def hand(c: Canvas, at: Point, home: Point) -> None:
    """A hand at a point, on an arm that comes from ``home``."""
    elbow = along(home, at, 0.55)
    c.line([home, elbow, at], c.look.sleeve, 0.075)
    c.line([along(elbow, at, 0.45), at], c.look.skin, 0.055)
    c.disc(at, 0.042, c.look.skin)
    for finger in (-1, 0, 1):
        c.line([at, (at[0] + 0.022 * finger, at[1] - 0.06)], c.look.skin, 0.02)


def big_tire(c: Canvas, centre: Point, radius: float, *, lifted: float = 0.0) -> None:
    """A rim in close-up, with a tire whose edge is partly lifted off."""
    c.ring(centre, 0.8 * radius, STEEL, 0.05)
    c.ring(centre, radius, RUBBER, 0.09)
    if lifted > 0:
        above = centre[0], centre[1] - 0.05 * lifted
        larger = radius * (1 + 0.08 * lifted), radius * (1 + 0.1 * lifted)
        c.arc(above, larger, (0.55, 0.55 + 0.4 * lifted), (92, 88, 86), 0.05)


def talker(c: Canvas, seconds: float) -> None:
    """A person who talks to the camera and moves the hands."""
    look = c.look
    x, y = 0.66 + 0.015 * sin(0.9 * seconds), 0.4
    c.patch([(x - 0.3, 1.0), (x - 0.2, 0.62), (x + 0.2, 0.62), (x + 0.3, 1.0)], look.sleeve)
    c.line([(x, 0.64), (x, 0.55)], look.skin, 0.1)
    c.disc((x, y), 0.15, look.skin)
    c.arc((x, y - 0.02), (0.15, 0.14), (0.52, 0.98), look.bike, 0.05)
    for side in (-1, 1):
        c.disc((x + 0.055 * side, y - 0.02), 0.014, (30, 30, 30))
        lift = 0.06 * sin(2.6 * look.pace * seconds + side)
        hand(c, (x + 0.33 * side, 0.74 + lift), (x + 0.26 * side, 1.02))
    open_to = y + 0.085 + 0.02 * abs(sin(7.0 * seconds))
    c.patch([(x - 0.045, y + 0.07), (x + 0.045, y + 0.07), (x, open_to)], (130, 50, 50))


Scene: TypeAlias = Callable[[Canvas, float, float], None]

LEFT_ARM: Point = (0.1, 1.05)
RIGHT_ARM: Point = (1.24, 1.05)


def flip_the_bike(c: Canvas, share: float, seconds: float) -> None:
    """The whole bicycle is turned over on its saddle."""
    turn = 0.5 * (0.5 - 0.5 * sin(pi * (0.5 - share)))
    bicycle(c, (0.66, 0.56), 0.7 * c.look.size, turn)
    hand(c, along((0.36, 0.78), (0.42, 0.42), share), LEFT_ARM)
    hand(c, along((0.96, 0.74), (0.92, 0.46), share), RIGHT_ARM)


def remove_the_wheel(c: Canvas, share: float, seconds: float) -> None:
    """The wheel is lifted out of the fork of an upturned bicycle."""
    hub, radius = bicycle(c, (0.62, 0.62), 0.72 * c.look.size, 0.5, front=False)
    place = along(hub, (hub[0] - 0.02, hub[1] - 0.36), max(0.0, 1.5 * share - 0.4))
    wheel(c, place, radius, 0.3 * share)
    hand(c, (place[0] - 0.07, place[1] + 0.05 + 0.01 * sin(9 * seconds)), LEFT_ARM)


def put_back_the_wheel(c: Canvas, share: float, seconds: float) -> None:
    """The wheel goes down into the fork; then the nut is turned with a spanner."""
    hub, radius = bicycle(c, (0.62, 0.62), 0.72 * c.look.size, 0.5, front=False)
    place = along((hub[0] - 0.02, hub[1] - 0.36), hub, 2.0 * share)
    wheel(c, place, radius)
    if share < 0.5:
        hand(c, (place[0] + 0.1, place[1] - 0.02), RIGHT_ARM)
    else:
        end = on_circle(hub, 0.2, 0.15 + 0.1 * sin(5 * c.look.pace * seconds))
        c.line([hub, end], TOOL, 0.03)
        hand(c, end, RIGHT_ARM)


def let_out_the_air(c: Canvas, share: float, seconds: float) -> None:
    """Close-up: a finger on the valve, and air that leaves in puffs."""
    c.line([(0.0, 0.86), (1.34, 0.8 + 0.04 * share)], RUBBER, 0.22 - 0.07 * share)
    c.line([(0.0, 0.62), (1.34, 0.57)], STEEL, 0.07)
    c.line([(0.66, 0.6), (0.66, 0.36)], (196, 160, 80), 0.035)
    for puff in range(5):
        age = (seconds * 1.6 * c.look.pace + puff / 5) % 1.0
        side = 1 if puff % 2 else -1
        at = (0.66 + side * (0.05 + 0.3 * age), 0.33 - 0.22 * age)
        c.disc(at, 0.02 + 0.05 * age, (240, 244, 248))
    hand(c, (0.68, 0.35 + 0.015 * sin(6 * seconds)), RIGHT_ARM)


def lever_off_the_tire(c: Canvas, share: float, seconds: float) -> None:
    """Close-up: a lever under the edge of the tire goes round and lifts it."""
    centre, radius = (0.66, 0.62), 0.42 * c.look.size
    big_tire(c, centre, radius, lifted=share)
    turn = 0.6 + 0.32 * share
    inner = on_circle(centre, 0.8 * radius, turn)
    pry = on_circle(centre, radius + 0.2 + 0.05 * sin(6 * c.look.pace * seconds), turn + 0.03)
    c.line([inner, pry], TOOL, 0.05)
    hand(c, pry, RIGHT_ARM)
    hand(c, on_circle(centre, radius, 0.4), LEFT_ARM)


def pull_out_the_tube(c: Canvas, share: float, seconds: float) -> None:
    """The old tube slides out of the tire to the side, limp."""
    centre, radius = (0.46, 0.55), 0.32 * c.look.size
    big_tire(c, centre, radius)
    reach = 0.1 + 0.5 * share
    sag = 0.03 * sin(4 * c.look.pace * seconds)
    loop = [
        on_circle(centre, 0.88 * radius, 0.9),
        (centre[0] + radius + 0.4 * reach, 0.36 + sag),
        (centre[0] + radius + reach, 0.6 - sag),
        (centre[0] + radius + 0.4 * reach, 0.78),
        on_circle(centre, 0.88 * radius, 0.1),
    ]
    c.line(loop, OLD_TUBE, 0.045)
    hand(c, (centre[0] + radius + reach, 0.6 - sag), RIGHT_ARM)


def check_the_tire(c: Canvas, share: float, seconds: float) -> None:
    """Fingers go along the inside of the tire, under a lamp, and find a thorn."""
    centre, radius = (0.66, 0.95), 0.62 * c.look.size
    c.ring(centre, radius, RUBBER, 0.16)
    c.ring(centre, 0.88 * radius, (110, 96, 80), 0.06)
    c.patch([(0.56, 0.0), (0.76, 0.0), (0.9, 0.2), (0.42, 0.2)], (250, 236, 150))
    thorn = on_circle(centre, 0.86 * radius, 0.8)
    c.line([thorn, (thorn[0] - 0.03, thorn[1] + 0.07)], (210, 230, 240), 0.016)
    turn = 0.62 + 0.22 * share + 0.02 * sin(3 * c.look.pace * seconds)
    hand(c, on_circle(centre, 0.84 * radius, turn), LEFT_ARM)


def inflate_the_new_tube(c: Canvas, share: float, seconds: float) -> None:
    """A new tube, alone on the floor, becomes round at a small hand pump."""
    round_ = 0.4 + 0.6 * share
    centre = (0.5, 0.56)
    radius = (0.28 * c.look.size, 0.28 * c.look.size * round_)
    c.arc(centre, radius, (0.0, 1.0), c.look.new_tube, 0.03 + 0.04 * share)
    stroke = 0.08 * (1 + sin(7 * c.look.pace * seconds))
    c.line([(0.5 + radius[0], 0.56), (0.9, 0.5)], RUBBER, 0.014)
    c.line([(0.9, 0.5), (1.04, 0.5)], (220, 80, 40), 0.06)
    c.line([(1.04, 0.5), (1.08 + stroke, 0.5)], STEEL, 0.025)
    hand(c, (1.08 + stroke, 0.52), RIGHT_ARM)


def put_in_the_tube(c: Canvas, share: float, seconds: float) -> None:
    """The new tube, bright and round, goes into the tire from the side."""
    centre, radius = (0.46, 0.55), 0.32 * c.look.size
    big_tire(c, centre, radius)
    left = 1.0 - share
    around = (0.9 * radius, 0.9 * radius)
    c.arc(centre, around, (0.5 - 0.5 * share, 0.5 + 0.5 * share), c.look.new_tube, 0.05)
    away = (centre[0] + 0.4 * left + 0.04, centre[1])
    if left > 0.05:
        c.arc(away, around, (-0.3 * left, 0.3 * left), c.look.new_tube, 0.05)
    push = 0.02 * sin(6 * c.look.pace * seconds)
    hand(c, (away[0] + 0.8 * radius + push, 0.5), RIGHT_ARM)
    hand(c, on_circle(centre, radius, 0.45), LEFT_ARM)


def seat_the_tire(c: Canvas, share: float, seconds: float) -> None:
    """Close-up: two thumbs roll the edge of the tire over the rim, away from each other."""
    centre, radius = (0.66, 0.42), 0.4 * c.look.size
    big_tire(c, centre, radius, lifted=1.0 - share)
    c.ring(centre, 0.9 * radius, c.look.new_tube, 0.02)
    roll = 0.012 * sin(8 * c.look.pace * seconds)
    for side, home in ((-1, LEFT_ARM), (1, RIGHT_ARM)):
        hand(c, on_circle(centre, radius + roll, 0.25 - side * (0.04 + 0.22 * share)), home)


def pump_up_the_tire(c: Canvas, share: float, seconds: float) -> None:
    """A floor pump: its handle goes up and down beside the wheel."""
    wheel(c, (0.36, 0.62), 0.3 * c.look.size)
    stroke = 0.13 * (1 + sin(5 * c.look.pace * seconds))
    c.line([(0.84, 0.92), (1.14, 0.92)], RUBBER, 0.03)
    c.line([(0.99, 0.92), (0.99, 0.56)], (220, 60, 40), 0.06)
    c.line([(0.99, 0.56), (0.99, 0.5 - stroke)], STEEL, 0.022)
    c.line([(0.85, 0.5 - stroke), (1.13, 0.5 - stroke)], RUBBER, 0.035)
    c.line([(0.97, 0.9), (0.72, 0.97), (0.42, 0.88)], RUBBER, 0.016)
    for side in (-1, 1):
        hand(c, (0.99 + 0.12 * side, 0.5 - stroke), (0.99 + 0.3 * side, -0.05))


# By the names of the true steps.
SCENES: dict[str, Scene] = {
    scene.__name__.replace("_", " "): scene
    for scene in (
        *(flip_the_bike, remove_the_wheel, let_out_the_air, lever_off_the_tire),
        *(pull_out_the_tube, check_the_tire, inflate_the_new_tube, put_in_the_tube),
        *(seat_the_tire, pump_up_the_tire, put_back_the_wheel),
    )
}
