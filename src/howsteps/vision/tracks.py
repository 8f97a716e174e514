"""Point tracking through optical flow, and HOF descriptors; compiled.

:mod:`howsteps.vision.motion` calls these functions once for every frame.
"""

import math

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled

CELLS, TIMES, BINS = 2, 3, 9  # 2×2 cells in space, 3 in time; 8 directions and "no motion"
FRAME = CELLS * CELLS * BINS  # length of the histogram of one frame
SIZE = FRAME * TIMES  # 108
TURNS = 5  # calls in which every grid point is considered once
_ONE = 256  # sums are integers in 1/256 pixel, so that their differences are exact
_FASTEST = 64.0  # pixels: flow is clipped to this length


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
def _add_frame(
    sums: NDArray[np.int32], x: float, y: float, patch: float, into: NDArray[np.float32]
) -> None:
    """Add the square root of the L1-normalised 2×2×9 histogram around a point to ``into`` (36)."""
    height, width = sums.shape[0] - 1, sums.shape[1] - 1
    counts = np.empty(FRAME, np.float32)
    total = np.float32(0.0)
    side = patch / CELLS
    for i in range(CELLS):
        top = min(max(int(y - patch / 2 + i * side), 0), height)
        bottom = min(max(int(y - patch / 2 + (i + 1) * side), 0), height)
        for j in range(CELLS):
            left = min(max(int(x - patch / 2 + j * side), 0), width)
            right = min(max(int(x - patch / 2 + (j + 1) * side), 0), width)
            for b in range(BINS):
                count = np.float32(
                    sums[bottom, right, b]
                    - sums[top, right, b]
                    - sums[bottom, left, b]
                    + sums[top, left, b]
                )
                counts[(i * CELLS + j) * BINS + b] = count
                total += count
    if total > 0:
        for b in range(FRAME):
            into[b] += math.sqrt(counts[b] / total)


@compiled
def advance(
    flow: NDArray[np.float32],
    corrected: NDArray[np.float32],
    sums: NDArray[np.int32],
    patch: NDArray[np.float32],
    path: NDArray[np.float32],
    displacement: NDArray[np.float32],
    histogram: NDArray[np.float32],
    alive: NDArray[np.bool_],
) -> None:
    """Describe tracks at their positions, and move them one step along the flow.

    Parameters
    ----------
    flow
        Median-filtered flow, H×W×2.
    corrected, sums
        Flow without camera motion, and the integral image of its directions.
    patch
        Side of the square that is described around each track, in pixels; n.
    path
        n×2×2: current position (x, y) of each track, and the next one, which is written.
    displacement
        n×2: displacements without camera motion; written.
    histogram
        n×36: histograms, which are added to.
    alive
        n: which tracks are inside the frame; updated.
    """
    height, width, _ = flow.shape
    for n in range(len(patch)):
        if alive[n]:
            x, y = path[n, 0, 0], path[n, 0, 1]
            column, row = min(int(x + 0.5), width - 1), min(int(y + 0.5), height - 1)
            _add_frame(sums, x, y, patch[n], histogram[n])
            displacement[n] = corrected[row, column]
            x += flow[row, column, 0]
            y += flow[row, column, 1]
            path[n, 1, 0] = x
            path[n, 1, 1] = y
            alive[n] = 0 <= x < width and 0 <= y < height


@compiled
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
    across, down = int(width / spacing), int(height / spacing)
    taken = np.zeros((down + 1, across + 1), np.bool_)
    for n in range(len(points)):
        taken[int(points[n, 1] / spacing), int(points[n, 0] / spacing)] = True
    free = np.empty((across * down, 2), np.float32)
    count = 0
    for i in range(down):
        for j in range(across):
            x, y = (j + 0.5) * spacing, (i + 0.5) * spacing
            if (
                (i + 2 * j + turn) % TURNS == 0
                and not taken[i, j]
                and texture[int(y), int(x)] > least
            ):
                free[count, 0] = x
                free[count, 1] = y
                count += 1
    return free[:count].copy()
