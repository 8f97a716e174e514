"""Render the demo videos: a person talks, and does each step at its true time."""

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
DRAWING_VERSION = 1  # increment to have existing videos rendered again


@dataclass(frozen=True, slots=True)
class DemoVideo:
    """One video to render: its id, the steps with start and end, its duration, and its file."""

    id: str
    steps: tuple[tuple[str, float, float], ...]
    seconds: float
    path: Path


def demo_videos(
    annotations: Sequence[Annotation], steps: Sequence[str], lengths: dict[str, float], folder: Path
) -> list[DemoVideo]:
    """Return the videos to render, one per entry of ``lengths`` (duration in seconds by id)."""
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
    """Render one video and write it atomically; return its id."""
    temporary = video.path.with_name(f".part-{video.path.name}")
    with av.open(str(temporary.absolute()), "w") as container:
        stream = container.add_stream("libx264", rate=DEMO_FRAME_RATE)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        # One thread, so that the bytes do not depend on the number of cores.
        stream.options = {"preset": "veryfast", "crf": "25", "g": "20", "threads": "1"}
        for pixels in draw_frames(video):
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    temporary.replace(video.path)
    return video.id


def draw_frames(video: DemoVideo) -> Iterator[NDArray[np.uint8]]:
    """Yield the frames of a video, HEIGHT×WIDTH×3."""
    canvas = Canvas(look_of(video.id))
    for index in range(round(video.seconds * DEMO_FRAME_RATE)):
        seconds = index / DEMO_FRAME_RATE
        canvas.clear()
        for step, start, end in video.steps:
            if start <= seconds < end:
                SCENES[step](canvas, (seconds - start) / (end - start), seconds)
                break
        else:
            talker(canvas, seconds)
        yield canvas.as_seen(seconds)
