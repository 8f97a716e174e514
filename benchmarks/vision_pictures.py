"""Figures of docs/research/vision.md: ``python -m benchmarks.vision_pictures docs/images``."""

import argparse
from itertools import islice
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.film import RATE, frames
from howsteps.paper.motion import TrajectoryExtractor
from howsteps.paper.visual_words import MotionOptions

SMALL, SHOWN = (426, 240), (852, 480)
FRAMES = 24
PATH, END = (90, 255, 90), (60, 60, 255)  # colours in BGR


def tracks(images: list[NDArray[np.uint8]], *, camera: bool) -> list[NDArray[np.float32]]:
    """Return the paths of the tracks that end in the last five frames."""
    motion, found = TrajectoryExtractor(MotionOptions(camera=camera)), []
    for n, image in enumerate(images):
        luma = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
        ended = motion.step(cv2.resize(luma, SMALL, interpolation=cv2.INTER_AREA), n / RATE)
        if n >= len(images) - 5:
            found += [path for tracks in ended for path in tracks.paths]
    return found


def drawn(image: NDArray[np.uint8], paths: list[NDArray[np.float32]]) -> NDArray[np.uint8]:
    """Draw paths on a darkened frame, with a red dot at the end of each."""
    shown = cv2.resize(image, SHOWN, interpolation=cv2.INTER_AREA)
    shown = (shown * 0.55).astype(np.uint8)
    scale = SHOWN[0] / SMALL[0]
    for path in paths:
        points = np.rint(path * scale * 8).astype(np.int32)
        cv2.polylines(shown, [points], False, PATH, 1, cv2.LINE_AA, 3)
        cv2.circle(shown, tuple(points[-1].tolist()), 12, END, -1, cv2.LINE_AA, 3)
    return shown


def main() -> None:
    """Write both figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    images = [*islice(frames(FRAMES + 20, seed=3), 20, None)]
    for name, camera in (("tracks-raw", False), ("tracks-corrected", True)):
        paths = tracks(images, camera=camera)
        image = drawn(images[-1], paths)
        cv2.imwrite(str(folder / f"{name}.jpg"), image, [cv2.IMWRITE_JPEG_QUALITY, 85])
        print(f"{name}: {len(paths)} tracks")


if __name__ == "__main__":
    main()
