"""Documents: a CSV table, a how-to, and files for ELAN and Label Studio."""

import csv
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from howsteps.io.text import format_time, milliseconds
from howsteps.report.agreed import Agreed, Narrations, Quote, Told
from howsteps.report.content import (
    address,
    capitalised,
    markdown,
    one_line,
    step_label,
    title_of,
    youtube_id,
)
from howsteps.report.exports.chapters import Span, spans
from howsteps.report.page import render_howto
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

    def agreed(found: Agreed, quotes: Sequence[Quote]) -> dict[str, Any]:
        words = [shown(quote) for quote in quotes]
        return {"text": one_line(found.text), "videos": found.videos, "quotes": words}

    steps = []
    is_narrated = any(video.mentions for video in result.task.videos)
    for number, step in enumerate(result.steps):
        told = narrations.told(number)
        place, quote = told.place, next(iter(told.quotes), None)
        takes = narrations.duration(step)
        steps.append(
            {
                "number": number + 1,
                "sentence": f"{step_label(step)}.",
                "optional": step.optional,
                "alternative": step.alternative and number > 0,
                "picture": picture(place) if place else None,
                "quote": shown(quote) if quote else None,
                "moment": _moment(by_id[place.video], place.time or 0, folder) if place else None,
                "takes": agreed(takes, takes.quotes) if takes else None,
                "said": told.videos,
                "how": f"without “{one_line(told.without)}”" if told.without else "like this",
                "mark": _mark(told) if is_narrated else "",
                "examples": [shown(example) for example in told.different[:_EXAMPLES]],
            }
        )
    return {
        "title": one_line(title_of(result.task.name)),
        "videos": len(result.task.videos),
        "note": (_FROM if is_narrated else _SILENT).format(_videos(len(result.task.videos))),
        "things": [agreed(x, x.different[:_EXAMPLES]) for x in narrations.things_used()],
        "steps": steps,
        "warnings": [agreed(x, x.different[:_EXAMPLES]) for x in narrations.warnings()],
    }


def howto_text(shown: Mapping[str, Any]) -> str:
    """A how-to as one page of Markdown, with the evidence in a fold."""
    videos = _videos(shown["videos"])
    lines = [f"# {markdown(shown['title'])}", "", shown["note"], ""]
    if shown["things"]:
        lines += ["## What you need", ""]
        lines += [f"* {markdown(x['text'])} ({x['videos']} of {videos})" for x in shown["things"]]
        lines += [""]
    lines += ["## Steps", ""]
    for step in shown["steps"]:
        before = "or: " * step["alternative"]
        mark = f" {markdown(step['mark'])}" if step["mark"] else ""
        after = " (optional)" * step["optional"] + mark
        lines += [f"{step['number']}. {before}**{markdown(step['sentence'])}**{after}", ""]
        if step["picture"]:
            lines += [f"    ![Step {step['number']}]({step['picture']})", ""]
        if step["quote"]:
            lines += [f"    {_quoted(step['quote'])}", ""]
        elif step["moment"]:
            lines += [f"    See {_linked(step['moment'])}", ""]
        if takes := step["takes"]:
            said = f"{markdown(takes['text'])}, {_videos(takes['videos'])}"
            lines += [f"    Time: {said}: {_quoted(takes['quotes'][0])}", ""]
    if shown["warnings"]:
        lines += ["## What narrators warn of", ""]
        lines += [f"* {'; '.join(map(_quoted, x['quotes']))}" for x in shown["warnings"]]
        lines += [""]
    if not any(step["examples"] for step in shown["steps"]) and not shown["things"]:
        return "\n".join(lines)
    lines += ["<details>", "<summary>Evidence: who says so</summary>", ""]
    for step in shown["steps"]:
        if not step["examples"]:
            continue
        said = f"Said {markdown(step['how'])} in {step['said']} of {videos}:"
        lines += [f"**{step['number']}. {markdown(step['sentence'])}** {said}", ""]
        takes = step["takes"]["quotes"] if step["takes"] else []
        quotes = dict.fromkeys(map(_quoted, [*step["examples"], *takes]))
        lines += [*(f"* {quote}" for quote in quotes), ""]
    for thing in shown["things"]:
        lines += [f"**{markdown(thing['text'])}** {_videos(thing['videos'])}:", ""]
        lines += [*(f"* {_quoted(quote)}" for quote in thing["quotes"]), ""]
    return "\n".join([*lines, "</details>", ""])


def howto_page(shown: Mapping[str, Any]) -> bytes:
    """The same as a page of HTML, to read and to print; it needs no network."""
    return render_howto(shown)


def _mark(told: Told) -> str:
    """What marks a step that no two narrators tell as its name does."""
    if not told.quotes:
        return "(nobody says it like this)"
    say = "narrators say" if told.videos > 1 else "one narrator says"
    if told.without:
        return f"({say} it without “{one_line(told.without)}”)"
    if not told.is_named:
        return f"({say} “it” or “them”)"
    return "" if told.videos > 1 else f"({say} it like this)"


def _videos(count: int) -> str:
    return f"{count} video{'s' * (count != 1)}"


def _quoted(quote: Mapping[str, str]) -> str:
    return f"“{markdown(quote['text'])}” – {_linked(quote)}"


