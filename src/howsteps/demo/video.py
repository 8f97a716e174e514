"""Draw the videos of the demo: a person talks, and does each step when the truth says so."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from howsteps.demo.canvas import HEIGHT, WIDTH, Canvas, look_of
from howsteps.demo.scenes import SCENES, talker
from howsteps.task import Annotation

DEMO_FRAME_RATE = 10  # frames per second
DRAWING_VERSION = 1  # another number makes old videos be drawn again


@dataclass(frozen=True, slots=True)
class DemoVideo:
    """One video to draw: its id, the steps with their times, its length, and its file."""

    id: str
    steps: tuple[tuple[str, float, float], ...]
    seconds: float
    path: Path


def demo_videos(
    annotations: Sequence[Annotation], steps: Sequence[str], lengths: dict[str, float], folder: Path
) -> list[DemoVideo]:
    """The videos in ``lengths``."""
    return [
        DemoVideo(
            video,
            tuple((steps[a.step], a.start, a.end) for a in annotations if a.video == video),
            seconds,
            folder / f"{video}.mp4",
        )
        for video, seconds in lengths.items()
    ]


def draw_video(video: DemoVideo) -> str:
    """Draw one video and write it, completely or not at all; return its id."""
    temporary = video.path.with_name(f".part-{video.path.name}")
    with av.open(str(temporary.absolute()), "w") as container:
        stream = container.add_stream("libx264", rate=DEMO_FRAME_RATE)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        # One thread: the same video gives the same bytes, on any number of cores.
        stream.options = {"preset": "veryfast", "crf": "25", "g": "20", "threads": "1"}
        for pixels in draw_frames(video):
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    temporary.replace(video.path)
    return video.id


def draw_frames(video: DemoVideo) -> Iterator[NDArray[np.uint8]]:
    """The frames of a video, HEIGHT×WIDTH×3."""
    canvas = Canvas(look_of(video.id))
    for number in range(round(video.seconds * DEMO_FRAME_RATE)):
        seconds = number / DEMO_FRAME_RATE
        canvas.clear()
        for step, start, end in video.steps:
            if start <= seconds < end:
                SCENES[step](canvas, (seconds - start) / (end - start), seconds)
                break
        else:
            talker(canvas, seconds)
        yield canvas.as_seen(seconds)
