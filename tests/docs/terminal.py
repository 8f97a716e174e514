"""The pictures of a terminal in the docs: ``python -m tests.docs.terminal docs/images``.

``howsteps run`` and ``howsteps script`` on the captions of the demo, as SVG.
"""

import re
import shlex
import shutil
import sys
import tempfile
from html import escape
from importlib.resources import as_file, files
from os import chdir
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text
from typer.main import get_command

from howsteps._cli import screen
from howsteps._cli.app import app
from howsteps.demo.job import NAME

COMMANDS = {
    "terminal-run": "howsteps run fix_a_flat_bike_tire/ --out steps/ --no-vision --quiet",
    "terminal-script": "howsteps script fix_a_flat_bike_tire/ --steps 6 --quiet",
}
# No font is fetched from anywhere: the reader's own will do.
_FETCHED_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def picture(command: str, width: int = 96) -> str:
    """Run a command, and draw its terminal output."""
    with Path("/dev/null").open("w") as nowhere:
        terminal = Console(
            record=True, width=width, force_terminal=True, highlight=False, file=nowhere
        )
        screen.out = screen.err = terminal
        terminal.print(Text(f"$ {command}", style="bold"))
        get_command(app).main(shlex.split(command)[1:], standalone_mode=False)
    drawn = terminal.export_svg(title="howsteps", theme=MONOKAI, unique_id="howsteps")
    return _FETCHED_FONTS.sub("", _relative(drawn))


def _relative(drawn: str) -> str:
    """The same with paths relative to the current folder, without stretching their text."""
    here = escape(f"{Path.cwd()}/")
    return "\n".join(
        re.sub(r' textLength="[^"]*"', "", line).replace(here, "") if here in line else line
        for line in drawn.splitlines()
    )


def main(folder: Path) -> None:
    """Write all images into a folder."""
    with as_file(files("howsteps.demo") / NAME) as captions, tempfile.TemporaryDirectory() as place:
        shutil.copytree(captions, Path(place) / NAME, ignore=shutil.ignore_patterns("*.es.srt"))
        chdir(place)
        for name, command in COMMANDS.items():
            (folder / f"{name}.svg").write_text(picture(command), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
