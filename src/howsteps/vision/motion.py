"""Improved dense trajectories: what moves, and how, whatever the camera does.

Points on grids of several scales are carried through the flow for half a second (15 frames of 30
a second). The flow along a track, with the camera's part taken out, is its descriptor: HOF, a
histogram of directions in 2×2 cells of the picture and 3 of time, 9 bins each. Tracks that stand
still, leap, or only follow the camera are dropped.

H. Wang and C. Schmid, "Action Recognition with Improved Trajectories", ICCV 2013.
"""

from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from howsteps.vision import tracks
from howsteps.vision.flow import FlowField, Homography, camera, without_camera
from howsteps.vision.frames import Image
from howsteps.vision.options import MotionOptions
from howsteps.vision.stopwatch import Spent, timed

_UNIT = 1 / 30  # speeds are in pixels per this many seconds, whatever the frame rate
_TEXTURE = 0.001  # of the most textured pixel: what a place needs to be followed
_FLAT = 1e-6  # least texture of all, so that a blank picture has none
_CLOSEST = 0.8  # of 1/rate: frames that are closer are left out
_CUT = 25.0  # mean difference of luminance after the flow that only a cut of the video makes


@dataclass(frozen=True, slots=True)
class Tracks:
    """Tracks that ended in the same frame: HOF (n×108), paths (n×(steps+1)×2), middle time."""

    time: float
    descriptors: NDArray[np.float32]
    paths: NDArray[np.float32]


@dataclass(slots=True, eq=False)
class _Generation:
    """Tracks that were born in the same frame, and live and end together."""

    born: float
    scale: NDArray[np.intp]
    path: NDArray[np.float32]
    moved: NDArray[np.float32]
    histogram: NDArray[np.float32]
    alive: NDArray[np.bool_]
    steps: int = 0
    counts: list[int] = field(default_factory=lambda: [0] * tracks.TIMES)


