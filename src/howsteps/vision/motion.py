"""Improved dense trajectories: motion descriptors without the motion of the camera.

Points on grids of several scales are tracked through the optical flow for half a second (15 frames
at 30 per second). The descriptor of a track is HOF, the histogram of the flow directions around it
without camera motion, in 2×2 cells in space and 3 in time, 9 bins each. Tracks that are static,
erratic, jump, or only follow the camera are dropped.

H. Wang and C. Schmid, "Action Recognition with Improved Trajectories", ICCV 2013.
"""

from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from howsteps.vision import tracks
from howsteps.vision.flow import FlowField, Homography, estimate_camera_motion, remove_camera_motion
from howsteps.vision.frames import Image
from howsteps.vision.options import MotionOptions
from howsteps.vision.stopwatch import Timings, timed

_UNIT = 1 / 30  # seconds: speeds are in pixels per unit, whatever the frame rate
_TEXTURE = 0.001  # least texture of a trackable point, relative to the most textured pixel
_MIN_TEXTURE = 1e-6  # least texture in absolute terms, for blank frames
_MIN_FRAME_TIME = 0.8  # in units of 1/rate: frames that are closer are skipped
_CUT = 25.0  # mean difference of luminance after motion compensation that indicates a cut


@dataclass(frozen=True, slots=True)
class Tracks:
    """Tracks that end in the same frame: middle time, HOF (n×108), positions (n×(steps+1)×2)."""

    time: float
    descriptors: NDArray[np.float32]
    paths: NDArray[np.float32]


@dataclass(slots=True, eq=False)
class _Generation:
    """Tracks that start in the same frame, and end together."""

    start: float
    scale: NDArray[np.intp]
    path: NDArray[np.float32]
    displacement: NDArray[np.float32]
    histogram: NDArray[np.float32]
    alive: NDArray[np.bool_]
    steps: int = 0
    counts: list[int] = field(default_factory=lambda: [0] * tracks.TIMES)


