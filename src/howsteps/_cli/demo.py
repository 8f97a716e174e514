"""``howsteps demo``: the main job, on narrations that come with howsteps."""

from importlib.resources import as_file, files

from howsteps._cli import screen
from howsteps._cli.narration import narration


def demo() -> None:
    """Hear thirteen narrations of one job, written by the project, in as many caption formats.

    The job is replacing the inner tube of a bicycle wheel.
    """
    with as_file(files("howsteps.demo") / "fix_a_flat_bike_tire") as folder:
        names = ", ".join(sorted(path.name for path in folder.iterdir()))
        screen.out.print(f"howsteps narration {folder.name}/  [dim]({names})[/]")
        narration(folder)