class Motion:
    """Takes small luminance frames one after another and gives the tracks that end in each.

    ``spent`` is where the seconds are added up by what they were spent on.
    """

    def __init__(self, options: MotionOptions | None = None, spent: Spent | None = None) -> None:
        self.options = options or MotionOptions()
        self.spent = Spent(float) if spent is None else spent
        self._field = FlowField(self.options.flow)
        self._before: Image | None = None
        self._time = 0.0
        self._turn = 0
        self._living: list[_Generation] = []
        self._most_steps = int(self.options.seconds * self.options.rate / _CLOSEST) + 2

    def due(self, time: float) -> bool:
        """Whether a frame at this time is to be looked at, or is too close to the last one."""
        return self._before is None or time - self._time >= _CLOSEST / self.options.rate

    def step(self, picture: Image, time: float) -> list[Tracks]:
        """Look at the next frame; the tracks that end with it."""
        if not self.due(time):
            return []
        before, seconds = self._before, time - self._time
        self._before, self._time = picture, time
        ended: list[_Generation] = []
        flows = None
        if before is not None and seconds <= self.options.seconds:
            flows = self._flows(before, picture)
        if before is None or flows is None:
            self._living = []  # the video begins, stood still for long, or was cut
        else:
            ended = self._carry(before, *flows, time, seconds)
        with timed(self.spent, "tracks"):
            self._beget(picture, time)
            return [kept for generation in ended if (kept := self._end(generation, time))]

    def _flows(
        self, before: Image, after: Image
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
        """The flow and its median; None where the video was cut between the two frames."""
        with timed(self.spent, "flow"):
            flow, filtered = self._field.between(before, after)
            is_cut = _difference(before, after, filtered) > _CUT
        return None if is_cut else (flow, filtered)

    def _carry(
        self,
        before: Image,
        flow: NDArray[np.float32],
        filtered: NDArray[np.float32],
        time: float,
        seconds: float,
    ) -> list[_Generation]:
        """Carry all tracks along the flow; those that have lived their life leave."""
        with timed(self.spent, "camera"):
            moved = camera(before, flow) if self.options.camera else None
            corrected = without_camera(filtered, _inverse(moved), _UNIT / seconds)
        with timed(self.spent, "descriptors"):
            sums = tracks.direction_sums(corrected, self.options.still)
            for generation in self._living:
                self._advance(generation, time - seconds, filtered, corrected, sums)
        # The step that comes nearest to the life of a track is its last.
        last = time + seconds / 2 - self.options.seconds
        ended = [generation for generation in self._living if generation.born <= last]
        self._living = [generation for generation in self._living if generation.born > last]
        return ended

    def _advance(
        self,
        generation: _Generation,
        time: float,
        flow: NDArray[np.float32],
        corrected: NDArray[np.float32],
        sums: NDArray[np.int32],
    ) -> None:
        step = generation.steps
        share = (time - generation.born) / self.options.seconds
        cell = min(int(tracks.TIMES * share + 1e-6), tracks.TIMES - 1)
        tracks.advance(
            flow,
            corrected,
            sums,
            (self.options.patch * 2 ** (generation.scale / 2)).astype(np.float32),
            generation.path[:, step : step + 2],
            generation.moved[:, step],
            generation.histogram[:, cell],
            generation.alive,
        )
        generation.steps += 1
        generation.counts[cell] += 1

    def _beget(self, picture: Image, time: float) -> None:
        """Begin tracks in all textured places that have none."""
        self._turn += 1
        texture = cv2.cornerMinEigenVal(picture, 3, ksize=3)
        least = max(_FLAT, _TEXTURE * float(texture.max()))
        places, scales = [], []
        for scale in range(self.options.scales):
            taken = [g.path[g.alive & (g.scale == scale), g.steps] for g in self._living]
            taken.append(np.empty((0, 2), np.float32))
            spacing = self.options.spacing * 2 ** (scale / 2)
            found = tracks.free_places(texture, least, np.concatenate(taken), spacing, self._turn)
            places.append(found)
            scales.append(np.full(len(found), scale))
        points = np.concatenate(places)
        if not len(points):
            return
        n, most = len(points), self._most_steps
        path = np.zeros((n, most + 1, 2), np.float32)
        path[:, 0] = points
        self._living.append(
            _Generation(
                time,
                np.concatenate(scales),
                path,
                np.zeros((n, most, 2), np.float32),
                np.zeros((n, tracks.TIMES, tracks.FRAME), np.float32),
                np.ones(n, np.bool_),
            )
        )

    def _end(self, generation: _Generation, time: float) -> Tracks | None:
        """Keep the tracks of a generation that show something move."""
        paths = generation.path[:, : generation.steps + 1]
        pace = (time - generation.born) / generation.steps / _UNIT
        moved = generation.moved[:, : generation.steps]
        kept = generation.alive & self._is_moving(paths, moved, pace)
        if not kept.any():
            return None
        counts = np.maximum(1, generation.counts)[:, None]
        descriptors = (generation.histogram[kept] / counts).astype(np.float32)
        middle = (generation.born + time) / 2
        return Tracks(middle, descriptors.reshape(-1, tracks.SIZE), paths[kept])

    def _is_moving(
        self, paths: NDArray[np.float32], moved: NDArray[np.float32], pace: float
    ) -> NDArray[np.bool_]:
        """Which tracks move by themselves, and do not leap.

        ``moved`` is what each step is worth without the camera, per 1/30 s, and ``pace`` how many
        of those one step lasts.
        """
        options = self.options
        spread = (pace * np.cumsum(moved, axis=1)).std(axis=1)
        still = (spread < options.least_spread).all(axis=1)
        follows = np.linalg.norm(moved, axis=2).max(axis=1) <= options.least_moved
        erratic = (paths.std(axis=1) > options.most_spread).any(axis=1)
        lengths = np.linalg.norm(np.diff(paths, axis=1), axis=2)
        longest = lengths.max(axis=1)
        leaps = (longest > options.longest_step) & (longest > 0.7 * lengths.sum(axis=1))
        result: NDArray[np.bool_] = ~(still | follows | erratic | leaps)
        return result


def _inverse(moved: Homography | None) -> Homography:
    return np.eye(3) if moved is None else np.asarray(np.linalg.inv(moved), np.float64)


def _difference(before: Image, after: Image, flow: NDArray[np.float32]) -> float:
    """Mean difference of luminance between points and where the flow takes them."""
    rows, columns = np.mgrid[4 : before.shape[0] : 8, 4 : before.shape[1] : 8]
    moved = flow[rows, columns]
    there_y = np.clip(rows + np.rint(moved[..., 1]), 0, before.shape[0] - 1).astype(np.intp)
    there_x = np.clip(columns + np.rint(moved[..., 0]), 0, before.shape[1] - 1).astype(np.intp)
    change = before[rows, columns].astype(np.int16) - after[there_y, there_x]
    return float(np.abs(change).mean())
