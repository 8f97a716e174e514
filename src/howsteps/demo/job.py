"""The demo as a folder of videos: captions copied, films drawn, the truth beside."""

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
_AFTERWARDS = 2.0  # seconds of film after the last word


def true_steps() -> Truth:
    """Where every step of the demo is truly done."""
    with as_file(files("howsteps.demo") / "steps.csv") as table:
        [found] = truth.read_truth_files(table).truths
    return found


def rules() -> dict[str, tuple[Rule, ...]]:
    """Which relations name which true step, as the project judged it."""
    with as_file(files("howsteps.demo") / "judgement.json") as file:
        return read_judgements(file, true_steps().steps)


def prepare(
    folder: Path, executor: Executor | None, drawn: Callable[[str], None] = lambda _: None
) -> Path:
    """Make the folder of the job; its films are drawn by ``executor``, or left out without one.

    Films that are there already stay; ``drawn`` is called with each that is done.

    Raises
    ------
    HowstepsError
        The folder cannot be written, or a film cannot be drawn.
    """
    target = folder / NAME
    for caption in sorted((files("howsteps.demo") / NAME).iterdir(), key=lambda file: file.name):
        write_atomically(target / caption.name, caption.read_bytes())
    if executor is None:
        return target
    from howsteps.demo.video import VERSION, shoot, shootings  # noqa: PLC0415 - PyAV and OpenCV

    mark = folder / f".films-{VERSION}"
    if not mark.exists():
        for old in target.glob("*.mp4"):
            old.unlink()
        write_atomically(mark, b"")
    [task] = datasets.read_tasks(target).tasks
    lengths = {v.id: v.captions[-1].end + _AFTERWARDS for v in task.videos}
    done = true_steps()
    missing = [
        each
        for each in shootings(done.annotations, done.steps, lengths, target)
        if not each.path.exists()
    ]
    for outcome in executor.map(shoot, missing):
        if outcome.failure is not None:
            raise HowstepsError(f"a film cannot be drawn: {outcome.failure.reason}")
        drawn(missing[outcome.place].video)
    return target
