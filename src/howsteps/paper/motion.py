"""Improved dense trajectories: motion descriptors without the motion of the camera.

Points on grids of several scales are tracked through the optical flow for half a second (15 frames
at 30 per second). The descriptor of a track is HOF, the histogram of the flow directions around it
without camera motion, in 2×2 cells in space and 3 in time, 9 bins each. Tracks that are static,
erratic, jump, or only follow the camera are dropped.

H. Wang and C. Schmid, "Action Recognition with Improved Trajectories", ICCV 2013.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled
from howsteps.paper.visual_words import MotionOptions, draw, quantise
from howsteps.vision.descriptors import IntervalDescriptors
from howsteps.vision.features import SECONDS, interval_count
from howsteps.vision.frames import Frame, Image, VideoReader

Flow = NDArray[np.float32]  # H×W×2: displacement of each pixel, in pixels
Homography = NDArray[np.float64]  # 3×3

CORNERS = 500  # most corners that the camera motion is estimated from
_MIN_DISTANCE = 6  # pixels between corners
_QUALITY = 0.001  # least quality of a corner, relative to the strongest
_TOLERANCE = 1.0  # pixels: reprojection error of an inlier
_MIN_INLIERS, _MIN_INLIER_SHARE = 12, 0.25
_MEDIAN = 5  # pixels: size of the median filter of the flow
CELLS, TIMES, BINS = 2, 3, 9  # 2×2 cells in space, 3 in time; 8 directions and "no motion"
FRAME = CELLS * CELLS * BINS  # length of the histogram of one frame
SIZE = FRAME * TIMES  # 108
TURNS = 5  # calls in which every grid point is considered once
_ONE = 256  # sums are integers in 1/256 pixel, so that their differences are exact
_FASTEST = 64.0  # pixels: flow is clipped to this length
_UNIT = 1 / 30  # seconds: speeds are in pixels per unit, whatever the frame rate
PATCH = 32.0  # pixels of the small frame: side of the square described, at the finest scale
STILL = 0.4  # flow up to this speed counts as no motion
# Standard deviation of the positions, without camera motion for the first: a track with less in
# both directions is static, and one with more in any direction is erratic.
LEAST_SPREAD, MOST_SPREAD = 3.0**0.5, 50.0
LONGEST_STEP = 20.0  # a step longer than this, and than 0.7 of the whole track, is a jump
LEAST_MOVED = 1.0  # a track that is never faster, without camera motion, only follows the camera
_TEXTURE = 0.001  # least texture of a trackable point, relative to the most textured pixel
_MIN_TEXTURE = 1e-6  # least texture in absolute terms, for blank frames
_MIN_FRAME_TIME = 0.8  # in units of 1/rate: frames that are closer are skipped


class MotionDescriber:
    """Motion descriptors of the intervals of a video, one byte per entry."""

    def __init__(self, video: VideoReader, options: MotionOptions, most: int, seed: int) -> None:
        self._size = video.size(options.pixels)
        self._motion = TrajectoryExtractor(options)
        self._most, self._seed = most, seed
        self._pending: dict[int, list[NDArray[np.int8]]] = {}

    def add(self, frame: Frame) -> Iterator[IntervalDescriptors]:
        """Track to the next frame; yield the intervals that can get no more tracks."""
        if not self._motion.due(frame.time):
            return
        for tracks in self._motion.step(frame.luma(*self._size), frame.time):
            interval = int(tracks.time / SECONDS)
            self._pending.setdefault(interval, []).append(quantise(tracks.descriptors))
        # The middle of a track is at most the life of a track before the current time.
        yield from self._complete(int((frame.time - self._motion.options.seconds) / SECONDS))

    def finish(self, end: float) -> Iterator[IntervalDescriptors]:
        """Yield the other intervals."""
        yield from self._complete(interval_count(end))

    def _complete(self, before: int) -> Iterator[IntervalDescriptors]:
        for interval in sorted(interval for interval in self._pending if interval < before):
            values = np.concatenate(self._pending.pop(interval))
            yield interval, draw(values, self._most, self._seed, interval)


@dataclass(frozen=True, slots=True)
class Tracks:
    """Tracks that end in the same frame: middle time, HOF (n×108), positions (n×(steps+1)×2)."""

    time: float
    descriptors: NDArray[np.float32]
    paths: NDArray[np.float32]


@dataclass(slots=True, eq=False)
class _Generation:
    """Tracks that start in the same frame, and end together; those that leave it are dropped."""

    start: float
    patch: NDArray[np.float64]  # side of the square described, in pixels of the small frame
    path: NDArray[np.float32]
    displacement: NDArray[np.float32]
    histogram: NDArray[np.float32]
    steps: int = 0
    counts: list[int] = field(default_factory=lambda: [0] * TIMES)

    def drop(self, gone: NDArray[np.bool_]) -> None:
        """Drop tracks."""
        for name in ("patch", "path", "displacement", "histogram"):
            setattr(self, name, getattr(self, name)[~gone])


class TrajectoryExtractor:
    """Tracks points through a sequence of small luminance frames."""

    def __init__(self, options: MotionOptions | None = None) -> None:
        self.options = options or MotionOptions()
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
        active, self._active = self._active, []
        ended: list[_Generation] = []
        # All tracks are lost in a long pause.
        if before is not None and seconds <= self.options.seconds:
            flow, filtered = optical_flow(before, image)
            self._advance(active, before, flow, filtered, time - seconds, seconds)
            # A track ends in the frame that is nearest to its full duration.
            latest_start = time + seconds / 2 - self.options.seconds
            ended = [generation for generation in active if generation.start <= latest_start]
            self._active = [g for g in active if g.start > latest_start]
        self._start_tracks(image, time)
        return [kept for generation in ended if (kept := self._finish(generation, time))]

    def _advance(
        self,
        active: list[_Generation],
        before: Image,
        flow: Flow,
        filtered: Flow,
        time: float,
        seconds: float,
    ) -> None:
        """Describe all tracks at ``time``, and move them along the flow to the next frame."""
        homography = estimate_camera_motion(before, flow) if self.options.camera else None
        inverse = np.eye(3) if homography is None else np.asarray(np.linalg.inv(homography))
        corrected = remove_camera_motion(filtered, inverse, _UNIT / seconds)
        if not active:
            return
        points = np.concatenate([g.path[:, g.steps] for g in active])
        patches = np.concatenate([g.patch for g in active])
        described = frame_histograms(direction_sums(corrected, STILL), points, patches)
        size = np.array(before.shape[::-1])
        columns, rows = np.minimum((points + 0.5).astype(np.intp), size - 1).T
        moved = points + filtered[rows, columns]
        gone = ((moved < 0) | (moved >= size)).any(axis=1)
        first = 0
        for generation in active:
            own = slice(first, first := first + len(generation.patch))
            share = (time - generation.start) / self.options.seconds
            cell = min(int(TIMES * share + 1e-6), TIMES - 1)
            generation.histogram[:, cell] += described[own]
            generation.displacement[:, generation.steps] = corrected[rows[own], columns[own]]
            generation.steps += 1
            generation.path[:, generation.steps] = moved[own]
            generation.counts[cell] += 1
            if gone[own].any():
                generation.drop(gone[own])

    def _start_tracks(self, image: Image, time: float) -> None:
        """Start tracks at all textured grid points that have none."""
        self._turn += 1
        texture = cv2.cornerMinEigenVal(image, 3, ksize=3)
        least = max(_MIN_TEXTURE, _TEXTURE * float(texture.max()))
        starts, patches = [], []
        for scale in range(self.options.scales):
            factor = 2 ** (scale / 2)
            taken = [g.path[g.patch == PATCH * factor, g.steps] for g in self._active]
            taken.append(np.empty((0, 2), np.float32))
            spacing = self.options.spacing * factor
            starts.append(
                free_grid_points(texture, least, np.concatenate(taken), spacing, self._turn)
            )
            patches.append(np.full(len(starts[-1]), PATCH * factor))
        points = np.concatenate(starts)
        if not len(points):
            return
        n, steps = len(points), self._max_steps
        path = np.zeros((n, steps + 1, 2), np.float32)
        path[:, 0] = points
        self._active.append(
            _Generation(
                time,
                np.concatenate(patches),
                path,
                np.zeros((n, steps, 2), np.float32),
                np.zeros((n, TIMES, FRAME), np.float32),
            )
        )

    def _finish(self, generation: _Generation, time: float) -> Tracks | None:
        """Return the valid tracks of a generation that ends; None if there are none."""
        paths = generation.path[:, : generation.steps + 1]
        units = (time - generation.start) / generation.steps / _UNIT
        displacement = generation.displacement[:, : generation.steps]
        kept = _is_moving(paths, displacement, units) if len(paths) else np.zeros(0, np.bool_)
        if not kept.any():
            return None
        counts = np.maximum(1, generation.counts)[:, None]
        descriptors = (generation.histogram[kept] / counts).astype(np.float32)
        middle = (generation.start + time) / 2
        return Tracks(middle, descriptors.reshape(-1, SIZE), paths[kept])


def _is_moving(
    paths: NDArray[np.float32], displacement: NDArray[np.float32], units: float
) -> NDArray[np.bool_]:
    """Return which tracks move relative to the camera, and are not erratic.

    ``paths`` are n×(steps+1)×2, ``displacement`` (n×steps×2) without camera motion and per 1/30
    s, and ``units`` is the duration of one step, in 1/30 s.
    """
    spread = (units * np.cumsum(displacement, axis=1)).std(axis=1)
    static = (spread < LEAST_SPREAD).all(axis=1)
    follows_camera = np.linalg.norm(displacement, axis=2).max(axis=1) <= LEAST_MOVED
    erratic = (paths.std(axis=1) > MOST_SPREAD).any(axis=1)
    lengths = np.linalg.norm(np.diff(paths, axis=1), axis=2)
    longest = lengths.max(axis=1)
    jumps = (longest > LONGEST_STEP) & (longest > 0.7 * lengths.sum(axis=1))
    result: NDArray[np.bool_] = ~(static | follows_camera | erratic | jumps)
    return result


def optical_flow(before: Image, after: Image) -> tuple[Flow, Flow]:
    """Return the dense optical flow ω, and ω after a 5×5 median filter.

    The filter keeps tracks on their objects. Dense inverse search; Farnebäck's method, of the first
    implementations of dense trajectories, is five times slower and less accurate at occlusions.
    """
    search = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_ULTRAFAST)
    # Half size instead of a quarter: a third of the error for two milliseconds more.
    search.setFinestScale(1)
    flow = search.calc(before, after, None)
    filtered = [cv2.medianBlur(np.ascontiguousarray(flow[..., i]), _MEDIAN) for i in (0, 1)]
    return flow, np.stack(filtered, axis=-1)


def estimate_camera_motion(before: Image, flow: Flow) -> Homography | None:
    """Return the homography of the background between two frames; None if there is no consensus.

    Corners x are matched with x + ω(x), and RANSAC finds H with H x ≈ x + ω(x) for as many as
    possible. If a moving object fills the frame, too few corners agree.
    """
    corners = cv2.goodFeaturesToTrack(before, CORNERS, _QUALITY, _MIN_DISTANCE)
    if corners is None or len(corners) < _MIN_INLIERS:
        return None
    points = corners[:, 0]
    columns, rows = points.astype(np.intp).T
    moved = points + flow[rows, columns]
    homography, inliers = cv2.findHomography(points, moved, cv2.RANSAC, _TOLERANCE)
    agreeing = int(np.count_nonzero(inliers))
    if homography is None or agreeing < max(_MIN_INLIERS, _MIN_INLIER_SHARE * len(points)):
        return None
    # A reflection, or a change of area by a factor of two between frames, is an error.
    return homography if 0.5 < np.linalg.det(homography / homography[2, 2]) < 2.0 else None


def remove_camera_motion(flow: Flow, inverse: Homography, scale: float) -> Flow:
    """Return the flow ω (H×W×2) without the camera motion: scale · (H⁻¹(x + ω(x)) − x).

    ``inverse`` is H⁻¹, from the second frame to the first; ``scale`` normalises to a unit of time.
    """
    height, width, _ = flow.shape
    grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).astype(np.float32)
    corrected: Flow = cv2.perspectiveTransform(grid + flow, inverse) - grid
    return np.float32(scale) * corrected


@compiled
def direction_sums(flow: NDArray[np.float32], still: float) -> NDArray[np.int32]:
    """Return the integral image of the flow directions, (H+1)×(W+1)×9.

    A pixel with |ω| ≤ ``still`` adds 1 to the last bin. Any other divides |ω| between the two
    nearest of 8 directions.
    """
    height, width, _ = flow.shape
    sums = np.zeros((height + 1, width + 1, BINS), np.int32)
    row = np.zeros(BINS, np.int32)
    for y in range(height):
        row[:] = 0
        for x in range(width):
            u, v = flow[y, x, 0], flow[y, x, 1]
            length = math.sqrt(u * u + v * v)
            if length <= still:
                row[BINS - 1] += _ONE
            else:
                angle = math.atan2(v, u) * (4 / math.pi) + 8.0
                low = int(angle)
                weight = min(length, _FASTEST) * _ONE
                upper = int(weight * (angle - low))
                row[low & 7] += int(weight) - upper
                row[(low + 1) & 7] += upper
            for b in range(BINS):
                sums[y + 1, x + 1, b] = sums[y, x + 1, b] + row[b]
    return sums


@compiled
def frame_histograms(
    sums: NDArray[np.int32], points: NDArray[np.float32], patches: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Return the square roots of the L1-normalised 2×2×9 histograms around points, n×36.

    ``sums`` is the integral image of the directions, ``points`` (n×2) are (x, y), and ``patches``
    (n) the sides of the squares described, in pixels.
    """
    height, width = sums.shape[0] - 1, sums.shape[1] - 1
    described = np.zeros((len(points), FRAME), np.float32)
    for n in range(len(points)):
        side, total = patches[n] / CELLS, 0
        for i in range(CELLS):
            y = points[n, 1] + (i - CELLS / 2) * side
            top, bottom = min(max(int(y), 0), height), min(max(int(y + side), 0), height)
            for j in range(CELLS):
                x = points[n, 0] + (j - CELLS / 2) * side
                left, right = min(max(int(x), 0), width), min(max(int(x + side), 0), width)
                for b in range(BINS):
                    below = sums[bottom, right, b] - sums[bottom, left, b]
                    count = below - sums[top, right, b] + sums[top, left, b]
                    described[n, (i * CELLS + j) * BINS + b] = count
                    total += count
        for b in range(FRAME):
            described[n, b] = math.sqrt(described[n, b] / max(total, 1))
    return described


def free_grid_points(
    texture: NDArray[np.float32],
    least: float,
    points: NDArray[np.float32],
    spacing: float,
    turn: int,
) -> NDArray[np.float32]:
    """Return the textured centres (x, y) of grid cells without any of ``points``, m×2.

    Each cell is considered in one of ``TURNS`` calls only, so that tracks do not all end in the
    same frame.
    """
    height, width = texture.shape
    free = np.ones((int(height / spacing) + 1, int(width / spacing) + 1), np.bool_)
    columns, rows = (points.astype(np.float64) / spacing).astype(np.intp).T
    free[rows, columns] = False
    i, j = np.nonzero(free[:-1, :-1])
    due = (i + 2 * j + turn) % TURNS == 0
    centres = (np.stack([j[due], i[due]], axis=1) + 0.5) * spacing
    columns, rows = centres.astype(np.intp).T
    found: NDArray[np.float32] = centres[texture[rows, columns] > least].astype(np.float32)
    return found
