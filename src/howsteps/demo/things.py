"""The things of the demo's films: wheel, bicycle, hands, tools, a person who talks."""

from math import cos, pi, sin

from howsteps.demo.canvas import Canvas, Point
from howsteps.demo.look import Colour

RUBBER: Colour = (38, 38, 42)
STEEL: Colour = (176, 182, 190)
OLD_TUBE: Colour = (70, 62, 60)
TOOL: Colour = (40, 110, 210)


def along(start: Point, end: Point, share: float) -> Point:
    """A point between two."""
    share = min(1.0, max(0.0, share))
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def around(centre: Point, radius: float, turn: float) -> Point:
    """A point on a circle; ``turn`` counts whole turns from the right, clockwise."""
    return centre[0] + radius * cos(2 * pi * turn), centre[1] + radius * sin(2 * pi * turn)


def wheel(c: Canvas, centre: Point, radius: float, turn: float = 0.0, *, tire: bool = True) -> None:
    """A spoked wheel, with its tire or without."""
    for spoke in range(10):
        c.line([centre, around(centre, 0.86 * radius, turn + spoke / 10)], STEEL, 0.004)
    c.ring(centre, 0.86 * radius, STEEL, 0.05 * radius + 0.008)
    if tire:
        c.ring(centre, radius, RUBBER, 0.16 * radius)
    c.disc(centre, 0.1 * radius, STEEL)


def bicycle(
    c: Canvas, centre: Point, size: float, turn: float, *, front: bool = True
) -> tuple[Point, float]:
    """A bicycle turned by ``turn`` whole turns; gives the place of its front wheel and its size."""

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
    """A hand at a place, on an arm that comes from ``home``."""
    elbow = along(home, at, 0.55)
    c.line([home, elbow, at], c.look.sleeve, 0.075)
    c.line([along(elbow, at, 0.45), at], c.look.skin, 0.055)
    c.disc(at, 0.042, c.look.skin)
    for finger in (-1, 0, 1):
        c.line([at, (at[0] + 0.022 * finger, at[1] - 0.06)], c.look.skin, 0.02)


def big_tire(c: Canvas, centre: Point, radius: float, *, lifted: float = 0.0) -> None:
    """A rim seen near, with a tire whose edge is lifted off by a share."""
    c.ring(centre, 0.8 * radius, STEEL, 0.05)
    c.ring(centre, radius, RUBBER, 0.09)
    if lifted > 0:
        c.arc(
            (centre[0], centre[1] - 0.05 * lifted),
            (radius * (1 + 0.08 * lifted), radius * (1 + 0.1 * lifted)),
            (0.55, 0.55 + 0.4 * lifted),
            (92, 88, 86),
            0.05,
        )


def talker(c: Canvas, seconds: float) -> None:
    """A person who talks to the camera, and moves the hands while talking."""
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
    c.patch(
        [
            (x - 0.045, y + 0.07),
            (x + 0.045, y + 0.07),
            (x, y + 0.085 + 0.02 * abs(sin(7.0 * seconds))),
        ],
        (130, 50, 50),
    )