def _linked(moment: Mapping[str, str]) -> str:
    """The title and time of a moment, as a link if its video can be opened."""
    name = f"{markdown(moment['title'])}, {moment['clock']}"
    return f"[{name}]({moment['link']})" if moment["link"] else name


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


_Row: TypeAlias = tuple[float, float, str]

_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
_SCHEMA = "http://www.mpi.nl/tools/elan/EAFv3.0.xsd"

# Label Studio counts frames at the rate declared in its interface, whatever that of the video.
_FRAME_RATE = 25
_NAME, _VIDEO = "steps", "video"
_LOCAL_FILES = "/data/local-files/?d="


def elan_text(video: Video, found: list[Span]) -> str:
    """ELAN: an ``.eaf`` of one video, with a tier for the steps and one for the narration."""
    add = ElementTree.SubElement
    document = ElementTree.Element(
        "ANNOTATION_DOCUMENT", AUTHOR="howsteps", FORMAT="3.0", VERSION="3.0"
    )
    ElementTree.register_namespace("xsi", _INSTANCE)
    document.set(f"{{{_INSTANCE}}}noNamespaceSchemaLocation", _SCHEMA)
    # A date is required; a constant one keeps the bytes reproducible.
    document.set("DATE", "2016-06-27T00:00:00+00:00")
    header = add(document, "HEADER", MEDIA_FILE="", TIME_UNITS="milliseconds")
    if video.media is not None:
        kind = "mp4" if video.media.suffix.lower() in {".mp4", ".m4v", ".mov"} else "*"
        url = video.media.absolute().as_uri()
        add(header, "MEDIA_DESCRIPTOR", MEDIA_URL=url, MIME_TYPE=f"video/{kind}")
    said = [(s.start, s.end, one_line(s.text)) for s in video.sentences]
    tiers = {
        "steps": [(span.start, span.end, span.label) for span in found],
        "narration": _without_overlap(said),
    }
    slots = _slots(add(document, "TIME_ORDER"), tiers)
    for name, rows in tiers.items():
        tier = add(document, "TIER", LINGUISTIC_TYPE_REF="default", TIER_ID=name)
        for index, (*_, text) in enumerate(rows):
            annotation = add(add(tier, "ANNOTATION"), "ALIGNABLE_ANNOTATION")
            annotation.set("ANNOTATION_ID", f"{name}{index + 1}")
            for number, slot in enumerate(slots[name, index], 1):
                annotation.set(f"TIME_SLOT_REF{number}", slot)
            add(annotation, "ANNOTATION_VALUE").text = text
    kind_of_tier = add(document, "LINGUISTIC_TYPE", GRAPHIC_REFERENCES="false")
    kind_of_tier.attrib |= {"LINGUISTIC_TYPE_ID": "default", "TIME_ALIGNABLE": "true"}
    ElementTree.indent(document)
    text = ElementTree.tostring(document, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'


def label_studio_text(result: Result, *, guesses: bool = False) -> str:
    """Label Studio: tasks to import, one per video, with the steps as predictions."""
    tasks = []
    for video in result.task.videos:
        found = spans(result, video, guesses=guesses)
        regions = [
            {
                "id": f"{span.step:03}",
                "type": "timelinelabels",
                "from_name": _NAME,
                "to_name": _VIDEO,
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
        score = _mean([span.place.confidence for span in found])
        prediction = {"model_version": "howsteps", "score": score, "result": regions}
        tasks.append({"data": data, "predictions": [prediction]})
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"


def label_studio_interface(result: Result) -> str:
    """Label Studio: the labelling interface, a video with a timeline of steps."""
    labels = dict.fromkeys(step_label(step) for step in result.script.steps)
    rows = "\n".join(f"    <Label value={quoteattr(label)}/>" for label in labels)
    return (
        "<View>\n"
        f'  <Video name="{_VIDEO}" value="$video" framerate="{_FRAME_RATE}"/>\n'
        f'  <TimelineLabels name="{_NAME}" toName="{_VIDEO}">\n{rows}\n  </TimelineLabels>\n'
        "</View>\n"
    )


def _slots(
    order: ElementTree.Element, tiers: Mapping[str, Sequence[_Row]]
) -> dict[tuple[str, int], list[str]]:
    """Add the sorted times of all rows; return the time slots (start, end) of each row."""
    times = sorted(
        (milliseconds(time), side, name, index)
        for name, rows in tiers.items()
        for index, row in enumerate(rows)
        for side, time in enumerate(row[:2])
    )
    slots: dict[tuple[str, int], list[str]] = {}
    for number, (time, _, name, index) in enumerate(times, 1):
        slot = f"ts{number}"
        ElementTree.SubElement(order, "TIME_SLOT", TIME_SLOT_ID=slot, TIME_VALUE=str(time))
        slots.setdefault((name, index), []).append(slot)
    return slots


def _without_overlap(rows: Sequence[_Row]) -> list[_Row]:
    """Clip rows so that they do not overlap, as a tier requires."""
    found: list[_Row] = []
    for start, end, text in rows:
        begin = max(start, found[-1][1]) if found else start
        if milliseconds(end) > milliseconds(begin):
            found.append((begin, end, text))
    return found


def _frame(seconds: float) -> int:
    return 1 + round(seconds * _FRAME_RATE)


def _mean(scores: list[float]) -> float:
    return round(sum(scores) / len(scores), 4) if scores else 0.0
