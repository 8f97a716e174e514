"""Timelines for video editors: CMX 3600 edit decision lists, and OpenTimelineIO."""

import json
from fractions import Fraction
from typing import Any

from howsteps.report.content import one_line
from howsteps.report.exports.chapters import PlacedVideo
from howsteps.report.page import rendered

_MAX_EVENTS = 999
_LONGEST_COMMENT = 70


def edl_text(placed: PlacedVideo) -> str:
    """CMX 3600: an edit decision list of one video.

    One event per step, recorded one after another: the list is a cut of the steps. Labels are in
    comments. Timecodes count frames, non-drop, at the whole rate that is closest to that of the
    video, or at its NTSC variant: 29.97 counts as 30, and so does a phone's 29.85.
    """
    video, measured = placed.video, placed.rate()
    clip = video.id if video.media is None else video.media.name
    base = max(1, round(measured))
    rate = min(Fraction(base), Fraction(base * 1000, 1001), key=lambda each: abs(each - measured))
    events, recorded = [], 0
    for span in placed.apart[:_MAX_EVENTS]:
        first, last = (round(Fraction(time) * rate) for time in (span.start, span.end))
        frames = max(1, last - first)
        times = [first, first + frames, recorded, recorded + frames]
        codes = " ".join(_code(frame, base) for frame in times)
        events.append({"codes": codes, "label": _comment(span.label)})
        recorded += frames
    return rendered("steps.edl", title=_comment(video.id), clip=_comment(clip), events=events)


def otio_text(placed: PlacedVideo) -> str:
    """OpenTimelineIO: one video on one track, cut at its steps."""
    video, length, rate = placed.video, placed.length, float(placed.rate())
    reference: dict[str, Any] = (
        {"OTIO_SCHEMA": "MissingReference.1", "name": video.id}
        if video.media is None
        else {
            "OTIO_SCHEMA": "ExternalReference.1",
            "target_url": video.media.absolute().as_uri(),
            "available_range": _range(0.0, length, rate),
        }
    )
    children: list[dict[str, Any]] = []
    now = 0.0
    for span in placed.apart:
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
        "name": video.id,
        "tracks": {"OTIO_SCHEMA": "Stack.1", "name": "tracks", "children": [track]},
    }
    return json.dumps(timeline, ensure_ascii=False, indent=1) + "\n"


def _code(frame: int, base: int) -> str:
    """``00:01:02:12``: hours, minutes, seconds and frames."""
    seconds, frames = divmod(frame, base)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}:{frames:02}"


def _comment(text: str) -> str:
    return one_line(text)[:_LONGEST_COMMENT]


def _gap(start: float, end: float, rate: float) -> dict[str, Any]:
    frames = _range(start, end, rate)
    return {
        "OTIO_SCHEMA": "Gap.1",
        "name": "",
        "source_range": {**frames, "start_time": _time(0, rate)},
    }


def _range(start: float, end: float, rate: float) -> dict[str, Any]:
    # Round both ends to whole frames, so that rounding errors do not add up along the track.
    first, last = round(start * rate), round(end * rate)
    return {
        "OTIO_SCHEMA": "TimeRange.1",
        "start_time": _time(first, rate),
        "duration": _time(last - first, rate),
    }


def _time(frames: int, rate: float) -> dict[str, Any]:
    return {"OTIO_SCHEMA": "RationalTime.1", "rate": rate, "value": frames}
