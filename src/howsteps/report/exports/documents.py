"""Documents: a CSV table, a how-to, and files for ELAN and Label Studio."""

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from howsteps.io.text import format_time, milliseconds
from howsteps.report.agreed import Agreed, Narrations, Quote, Told
from howsteps.report.content import (
    address,
    capitalised,
    one_line,
    step_label,
    title_of,
    youtube_id,
)
from howsteps.report.exports.chapters import PlacedVideo
from howsteps.report.page import rendered
from howsteps.task import Localisation, Result, Video

_HEADER = (
    *("video", "number", "step", "start", "end", "time"),
    *("level", "confidence", "evidence", "presence", "supporting_videos"),
)
# Spreadsheets evaluate cells that begin with one of these as formulas.
_FORMULA = ("=", "+", "-", "@")
_EXAMPLES = 3  # quotes of a statement in the evidence
_FROM = "Drawn from what the narrators of {} say; nobody has checked it."
_SILENT = (
    "Nobody says what is done in the {}: the steps were found by sight; nobody has checked them."
)


def csv_text(result: Result) -> str:
    """CSV: every step of every video; absent steps have no times."""
    text = io.StringIO()
    rows = [_csv_row(row) for row in result.to_table()]
    writer = csv.DictWriter(text, _HEADER, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _csv_row(row: Mapping[str, Any]) -> dict[str, Any]:
    times = ("start", "end", "time")
    return {
        **row,
        **{name: "" if row[name] is None else f"{row[name]:.3f}" for name in times},
        **{name: f"{row[name]:.4f}" for name in ("confidence", "presence")},
        "video": _safe(row["video"]),
        "step": _safe(capitalised(one_line(row["step"]))),
        "evidence": _safe(row["evidence"]),
        "level": row["level"] or ("absent" if row["time"] is None else ""),
    }


def howto(
    result: Result, folder: Path, picture: Callable[[Localisation], str | None]
) -> dict[str, Any]:
    """The content of a how-to: what narrators say, with their words, and by how many.

    Parameters
    ----------
    folder
        The folder of the how-to: links to video files are relative to it.
    picture
        The image file of a place, if there is one.
    """
    narrations = Narrations(result)
    by_id = {video.id: video for video in result.task.videos}

    def shown(quote: Quote) -> dict[str, str]:
        return {"text": one_line(quote.text), **_moment(by_id[quote.video], quote.time, folder)}

    def agreed(found: Agreed) -> dict[str, Any]:
        quotes = [shown(quote) for quote in found.examples(_EXAMPLES)]
        return {"text": one_line(found.text), "videos": found.videos, "quotes": quotes}

    steps = []
    is_narrated = any(video.mentions for video in result.task.videos)
    for number, step in enumerate(result.steps):
        told = narrations.told(number)
        place, quote = told.place, next(iter(told.quotes), None)
        steps.append(
            {
                "number": number + 1,
                "sentence": f"{step_label(step)}.",
                "optional": step.optional,
                "alternative": step.alternative and number > 0,
                "picture": picture(place) if place else None,
                "quote": shown(quote) if quote else None,
                "moment": _moment(by_id[place.video], place.time or 0, folder) if place else None,
                "said": step.support,
                "mark": _mark(told) if is_narrated else "",
                "evidence": [shown(each) for each in told.examples(_EXAMPLES)],
            }
        )
    return {
        "title": one_line(title_of(result.task.name)),
        "videos": len(result.task.videos),
        "note": (_FROM if is_narrated else _SILENT).format(_videos(len(result.task.videos))),
        "things": [agreed(each) for each in narrations.things_used()],
        "steps": steps,
        "warnings": [agreed(each) for each in narrations.warnings()],
    }


def _mark(told: Told) -> str:
    """What marks a step that no two narrators tell as its name does."""
    if told.narrators < 2:
        return f"({'one narrator' if told.narrators else 'nobody'} says it like this)"
    words = ", ".join(f"“{one_line(word)}”" for word in told.unsaid)
    return f"(no two narrators say {words} there)" if words else ""


def _videos(count: int) -> str:
    return f"{count} video{'s' * (count != 1)}"


def _moment(video: Video, time: float, folder: Path) -> dict[str, str]:
    """A moment of a video: its title, its time, and a link to it or an empty one."""
    link = ""
    if id_ := youtube_id(video):
        link = f"https://youtu.be/{id_}?t={int(time)}"
    elif video.media is not None and video.media.is_file():
        link = f"{address(video.media, folder, levels=4)}#t={int(time)}"
    title = one_line(video.title or video.id)
    return {"title": title, "clock": format_time(time), "link": link}


def _safe(text: str) -> str:
    """One line of text that no spreadsheet evaluates as a formula."""
    line = one_line(text) if text else ""
    return f"'{line}" if line.startswith(_FORMULA) else line


# Label Studio counts frames at the rate declared in its interface, whatever that of the video.
_FRAME_RATE = 25
_LOCAL_FILES = "/data/local-files/?d="


def elan_text(placed: PlacedVideo) -> str:
    """ELAN: an ``.eaf`` of one video, with a tier for the steps."""
    media = placed.video.media
    is_mp4 = media is not None and media.suffix.lower() in {".mp4", ".m4v", ".mov"}
    return rendered(
        "steps.eaf",
        media=media.absolute().as_uri() if media else "",
        kind="mp4" if is_mp4 else "*",
        spans=[
            (milliseconds(span.start), milliseconds(span.end), span.label) for span in placed.apart
        ],
    )


def label_studio_text(placed: Iterable[PlacedVideo]) -> str:
    """Label Studio: tasks to import, one per video, with the steps as predictions."""
    tasks = []
    for video, found in ((each.video, each.spans) for each in placed):
        regions = [
            {
                "id": f"{span.step:03}",
                "type": "timelinelabels",
                "from_name": "steps",
                "to_name": "video",
                "score": round(span.place.confidence, 4),
                "value": {
                    "ranges": [{"start": _frame(span.start), "end": _frame(span.end)}],
                    "timelinelabels": [span.label],
                },
            }
            for span in found
        ]
        # Without a video file, the name is a placeholder.
        file = video.id if video.media is None else video.media.name
        address = f"{_LOCAL_FILES}{quote(os.fsencode(file))}"
        data = {"video": address, "id": video.id, "title": video.title}
        prediction = {"model_version": "howsteps", "result": regions}
        tasks.append({"data": data, "predictions": [prediction]})
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"


def label_studio_interface(result: Result) -> str:
    """Label Studio: the labelling interface, a video with a timeline of steps."""
    labels = dict.fromkeys(step_label(step) for step in result.script.steps)
    return rendered("interface.xml", labels=labels, rate=_FRAME_RATE)


def _frame(seconds: float) -> int:
    return 1 + round(seconds * _FRAME_RATE)
