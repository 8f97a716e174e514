"""The page: ``report.html`` and a folder of thumbnails, to open from disk without a network.

Over several jobs there is also ``index.html``, which leads to the page of each.
"""

import base64
import hashlib
import json
import os
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.sax.saxutils import escape as xml_escaped

from howsteps import __version__
from howsteps.errors import Problem
from howsteps.io.files import Folder
from howsteps.io.text import format_time, format_timestamp
from howsteps.report.content import (
    LocalisationRow,
    angled,
    content,
    localisation_rows,
    markdown,
    step_label,
    title_of,
)
from howsteps.report.decoding import Pictures, existing_thumbnails, remove_unused
from howsteps.task import LEVELS, Result, Video

if TYPE_CHECKING:
    import jinja2

PAGE, INDEX = "report.html", "index.html"
THUMBNAILS = "report-pictures"

_KINDS = (*LEVELS, "placed", "absent")
_PARTS = Path(__file__).parent / "parts"
# The scripts of the page in order; the last one starts it.
_SCRIPTS = (
    *("dom", "theme", "player", "viewer", "aside", "sheet", "grid", "timelines", "words"),
    *("search", "edits", "server", "editor", "start"),
)
_STYLES = ("colours", "base", "views", "viewer", "edit", "print")


def write_page(
    result: Result,
    folder: Path,
    *,
    unreadable: Collection[Path] = (),
    progress: Callable[[Video], None] | None = None,
    on_problem: Callable[[Problem], None] | None = None,
) -> Path:
    """Write the page of a result into a folder, and return its path.

    Thumbnails in the folder ``report-pictures/`` next to it that are no longer shown are removed.
    Videos are not copied. Those close to the folder are linked by relative paths, so that
    everything can be moved together.

    Parameters
    ----------
    unreadable
        Video files that could not be decoded before; they are not opened again.
    progress
        Called after each video.
    on_problem
        Called for every video whose thumbnails cannot be made, and once if PyAV is missing; the
        page is written anyway.
    """
    pictures = Pictures(Folder(folder) / THUMBNAILS, unreadable)
    pictures.folder.check()
    for video, row in zip(result.task.videos, localisation_rows(result).values(), strict=True):
        pictures.make(video, list(_times(row).values()))
        if progress:
            progress(video)
    if on_problem:
        for problem in pictures.problems:
            on_problem(problem)
    # Includes thumbnails of videos that are gone or could only be decoded in part.
    found = known_thumbnails(result, folder)
    page = Folder(folder).write(PAGE, render(content(result, folder, found), pictures.advice))
    if not pictures.advice:
        remove_unused(pictures.folder, {Path(name).name for name in found.values()})
    return page


def known_thumbnails(result: Result, folder: Path) -> dict[tuple[str, int], str]:
    """The existing thumbnails of a result, by video id and step."""
    found: dict[tuple[str, int], str] = {}
    for video, row in zip(result.task.videos, localisation_rows(result).values(), strict=True):
        times = _times(row)
        kept = existing_thumbnails(video, list(times.values()), folder / THUMBNAILS)
        found |= {(video.id, k): f"{THUMBNAILS}/{kept[t]}" for k, t in times.items() if t in kept}
    return found


def _times(row: LocalisationRow) -> dict[int, float]:
    return {p.step: round(p.time, 2) for p in row if p is not None and p.time is not None}


def render(shown: dict[str, Any], advice: str = "") -> bytes:
    """Render the page as HTML, from the value of :func:`howsteps.report.content.content`."""
    style, script = _style(), _script()
    html = rendered(
        "page.html",
        shown=shown,
        advice=advice,
        version=__version__,
        style=style,
        script=script,
        policy=security_policy(served=shown["served"]),
        island=_island(shown),
    )
    # Captions can contain lone surrogates, which UTF-8 cannot encode.
    return html.encode("utf-8", "xmlcharrefreplace")


