"""A result as rows of places, which is how every picture of it is drawn."""

from collections.abc import Sequence

from howsteps.localise.windows import AFTER, BEFORE
from howsteps.task import Localisation, Mention, Result, Video

SURE = 0.5  # confidence from which a place is shown as sure

Row = Sequence[Localisation | None]


def places(result: Result) -> dict[str, list[Localisation | None]]:
    """The places of all steps for every video, in order; None where a step was never looked for."""
    rows: dict[str, list[Localisation | None]] = {
        video.id: [None] * len(result.script.steps) for video in result.task.videos
    }
    for place in result.localisations:
        rows[place.video][place.step] = place
    return rows


def is_measured(result: Result) -> bool:
    """Whether places have a confidence; by narration alone they have none, and 0 % is no figure."""
    return any(place.confidence for place in result.localisations if place.time is not None)


def video_length(video: Video, row: Row) -> float:
    """Length in seconds: what is known of the file, else the end of the last thing in it."""
    if video.duration is not None:
        return video.duration
    ends = [caption.end for caption in video.captions]
    ends += [sentence.end for sentence in video.sentences]
    ends += [mention.end for mention in video.mentions]
    ends += [place.end or place.time or 0.0 for place in row if place is not None]
    return max(ends, default=0.0)


def window(mention: Mention) -> tuple[float, float]:
    """Where a mention from a to b seconds lets its step be: [a − Δb, b + Δa], from 0 on."""
    return max(0.0, mention.start - BEFORE), mention.end + AFTER
