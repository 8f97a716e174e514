"""Points that are carried along by the flow, and what the flow around them looks like.

All of it is compiled; :mod:`howsteps.vision.motion` calls it once for every frame.
"""

import math

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled

CELLS, TIMES, BINS = 2, 3, 9  # 2×2 cells in the picture, 3 in time, 8 directions and "still"
FRAME = CELLS * CELLS * BINS  # numbers of one frame
SIZE = FRAME * TIMES  # 108
TURNS = 5
_ONE = 256  # sums are whole numbers of 1/256 pixel, so that differences of them are exact
_FASTEST = 64.0  # pixels; flow beyond it counts as this


@compiled
def direction_sums(flow: NDArray[np.float32], still: float) -> NDArray[np.int32]:
    """Integral image of the flow's directions: (H+1)×(W+1)×9.

    A pixel with |ω| ≤ ``still`` counts 1 in the last bin. Any other shares |ω| between the two of
    8 directions that are next to its own.
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
                place = math.atan2(v, u) * (4 / math.pi) + 8.0
                low = int(place)
                weight = min(length, _FASTEST) * _ONE
                upper = int(weight * (place - low))
                row[low & 7] += int(weight) - upper
                row[(low + 1) & 7] += upper
            for b in range(BINS):
                sums[y + 1, x + 1, b] = sums[y, x + 1, b] + row[b]
    return sums


@compiled
def _add_frame(
    sums: NDArray[np.int32], x: float, y: float, patch: float, into: NDArray[np.float32]
) -> None:
    """Add the root of the L1-normalised 2×2×9 histogram around a point to ``into`` (36)."""
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
    moved: NDArray[np.float32],
    histogram: NDArray[np.float32],
    alive: NDArray[np.bool_],
) -> None:
    """Describe where tracks stand and carry them one step along the flow.

    Parameters
    ----------
    flow
        Median-filtered flow that carries the points, H×W×2.
    corrected, sums
        Flow without the camera, and its integral image.
    patch
        Side of the square around each track that is described, in pixels.
    path
        Two positions of each track, n×2×2: the one where it stands, and the one written.
    moved
        Corrected displacements, n×2; written.
    histogram
        Sums of 36 numbers for each track; added to.
    alive
        Which tracks are inside the picture; those that leave it are struck out.
    """
    height, width, _ = flow.shape
    for n in range(len(patch)):
        if alive[n]:
            x, y = path[n, 0, 0], path[n, 0, 1]
            column, row = min(int(x + 0.5), width - 1), min(int(y + 0.5), height - 1)
            _add_frame(sums, x, y, patch[n], histogram[n])
            moved[n] = corrected[row, column]
            x += flow[row, column, 0]
            y += flow[row, column, 1]
            path[n, 1, 0] = x
            path[n, 1, 1] = y
            alive[n] = 0 <= x < width and 0 <= y < height


@compiled
def free_places(
    texture: NDArray[np.float32],
    least: float,
    points: NDArray[np.float32],
    spacing: float,
    turn: int,
) -> NDArray[np.float32]:
    """Centres of the squares of a grid that are textured and hold none of ``points``, as (x, y).

    A square has its turn in one of five calls, so that tracks do not all end in the same frame.
    """
    height, width = texture.shape
    across, down = int(width / spacing), int(height / spacing)
    taken = np.zeros((down + 1, across + 1), np.bool_)
    for n in range(len(points)):
        taken[int(points[n, 1] / spacing), int(points[n, 0] / spacing)] = True
    places = np.empty((across * down, 2), np.float32)
    count = 0
    for i in range(down):
        for j in range(across):
            x, y = (j + 0.5) * spacing, (i + 0.5) * spacing
            if (
                (i + 2 * j + turn) % TURNS == 0
                and not taken[i, j]
                and texture[int(y), int(x)] > least
            ):
                places[count, 0] = x
                places[count, 1] = y
                count += 1
    return places[:count].copy()
