"""Draw the films of the demo: the person talks, and does each step when the truth says so."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from howsteps.demo.canvas import HEIGHT, WIDTH, Canvas
from howsteps.demo.look import look_of
from howsteps.demo.scenes import SCENES
from howsteps.demo.things import talker
from howsteps.task import Annotation

RATE = 10  # frames a second
VERSION = 1  # of what is drawn: another number makes the films anew


@dataclass(frozen=True, slots=True)
class Shooting:
    """One film to be drawn: whose, what is done when, how long, and where to."""

    video: str
    done: tuple[tuple[str, float, float], ...]
    seconds: float
    path: Path


def shootings(
    annotations: Sequence[Annotation], steps: Sequence[str], lengths: dict[str, float], folder: Path
) -> list[Shooting]:
    """The films of all videos in ``lengths``."""
    return [
        Shooting(
            video,
            tuple((steps[a.step], a.start, a.end) for a in annotations if a.video == video),
            seconds,
            folder / f"{video}.mp4",
        )
        for video, seconds in lengths.items()
    ]


def shoot(shooting: Shooting) -> str:
    """Draw one film and write it, whole or not at all; gives back its name."""
    beside = shooting.path.with_name(f".part-{shooting.path.name}")
    with av.open(str(beside.absolute()), "w") as container:
        stream = container.add_stream("libx264", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        # One thread: the same film gives the same bytes, on any number of cores.
        stream.options = {"preset": "veryfast", "crf": "25", "g": "20", "threads": "1"}
        for picture in frames(shooting):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    beside.replace(shooting.path)
    return shooting.video


def frames(shooting: Shooting) -> Iterator[NDArray[np.uint8]]:
    """The frames of a film, HEIGHT×WIDTH×3."""
    canvas = Canvas(look_of(shooting.video))
    for number in range(round(shooting.seconds * RATE)):
        seconds = number / RATE
        canvas.clear()
        for step, start, end in shooting.done:
            if start <= seconds < end:
                SCENES[step](canvas, (seconds - start) / (end - start), seconds)
                break
        else:
            talker(canvas, seconds)
        yield canvas.filmed(seconds)