class TrajectoryExtractor:
    """Tracks points through a sequence of small luminance frames.

    ``timings`` collects seconds by part of the computation.
    """

    def __init__(
        self, options: MotionOptions | None = None, timings: Timings | None = None
    ) -> None:
        self.options = options or MotionOptions()
        self.timings = Timings(float) if timings is None else timings
        self._field = FlowField(self.options.flow)
        self._before: Image | None = None
        self._time = 0.0
        self._turn = 0
        self._active: list[_Generation] = []
        self._max_steps = int(self.options.seconds * self.options.rate / _MIN_FRAME_TIME) + 2

    def due(self, time: float) -> bool:
        """Return whether a frame at this time is used; False if too close to the last one."""
        return self._before is None or time - self._time >= _MIN_FRAME_TIME / self.options.rate

    def step(self, image: Image, time: float) -> list[Tracks]:
        """Track to the next frame, and return the tracks that end in it."""
        if not self.due(time):
            return []
        before, seconds = self._before, time - self._time
        self._before, self._time = image, time
        ended: list[_Generation] = []
        flows = None
        if before is not None and seconds <= self.options.seconds:
            flows = self._flows(before, image)
        if before is None or flows is None:
            self._active = []  # the first frame, or one after a long pause or a cut
        else:
            ended = self._advance_all(before, *flows, time, seconds)
        with timed(self.timings, "tracks"):
            self._start_tracks(image, time)
            return [kept for generation in ended if (kept := self._finish(generation, time))]

    def _flows(
        self, before: Image, after: Image
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
        """Return the flow and its median; None if there is a cut between the two frames."""
        with timed(self.timings, "flow"):
            flow, filtered = self._field.compute(before, after)
            is_cut = _compensated_difference(before, after, filtered) > _CUT
        return None if is_cut else (flow, filtered)

    def _advance_all(
        self,
        before: Image,
        flow: NDArray[np.float32],
        filtered: NDArray[np.float32],
        time: float,
        seconds: float,
    ) -> list[_Generation]:
        """Move all tracks along the flow; return the generations that end."""
        with timed(self.timings, "camera"):
            homography = estimate_camera_motion(before, flow) if self.options.camera else None
            corrected = remove_camera_motion(filtered, _inverse(homography), _UNIT / seconds)
        with timed(self.timings, "descriptors"):
            sums = tracks.direction_sums(corrected, self.options.still)
            for generation in self._active:
                self._advance(generation, time - seconds, filtered, corrected, sums)
        # A track ends in the frame that is nearest to its full duration.
        latest_start = time + seconds / 2 - self.options.seconds
        ended = [generation for generation in self._active if generation.start <= latest_start]
        self._active = [
            generation for generation in self._active if generation.start > latest_start
        ]
        return ended

    def _advance(
        self,
        generation: _Generation,
        time: float,
        flow: NDArray[np.float32],
        corrected: NDArray[np.float32],
        sums: NDArray[np.int32],
    ) -> None:
        """Describe the tracks of a generation at ``time``, and move them by one frame."""
        step = generation.steps
        share = (time - generation.start) / self.options.seconds
        cell = min(int(tracks.TIMES * share + 1e-6), tracks.TIMES - 1)
        tracks.advance(
            flow,
            corrected,
            sums,
            (self.options.patch * 2 ** (generation.scale / 2)).astype(np.float32),
            generation.path[:, step : step + 2],
            generation.displacement[:, step],
            generation.histogram[:, cell],
            generation.alive,
        )
        generation.steps += 1
        generation.counts[cell] += 1

    def _start_tracks(self, image: Image, time: float) -> None:
        """Start tracks at all textured grid points that have none."""
        self._turn += 1
        texture = cv2.cornerMinEigenVal(image, 3, ksize=3)
        least = max(_MIN_TEXTURE, _TEXTURE * float(texture.max()))
        points_by_scale, scales = [], []
        for scale in range(self.options.scales):
            taken = [g.path[g.alive & (g.scale == scale), g.steps] for g in self._active]
            taken.append(np.empty((0, 2), np.float32))
            spacing = self.options.spacing * 2 ** (scale / 2)
            free = tracks.free_grid_points(
                texture, least, np.concatenate(taken), spacing, self._turn
            )
            points_by_scale.append(free)
            scales.append(np.full(len(free), scale))
        points = np.concatenate(points_by_scale)
        if not len(points):
            return
        n, steps = len(points), self._max_steps
        path = np.zeros((n, steps + 1, 2), np.float32)
        path[:, 0] = points
        self._active.append(
            _Generation(
                time,
                np.concatenate(scales),
                path,
                np.zeros((n, steps, 2), np.float32),
                np.zeros((n, tracks.TIMES, tracks.FRAME), np.float32),
                np.ones(n, np.bool_),
            )
        )

    def _finish(self, generation: _Generation, time: float) -> Tracks | None:
        """Return the valid tracks of a generation that ends; None if there are none."""
        paths = generation.path[:, : generation.steps + 1]
        units = (time - generation.start) / generation.steps / _UNIT
        displacement = generation.displacement[:, : generation.steps]
        kept = generation.alive & self._is_moving(paths, displacement, units)
        if not kept.any():
            return None
        counts = np.maximum(1, generation.counts)[:, None]
        descriptors = (generation.histogram[kept] / counts).astype(np.float32)
        middle = (generation.start + time) / 2
        return Tracks(middle, descriptors.reshape(-1, tracks.SIZE), paths[kept])

    def _is_moving(
        self, paths: NDArray[np.float32], displacement: NDArray[np.float32], units: float
    ) -> NDArray[np.bool_]:
        """Return which tracks move relative to the camera, and are not erratic.

        Parameters
        ----------
        paths
            n×(steps+1)×2.
        displacement
            n×steps×2: displacement of each step without camera motion, per 1/30 s.
        units
            Duration of one step, in 1/30 s.
        """
        options = self.options
        spread = (units * np.cumsum(displacement, axis=1)).std(axis=1)
        static = (spread < options.least_spread).all(axis=1)
        follows_camera = np.linalg.norm(displacement, axis=2).max(axis=1) <= options.least_moved
        erratic = (paths.std(axis=1) > options.most_spread).any(axis=1)
        lengths = np.linalg.norm(np.diff(paths, axis=1), axis=2)
        longest = lengths.max(axis=1)
        jumps = (longest > options.longest_step) & (longest > 0.7 * lengths.sum(axis=1))
        result: NDArray[np.bool_] = ~(static | follows_camera | erratic | jumps)
        return result


def _inverse(homography: Homography | None) -> Homography:
    return np.eye(3) if homography is None else np.asarray(np.linalg.inv(homography), np.float64)


def _compensated_difference(before: Image, after: Image, flow: NDArray[np.float32]) -> float:
    """Return the mean difference of luminance after motion compensation, on a sparse grid."""
    rows, columns = np.mgrid[4 : before.shape[0] : 8, 4 : before.shape[1] : 8]
    shift = flow[rows, columns]
    to_rows = np.clip(rows + np.rint(shift[..., 1]), 0, before.shape[0] - 1).astype(np.intp)
    to_columns = np.clip(columns + np.rint(shift[..., 0]), 0, before.shape[1] - 1).astype(np.intp)
    difference = before[rows, columns].astype(np.int16) - after[to_rows, to_columns]
    return float(np.abs(difference).mean())
