"""The page: ``report.html`` beside a folder of pictures, to open from disk without a network."""

import base64
import hashlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from howsteps import __version__
from howsteps.errors import InputError, MissingExtra, Problem
from howsteps.io.files import write_atomically
from howsteps.io.timestamps import format_time
from howsteps.report.content import content
from howsteps.report.palette import STEP_COLOURS
from howsteps.report.rows import places
from howsteps.report.thumbnails import kept_thumbnails, take_thumbnails
from howsteps.task import Result, Video

if TYPE_CHECKING:
    import jinja2

PAGE = "report.html"
PICTURES = "report-pictures"

_PARTS = Path(__file__).parent / "parts"
# The order in which the parts of the page's program stand; the last one starts it.
_SCRIPTS = ("dom", "theme", "player", "viewer", "grid", "timelines", "words", "search", "start")
_STYLES = ("base", "views", "viewer", "print")


def write_page(
    result: Result,
    folder: Path,
    *,
    pictures: bool = True,
    progress: Callable[[Video], None] | None = None,
    on_problem: Callable[[Problem], None] | None = None,
) -> Path:
    """Write the page of a result into a folder, and return its path.

    Beside ``report.html`` lies ``report-pictures/``, which belongs to the page: pictures that it
    no longer shows are removed. Videos stay where they are. One that lies near the folder is
    linked by a relative path, so that everything can be moved together.

    Parameters
    ----------
    pictures
        Take a picture of every located step (needs PyAV). Without it, or without PyAV, places are
        drawn as numbers, and the page says how to get pictures.
    progress
        Called after each video.
    on_problem
        Called for every video whose pictures cannot be taken, and once where PyAV is missing; the
        page is made all the same.
    """
    say = on_problem or (lambda _: None)
    page = folder / PAGE
    found: dict[tuple[str, int], str] = {}
    advice = "" if pictures else "Pictures were not asked for."
    for video, row in zip(result.task.videos, places(result).values(), strict=True):
        times = {p.step: round(p.time, 2) for p in row if p is not None and p.time is not None}
        if pictures and not advice:
            try:
                take_thumbnails(video, list(times.values()), folder / PICTURES)
            except InputError as error:
                say(error.problem)
            except MissingExtra as error:
                advice = f"There are no pictures: {error}"
                say(Problem(page, advice, harmless=True))
        # Also those of a video that is gone, or broke off in the middle.
        kept = kept_thumbnails(video, list(times.values()), folder / PICTURES) if pictures else {}
        found |= {
            (video.id, step): f"{PICTURES}/{kept[time]}"
            for step, time in times.items()
            if time in kept
        }
        if progress:
            progress(video)
    write_atomically(page, render(content(result, folder, found), advice))
    if pictures and not advice:
        _remove_unused(folder / PICTURES, {Path(name).name for name in found.values()})
    return page


def render(shown: dict[str, Any], advice: str = "") -> bytes:
    """The page as HTML, of what :func:`howsteps.report.content.content` gives."""
    style = "\n".join([_colours(), *(_part(f"{name}.css") for name in _STYLES)])
    script = "\n".join(_part(f"{name}.js") for name in _SCRIPTS)
    html = _template().render(
        shown=shown,
        advice=advice,
        version=__version__,
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        island=_island(shown),
    )
    # Captions can hold half of a surrogate pair, which UTF-8 cannot.
    return html.encode("utf-8", "xmlcharrefreplace")


@cache
def _template() -> "jinja2.Template":
    import jinja2  # noqa: PLC0415 - only where a page is made

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_PARTS), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["clock"] = format_time
    return environment.get_template("page.html")


def _island(shown: dict[str, Any]) -> str:
    r"""JSON that can stand inside a script element: no character in it can end the element.

    ``json`` writes all that is not ASCII as \u escapes, U+2028 and lone surrogates too.
    """
    text = json.dumps(shown, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _part(name: str) -> str:
    return (_PARTS / name).read_text(encoding="utf-8").strip()


def _colours() -> str:
    """The palette, as rules: a mark of step k has the class ``c`` and k modulo its length."""
    return "\n".join(
        f".c{place}{{--fill:{colour.fill};--ink-on:{colour.ink}}}"
        for place, colour in enumerate(STEP_COLOURS)
    )


def _hash(text: str) -> str:
    """What the page's security policy knows its own style and program by."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _remove_unused(folder: Path, used: set[str]) -> None:
    for picture in folder.glob("*.webp"):
        if picture.name not in used:
            picture.unlink()
