"""ELAN: an ``.eaf`` with one tier for the steps and one for what is said."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias
from xml.etree import ElementTree

from howsteps.io.timestamps import milliseconds
from howsteps.report.exports.spans import Span
from howsteps.report.wording import one_line
from howsteps.task import Video

_Row: TypeAlias = tuple[float, float, str]

_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
_SCHEMA = "http://www.mpi.nl/tools/elan/EAFv3.0.xsd"


def text_of(video: Video, found: list[Span]) -> str:
    """The document of one video."""
    document = ElementTree.Element(
        "ANNOTATION_DOCUMENT", AUTHOR="howsteps", FORMAT="3.0", VERSION="3.0"
    )
    ElementTree.register_namespace("xsi", _INSTANCE)
    document.set(f"{{{_INSTANCE}}}noNamespaceSchemaLocation", _SCHEMA)
    # A date is asked for; the same result gives the same bytes only if it is always the same.
    document.set("DATE", "2016-06-27T00:00:00+00:00")
    header = ElementTree.SubElement(document, "HEADER", MEDIA_FILE="", TIME_UNITS="milliseconds")
    if video.media is not None:
        ElementTree.SubElement(
            header,
            "MEDIA_DESCRIPTOR",
            MEDIA_URL=video.media.absolute().as_uri(),
            MIME_TYPE=_kind(video.media),
        )
    tiers = {
        "steps": [(span.start, span.end, span.label) for span in found],
        "narration": _in_turn([(s.start, s.end, one_line(s.text)) for s in video.sentences]),
    }
    slots = _slots(ElementTree.SubElement(document, "TIME_ORDER"), tiers)
    for name, rows in tiers.items():
        tier = ElementTree.SubElement(document, "TIER", LINGUISTIC_TYPE_REF="default", TIER_ID=name)
        for place, (*_, text) in enumerate(rows):
            start, end = slots[name, place]
            annotation = ElementTree.SubElement(
                ElementTree.SubElement(tier, "ANNOTATION"),
                "ALIGNABLE_ANNOTATION",
                ANNOTATION_ID=f"{name}{place + 1}",
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


def _slots(
    order: ElementTree.Element, tiers: Mapping[str, Sequence[_Row]]
) -> dict[tuple[str, int], list[str]]:
    """Put the times of all rows down in the order of time; the names of those of each row."""
    times = sorted(
        (milliseconds(time), side, name, place)
        for name, rows in tiers.items()
        for place, row in enumerate(rows)
        for side, time in enumerate(row[:2])
    )
    names: dict[tuple[str, int], list[str]] = {}
    for number, (time, _, name, place) in enumerate(times, 1):
        slot = f"ts{number}"
        ElementTree.SubElement(order, "TIME_SLOT", TIME_SLOT_ID=slot, TIME_VALUE=str(time))
        names.setdefault((name, place), []).append(slot)
    return names


def _in_turn(rows: Sequence[_Row]) -> list[_Row]:
    """Rows that do not overlap, as the rows of a tier must not."""
    found: list[_Row] = []
    for start, end, text in rows:
        begin = max(start, found[-1][1]) if found else start
        if milliseconds(end) > milliseconds(begin):
            found.append((begin, end, text))
    return found


def _kind(media: Path) -> str:
    return "video/mp4" if media.suffix.lower() in {".mp4", ".m4v", ".mov"} else "video/*"
