"""Create the folder of the demo: copy the captions, render the videos."""

from collections.abc import Callable, Iterator
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
from howsteps.task import Rule, Truth

DEMO_FRAME_RATE = 10  # frames per second


@dataclass(frozen=True, slots=True)
class DemoVideo:
    """One video to render: its id, the steps with start and end, its duration, and its file."""

    id: str
    steps: tuple[tuple[str, float, float], ...]
    seconds: float
    path: Path

    @classmethod
    def of(cls, video: str, seconds: float, truth: Truth, folder: Path) -> "DemoVideo":
        """A video of the ground truth, to be rendered into a folder."""
        own = (each for each in truth.annotations if each.video == video)
        steps = tuple((truth.steps[each.step], each.start, each.end) for each in own)
        return cls(video, steps, seconds, folder / f"{video}.mp4")


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
    truth = true_steps()
    videos = (DemoVideo.of(v.id, v.length + _TAIL, truth, target) for v in task.videos)
    missing = [video for video in videos if not video.path.exists()]
    for outcome in executor.map(draw_video, missing):
        if outcome.failure is not None:
            raise HowstepsError(f"a video cannot be rendered: {outcome.failure.reason}")
        drawn(missing[outcome.index].id)
    return target
