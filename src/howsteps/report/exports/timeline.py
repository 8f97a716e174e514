"""OpenTimelineIO: the video on one track, cut at its steps."""

import json
from typing import Any

from howsteps.report.exports.spans import Span


def text_of(name: str, media: str | None, length: float, found: list[Span], rate: float) -> str:
    """A timeline of one video; ``media`` is its file as a URL, where there is one."""
    reference: dict[str, Any] = (
        {"OTIO_SCHEMA": "MissingReference.1", "name": name}
        if media is None
        else {
            "OTIO_SCHEMA": "ExternalReference.1",
            "target_url": media,
            "available_range": _range(0.0, length, rate),
        }
    )
    children: list[dict[str, Any]] = []
    now = 0.0
    for span in found:
        if span.start > now:
            children.append(_gap(now, span.start, rate))
        children.append(
            {
                "OTIO_SCHEMA": "Clip.2",
                "name": span.label,
                "source_range": _range(span.start, span.end, rate),
                "media_references": {"DEFAULT_MEDIA": reference},
                "active_media_reference_key": "DEFAULT_MEDIA",
                "metadata": {
                    "howsteps": {
                        "step": span.step + 1,
                        "confidence": span.place.confidence,
                        "evidence": span.place.evidence,
                    }
                },
            }
        )
        now = span.end
    if length > now:
        children.append(_gap(now, length, rate))
    track = {"OTIO_SCHEMA": "Track.1", "name": "steps", "kind": "Video", "children": children}
    timeline = {
        "OTIO_SCHEMA": "Timeline.1",
        "name": name,
        "tracks": {"OTIO_SCHEMA": "Stack.1", "name": "tracks", "children": [track]},
    }
    return json.dumps(timeline, ensure_ascii=False, indent=1) + "\n"


def _gap(start: float, end: float, rate: float) -> dict[str, Any]:
    frames = _range(start, end, rate)
    return {
        "OTIO_SCHEMA": "Gap.1",
        "name": "",
        "source_range": {**frames, "start_time": _time(0, rate)},
    }


def _range(start: float, end: float, rate: float) -> dict[str, Any]:
    # Whole frames from whole frame to whole frame: what is rounded never adds up along the track.
    first, last = round(start * rate), round(end * rate)
    return {
        "OTIO_SCHEMA": "TimeRange.1",
        "start_time": _time(first, rate),
        "duration": _time(last - first, rate),
    }


def _time(frames: int, rate: float) -> dict[str, Any]:
    return {"OTIO_SCHEMA": "RationalTime.1", "rate": rate, "value": frames}
