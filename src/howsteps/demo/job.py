"""Create the folder of the demo: copy the captions, render the videos."""

from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path

from howsteps import datasets
from howsteps.datasets import truth
from howsteps.datasets.task_file import read_judgements
from howsteps.engine.executor import Executor
from howsteps.errors import HowstepsError
from howsteps.io.files import write_atomically
from howsteps.task import Rule, Truth

NAME = "fix_a_flat_bike_tire"
_TAIL = 2.0  # seconds of video after the last word


def true_steps() -> Truth:
    """The ground truth of the demo."""
    with as_file(files("howsteps.demo") / "steps.csv") as table:
        [found] = truth.read_truth_files(table).truths
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

    Raises
    ------
    HowstepsError
        The folder cannot be written, or a video cannot be rendered.
    """
    target = folder / NAME
    for caption in sorted((files("howsteps.demo") / NAME).iterdir(), key=lambda file: file.name):
        write_atomically(target / caption.name, caption.read_bytes())
    if executor is None:
        return target
    from howsteps.demo.video import (  # noqa: PLC0415 - PyAV and OpenCV
        DRAWING_VERSION,
        demo_videos,
        draw_video,
    )

    mark = folder / f".videos-{DRAWING_VERSION}"
    if not mark.exists():
        for old in target.glob("*.mp4"):
            old.unlink()
        write_atomically(mark, b"")
    [task] = datasets.read_tasks(target).tasks
    lengths = {v.id: v.captions[-1].end + _TAIL for v in task.videos}
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