def write_index(results: Mapping[str, Result], folders: Mapping[str, Path], out: Path) -> Path:
    """Write the page over several jobs, whose folders are in ``out``, and return its path."""
    style = "\n".join([_part("base.css"), _part("index.css")])
    script = "\n".join([_part("theme.js"), _part("index.js")])
    html = rendered(
        "index.html",
        jobs=[_job(results[name], folders[name]) for name in folders],
        policy=_policy("'self' file:", style, script),
        version=__version__,
        style=style,
        script=script,
    )
    return Folder(out).write(INDEX, html.encode("utf-8", "xmlcharrefreplace"))


def _job(result: Result, folder: Path) -> dict[str, Any]:
    """A job on the page over several: what is found by its search, and how sure its places are."""
    link = quote(os.fsencode(folder.name))
    kinds = Counter[str](place.level or "placed" for place in result.places)
    kinds["absent"] = len(result.localisations) - len(result.places)
    names = [kind for kind in _KINDS if kinds[kind]]
    before = {kind: sum(kinds[other] for other in names[:n]) for n, kind in enumerate(names)}
    total = len(result.localisations) / 100
    labels = [step_label(step) for step in result.steps]
    titles = [video.title or video.id for video in result.task.videos]
    found = known_thumbnails(result, folder)
    shown = (place for place in result.places if (place.video, place.step) in found)
    surest = max(shown, key=lambda place: place.confidence, default=None)
    return {
        "title": title_of(result.task.name),
        "link": f"{link}/{PAGE}",
        "picture": f"{link}/{found[surest.video, surest.step]}" if surest else None,
        "videos": len(titles),
        "aside": len(result.set_aside),
        "steps": labels,
        "text": " ".join([title_of(result.task.name), *labels, *titles]).lower(),
        "tally": ", ".join(f"{kinds[kind]:,} {kind}" for kind in names),
        "parts": [
            {"kind": k, "at": f"{before[k] / total:.2f}", "width": f"{kinds[k] / total:.2f}"}
            for k in names
        ],
    }


def render_howto(shown: Mapping[str, Any]) -> bytes:
    """Render a how-to (:func:`howsteps.report.exports.documents.howto`) as HTML without scripts."""
    style = _part("howto.css")
    policy = _policy("'self' file:", style)
    html = rendered("howto.html", shown=shown, style=style, policy=policy, version=__version__)
    return html.encode("utf-8", "xmlcharrefreplace")


def security_policy(*, served: bool) -> str:
    """The content security policy: the page's own style and script, by hash, and local files."""
    local = "'self'" if served else "'self' file:"
    more = (*(["connect-src 'self'"] if served else []), f"media-src {local}")
    return _policy(local, _style(), _script(), more)


def _policy(local: str, style: str, script: str = "", more: Iterable[str] = ()) -> str:
    parts = (
        "default-src 'none'",
        f"img-src {local} data:",
        f"style-src 'sha256-{_hash(style)}'",
        *([f"script-src 'sha256-{_hash(script)}'"] if script else []),
        *more,
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(parts)


@cache
def _style() -> str:
    return "\n".join(_part(f"{name}.css") for name in _STYLES)


@cache
def _script() -> str:
    return "\n".join(_part(f"{name}.js") for name in _SCRIPTS)


@cache
def _templates() -> "jinja2.Environment":
    import jinja2  # noqa: PLC0415 - only needed for pages and texts

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_PARTS),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        **{"clock": format_time, "timestamp": format_timestamp, "quoted": shlex.quote},
        **{"markdown": markdown, "angled": angled, "xml": xml_escaped},
    }
    return environment


def rendered(name: str, **values: Any) -> str:
    """Render a template of ``parts/``; only in HTML is text escaped by itself."""
    return _templates().get_template(name).render(**values)


def _island(shown: dict[str, Any]) -> str:
    r"""JSON for a script element, escaped so that it cannot end the element.

    ``json`` already escapes everything that is not ASCII, including U+2028 and lone surrogates.
    """
    text = json.dumps(shown, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _part(name: str) -> str:
    return (_PARTS / name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    """The hash of a style or script for the content security policy."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
