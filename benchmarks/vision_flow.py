"""Dense optical flow on scenes with known ground truth: ``python -m benchmarks.vision_flow``.

A disc of dead leaves moves over a moving background of dead leaves, at 426×240 pixels. The error is
the mean endpoint error in pixels, without a border of 20 pixels.
"""

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.film import leaves
from howsteps.paper.motion import optical_flow

WIDTH, HEIGHT, RADIUS, BORDER = 426, 240, 50, 20
# Velocities of the background and the disc, in pixels per frame.
SCENES = (((0, 0), (3, 0)), ((3, -1), (5, 1)), ((-0.5, 0), (-0.5, 1.2)), ((-6, -2), (-10, 4)))

Scene = tuple[NDArray[np.uint8], NDArray[np.float32]]


def scene(back: tuple[float, float], disc: tuple[float, float], count: int) -> Iterator[Scene]:
    """Yield images with the true flow from each to the next."""
    rng = np.random.default_rng(0)
    far = cv2.cvtColor(leaves(2 * WIDTH, 2 * HEIGHT, 4000, rng), cv2.COLOR_BGR2GRAY)
    near = cv2.cvtColor(leaves(WIDTH, HEIGHT, 2000, rng), cv2.COLOR_BGR2GRAY)
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    for n in range(count):
        view = moved(far, n * back[0] - WIDTH / 2, n * back[1] - HEIGHT / 2)
        x, y = WIDTH / 2 + disc[0] * (n - count / 2), HEIGHT / 2 + disc[1] * (n - count / 2)
        inside = (columns - x) ** 2 + (rows - y) ** 2 <= RADIUS**2
        front = moved(near, x - WIDTH / 2, y - HEIGHT / 2)
        truth = np.where(inside[..., None], disc, back).astype(np.float32)
        yield np.where(inside, front, view).astype(np.uint8), truth


def moved(image: NDArray[np.uint8], x: float, y: float) -> NDArray[np.uint8]:
    """Shift an image to the right and down, with sub-pixel interpolation."""
    shift = np.array([[1, 0, x], [0, 1, y]], np.float32)
    return cv2.warpAffine(
        image, shift, (WIDTH, HEIGHT), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT
    )


def farneback(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> tuple[Any, Any]:
    """Return the flow of the first implementations of dense trajectories, and filtered."""
    flow = cv2.calcOpticalFlowFarneback(before, after, None, 2**-0.5, 5, 10, 2, 7, 1.5, 0)
    filtered = [cv2.medianBlur(np.ascontiguousarray(flow[..., i]), 5) for i in (0, 1)]
    return flow, np.stack(filtered, axis=-1)


def main() -> None:
    """Print a row for each method."""
    cv2.setNumThreads(1)
    scenes = [[*scene(*speeds, 10)] for speeds in SCENES]
    inner = np.s_[BORDER:-BORDER, BORDER:-BORDER]
    print("| flow | mean error, pixels | processor ms a frame |\n|---|---|---|")
    for method, compute in {"dis": optical_flow, "farneback": farneback}.items():
        errors, spent = [], 0.0
        for images in scenes:
            for (before, truth), (after, _) in pairwise(images):
                started = time.process_time()
                _, filtered = compute(before, after)
                spent += time.process_time() - started
                errors.append(np.linalg.norm(filtered - truth, axis=2)[inner].mean())
        print(f"| {method} | {np.mean(errors):.3f} | {1000 * spent / len(errors):.1f} |")


if __name__ == "__main__":
    main()
