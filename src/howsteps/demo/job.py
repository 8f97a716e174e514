"""Create the folder of the demo: copy the captions, render the videos."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from howsteps import datasets
from howsteps.datasets import registry
from howsteps.datasets.task_file import read_judgements
from howsteps.demo.scenes import HEIGHT, SCENES, WIDTH, Canvas, look_of, talker
from howsteps.errors import HowstepsError
from howsteps.io.files import Folder
from howsteps.pipeline.executor import Executor
from howsteps.task import Annotation, Rule, Truth

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
    folder = Folder(video.path.parent.parent) / video.path.parent.name
    with folder.writing(video.path.name) as file, av.open(file, "w") as container:
        stream = container.add_stream("libx264", rate=DEMO_FRAME_RATE)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        # One thread, so that the bytes do not depend on the number of cores.
        stream.options = {"preset": "veryfast", "crf": "25", "g": "20", "threads": "1"}
        for pixels in draw_frames(video):
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
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


NAME = "fix_a_flat_bike_tire"
_TAIL = 2.0  # seconds of video after the last word


def true_steps() -> Truth:
    """The ground truth of the demo."""
    with as_file(files("howsteps.demo") / "steps.csv") as table:
        [found] = registry.read_truth(table)
    return found


def rules() -> dict[str, tuple[Rule, ...]]:
    """The relations that count as each true step, as judged by the project."""
    with as_file(files("howsteps.demo") / "judgement.json") as file:
        return read_judgements(file, true_steps().steps)


def prepare(
    folder: Path, executor: Executor | None, drawn: Callable[[str], None] = lambda _: None
) -> Path:
    """Create the folder of the demo; without an ``executor``, no videos are rendered.

    Existing videos are kept; ``drawn`` is called with the id of each new one.
    """
    target = folder / NAME
    for caption in sorted((files("howsteps.demo") / NAME).iterdir(), key=lambda file: file.name):
        (Folder(folder) / NAME).write(caption.name, caption.read_bytes())
    if executor is None:
        return target

    [task] = datasets.read_tasks(target).tasks
    lengths = {v.id: v.length + _TAIL for v in task.videos}
    mark = f".videos-{DRAWING_VERSION}"
    if not (folder / mark).exists():
        for video in lengths:
            (Folder(folder) / NAME).remove(f"{video}.mp4")
        Folder(folder).write(mark, b"")
    true = true_steps()
    missing = [
        video
        for video in demo_videos(true.annotations, true.steps, lengths, target)
        if not video.path.exists()
    ]
    for outcome in executor.map(draw_video, missing):
        if outcome.failure is not None:
            raise HowstepsError(f"a video cannot be rendered: {outcome.failure.reason}")
        drawn(missing[outcome.index].id)
    return target
