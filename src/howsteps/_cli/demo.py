"""``howsteps demo``: the whole thing on narrations that come with howsteps."""

from importlib.resources import as_file, files
from pathlib import Path

from howsteps._cli import screen
from howsteps._cli.narration import narration


def demo() -> None:
    """Hear a dozen narrations of one job, written by the project, in as many caption formats.

    The job is replacing the inner tube of a bicycle wheel.
    """
    with as_file(files("howsteps.demo") / "captions") as captions:
        names = sorted(path.name for path in Path(captions).iterdir())
        screen.out.print(f"howsteps narration on {len(names)} caption files: {', '.join(names)}")
        narration(captions)
