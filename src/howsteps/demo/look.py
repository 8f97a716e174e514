"""What makes one film of the demo look unlike another: colours, layout, speed and camera."""

import hashlib
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

import numpy as np

Colour: TypeAlias = tuple[int, int, int]

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
    """The look of one film; ``pace`` is how quickly hands move, ``size`` how near things are."""

    wall: Colour
    floor: Colour
    bike: Colour
    sleeve: Colour
    skin: Colour
    new_tube: Colour
    camera: Camera
    mirrored: bool
    pace: float
    size: float
    horizon: float
    phase: float


def look_of(video: str) -> Look:
    """The look of a video; the same name always looks the same."""
    seed = int.from_bytes(hashlib.sha256(video.encode()).digest()[:8])
    chance = np.random.default_rng(seed)

    def one_of(colours: tuple[Colour, ...]) -> Colour:
        return colours[int(chance.integers(len(colours)))]

    return Look(
        wall=one_of(_WALLS),
        floor=one_of(_FLOORS),
        bike=one_of(_BIKES),
        sleeve=one_of(_SLEEVES),
        skin=one_of(_SKINS),
        new_tube=one_of(_NEW_TUBES),
        camera=list(Camera)[int(chance.integers(len(Camera)))],
        mirrored=bool(chance.integers(2)),
        pace=float(chance.uniform(0.75, 1.35)),
        size=float(chance.uniform(0.88, 1.12)),
        horizon=float(chance.uniform(0.62, 0.74)),
        phase=float(chance.uniform(0.0, 6.28)),
    )
