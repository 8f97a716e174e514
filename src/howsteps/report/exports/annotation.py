"""Documents for annotation tools: ELAN and Label Studio."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from howsteps.io.timestamps import milliseconds
from howsteps.report.exports.spans import Span, spans
from howsteps.report.text import one_line, step_label
from howsteps.task import Result, Video

_Row: TypeAlias = tuple[float, float, str]

_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
_SCHEMA = "http://www.mpi.nl/tools/elan/EAFv3.0.xsd"

# Label Studio counts frames at the rate declared in its interface, whatever that of the video.
_FRAME_RATE = 25
_NAME, _VIDEO = "steps", "video"
_LOCAL_FILES = "/data/local-files/?d="


def elan_text(video: Video, found: list[Span]) -> str:
    """ELAN: an ``.eaf`` of one video, with a tier for the steps and one for the narration."""
    document = ElementTree.Element(
        "ANNOTATION_DOCUMENT", AUTHOR="howsteps", FORMAT="3.0", VERSION="3.0"
    )
    ElementTree.register_namespace("xsi", _INSTANCE)
    document.set(f"{{{_INSTANCE}}}noNamespaceSchemaLocation", _SCHEMA)
    # A date is required; a constant one keeps the bytes reproducible.
    document.set("DATE", "2016-06-27T00:00:00+00:00")
    header = ElementTree.SubElement(document, "HEADER", MEDIA_FILE="", TIME_UNITS="milliseconds")
    if video.media is not None:
        ElementTree.SubElement(
            header,
            "MEDIA_DESCRIPTOR",
            MEDIA_URL=video.media.absolute().as_uri(),
            MIME_TYPE=_mime_type(video.media),
        )
    tiers = {
        "steps": [(span.start, span.end, span.label) for span in found],
        "narration": _without_overlap(
            [(s.start, s.end, one_line(s.text)) for s in video.sentences]
        ),
    }
    slots = _slots(ElementTree.SubElement(document, "TIME_ORDER"), tiers)
    for name, rows in tiers.items():
        tier = ElementTree.SubElement(document, "TIER", LINGUISTIC_TYPE_REF="default", TIER_ID=name)
        for index, (*_, text) in enumerate(rows):
            start, end = slots[name, index]
            annotation = ElementTree.SubElement(
                ElementTree.SubElement(tier, "ANNOTATION"),
                "ALIGNABLE_ANNOTATION",
                ANNOTATION_ID=f"{name}{index + 1}",
                TIME_SLOT_REF1=start,
                TIME_SLOT_REF2=end,
            )
            ElementTree.SubElement(annotation, "ANNOTATION_VALUE").text = text
    ElementTree.SubElement(
        document,
        "LINGUISTIC_TYPE",
        GRAPHIC_REFERENCES="false",
        LINGUISTIC_TYPE_ID="default",
        TIME_ALIGNABLE="true",
    )
    ElementTree.indent(document)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(
        document, encoding="unicode"
    )


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


def _mime_type(media: Path) -> str:
    return "video/mp4" if media.suffix.lower() in {".mp4", ".m4v", ".mov"} else "video/*"


def _frame(seconds: float) -> int:
    return 1 + round(seconds * _FRAME_RATE)


def _mean(scores: list[float]) -> float:
    return round(sum(scores) / len(scores), 4) if scores else 0.0
