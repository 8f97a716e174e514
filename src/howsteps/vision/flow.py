"""Dense optical flow between two small luminance frames, and the camera's part in it."""

import cv2
import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled
from howsteps.vision.frames import Image

Flow = NDArray[np.float32]  # H×W×2: where each pixel goes, in pixels
Homography = NDArray[np.float64]  # 3×3

DIS, FARNEBACK = "dis", "farneback"
_FARNEBACK = {
    "pyr_scale": 2**-0.5,
    "levels": 5,
    "winsize": 10,
    "iterations": 2,
    "poly_n": 7,
    "poly_sigma": 1.5,
    "flags": 0,
}
CORNERS = 500  # points that vote for the motion of the camera
_APART = 6  # pixels between two of them
_QUALITY = 0.001  # of the strongest corner
_TOLERANCE = 1.0  # pixels by which a point may miss the homography and still agree with it
_LEAST_VOTES, _LEAST_SHARE = 12, 0.25
_MEDIAN = 5  # pixels; the odd size of the filter on the flow


class FlowField:
    """Dense flow, median-filtered so that tracks keep to objects.

    ``dis`` is inverse search; ``farneback`` is what the first programs of dense trajectories used,
    five times slower and less exact on what moves in front of something.
    """

    def __init__(self, method: str = DIS) -> None:
        if method not in {DIS, FARNEBACK}:
            raise ValueError(f"flow {method!r} is neither {DIS!r} nor {FARNEBACK!r}")
        self._method = method
        self._search = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_ULTRAFAST)
        # At half size, not a quarter: a third of the error for two milliseconds more.
        self._search.setFinestScale(1)

    def between(self, before: Image, after: Image) -> tuple[Flow, Flow]:
        """The flow ω, and ω filtered by a median of 5×5 pixels."""
        if self._method == DIS:
            flow = self._search.calc(before, after, None)
        else:
            flow = cv2.calcOpticalFlowFarneback(before, after, None, **_FARNEBACK)
        filtered = [cv2.medianBlur(np.ascontiguousarray(flow[..., i]), _MEDIAN) for i in (0, 1)]
        return flow, np.stack(filtered, axis=-1)


def camera(before: Image, flow: Flow) -> Homography | None:
    """The homography that most corners of a still scene follow; None when too few agree.

    Corners x are matched with x + ω(x), and RANSAC finds H with H x ≈ x + ω(x) for as many as can
    agree. Where something in front fills the picture there is no majority, and no camera is seen.
    """
    corners = cv2.goodFeaturesToTrack(before, CORNERS, _QUALITY, _APART)
    if corners is None or len(corners) < _LEAST_VOTES:
        return None
    points = corners[:, 0]
    columns, rows = points.astype(np.intp).T
    moved = points + flow[rows, columns]
    found, agree = cv2.findHomography(points, moved, cv2.RANSAC, _TOLERANCE)
    if found is None or not np.isfinite(found).all():
        return None
    votes = int(np.count_nonzero(agree))
    if votes < _LEAST_VOTES or votes < _LEAST_SHARE * len(points):
        return None
    # A picture that folds or shrinks to half between two frames is a mistake, not a camera.
    return found if 0.5 < np.linalg.det(found / found[2, 2]) < 2.0 else None


@compiled
def without_camera(flow: Flow, back: Homography, scale: float) -> Flow:
    """The flow that is left when the camera is held still: scale · (H⁻¹(x + ω(x)) − x).

    Parameters
    ----------
    flow
        ω, H×W×2.
    back
        H⁻¹, from the second picture back to the first.
    scale
        Factor on the result, to have it per unit of time.
    """
    height, width, _ = flow.shape
    left = np.empty_like(flow)
    for y in range(height):
        for x in range(width):
            u = x + flow[y, x, 0]
            v = y + flow[y, x, 1]
            w = back[2, 0] * u + back[2, 1] * v + back[2, 2]
            left[y, x, 0] = scale * ((back[0, 0] * u + back[0, 1] * v + back[0, 2]) / w - x)
            left[y, x, 1] = scale * ((back[1, 0] * u + back[1, 1] * v + back[1, 2]) / w - y)
    return left
