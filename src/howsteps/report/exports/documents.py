"""Documents: a CSV table, a how-to page in Markdown, and files for ELAN and Label Studio."""

import csv
import io
import json
import os
from collections.abc import Mapping, Sequence
from typing import TypeAlias
from urllib.parse import quote
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from howsteps.io.text import format_time, milliseconds
from howsteps.report.agreed import duration, things_needed
from howsteps.report.content import (
    localisation_rows,
    markdown,
    markdown_line,
    one_line,
    step_label,
    title_of,
    youtube_id,
)
from howsteps.report.exports.chapters import Span, spans
from howsteps.task import Localisation, Result, Video

_HEADER = (
    *("video", "number", "step", "start", "end", "time"),
    *("level", "confidence", "evidence", "presence", "supporting_videos"),
)
# Spreadsheets evaluate cells that begin with one of these as formulas.
_FORMULA = ("=", "+", "-", "@")


def csv_text(result: Result) -> str:
    """CSV: every step of every video; absent steps have no times."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADER)
    for video, row in localisation_rows(result).items():
        for number, (step, place) in enumerate(zip(result.script.steps, row, strict=True), 1):
            if place is None:
                continue
            times = (place.start, place.end, place.time)
            writer.writerow(
                [
                    _safe(video),
                    number,
                    _safe(step_label(step)),
                    *("" if time is None else f"{time:.3f}" for time in times),
                    place.level or ("absent" if place.time is None else ""),
                    f"{place.confidence:.4f}",
                    _safe(place.evidence),
                    f"{place.presence:.4f}",
                    step.support,
                ]
            )
    return text.getvalue()


def best_localisations(result: Result) -> dict[int, Localisation]:
    """For each step, the localisation with the highest confidence that is not a guess."""
    found: dict[int, Localisation] = {}
    for video in result.task.videos:
        for span in spans(result, video):
            best = found.get(span.step)
            if best is None or span.place.confidence > best.confidence:
                found[span.step] = span.place
    return found


def howto_text(result: Result, thumbnails: Mapping[int, str]) -> str:
    """A how-to page in Markdown; ``thumbnails`` are image files by step."""
    steps, videos = result.script.steps, len(result.task.videos)
    best = best_localisations(result)
    lines = [f"# {markdown(title_of(result.task.name))}", ""]
    lines += [f"Steps: {len(steps)}. Videos: {videos}.", ""]
    if things := things_needed(result):
        lines += ["## What narrators use", "", *(f"* {markdown(thing)}" for thing in things), ""]
    by_id = {video.id: video for video in result.task.videos}
    sentences = {video.id: video.sentences for video in result.task.videos}
    for number, step in enumerate(steps):
        label = markdown(step_label(step) + (" (optional)" if step.optional else ""))
        lines += [f"## {number + 1}. {label}", ""]
        if number in thumbnails:
            lines += [f"![{label}]({thumbnails[number]})", ""]
        if takes := duration(step, sentences):
            lines += [f"Narrators say it takes {takes}.", ""]
        lines += [f"> {markdown_line(example)}\n" for example in step.examples[:2]]
        where = f" Clearest {_where(best[number], by_id)}." if number in best else ""
        lines += [f"Mentioned in {step.support} of {videos} videos.{where}", ""]
    return "\n".join(lines)


def _where(place: Localisation, videos: Mapping[str, Video]) -> str:
    """The place of a step, with a link if the video is on YouTube."""
    video, time = videos[place.video], place.time or 0.0
    clock = format_time(time)
    if id_ := youtube_id(video):
        clock = f"[{clock}](https://youtu.be/{id_}?t={int(time)})"
    certainty = f" ({place.level}: {markdown(place.evidence)})" if place.level else ""
    return f"in *{markdown(video.title or video.id)}* at {clock}{certainty}"


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
