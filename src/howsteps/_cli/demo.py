"""``howsteps demo``: the main job, on narrations that come with howsteps."""

from importlib.resources import as_file, files

from howsteps._cli import screen
from howsteps._cli.narration import narration
from howsteps._cli.script import script

COMMON = 12  # relations to list


def demo() -> None:
    """Hear thirteen narrations of one job, written by the project, and write down its steps.

    The job is replacing the inner tube of a bicycle wheel; the narrations are in ten caption
    formats.
    """
    with as_file(files("howsteps.demo") / "fix_a_flat_bike_tire") as folder:
        names = ", ".join(sorted(path.name for path in folder.iterdir()))
        screen.out.print(f"[dim]{names}[/]")
        screen.out.print(f"\n[bold]$ howsteps narration {folder.name}[/]")
        narration(folder, top=COMMON)
        screen.out.print(f"\n[bold]$ howsteps script {folder.name}[/]")
        script(folder)
