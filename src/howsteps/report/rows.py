"""Localisations as rows, one per video, for the page and figures."""

from collections.abc import Sequence

from howsteps.task import Localisation, Mention, Result, Video

LocalisationRow = Sequence[Localisation | None]


def localisation_rows(result: Result) -> dict[str, list[Localisation | None]]:
    """For each video id, the localisation of every step in order; None if there is none."""
    rows: dict[str, list[Localisation | None]] = {
        video.id: [None] * len(result.script.steps) for video in result.task.videos
    }
    for place in result.localisations:
        rows[place.video][place.step] = place
    return rows


def has_levels(result: Result) -> bool:
    """Whether the localisations have confidence levels; external ones may not."""
    return any(place.level for place in result.localisations)


def video_length(video: Video, row: LocalisationRow) -> float:
    """The duration in seconds, if known; else the end of the last caption, mention or place."""
    if video.duration is not None:
        return video.duration
    ends = [caption.end for caption in video.captions]
    ends += [sentence.end for sentence in video.sentences]
    ends += [mention.end for mention in video.mentions]
    ends += [place.end or place.time or 0.0 for place in row if place is not None]
    return max(ends, default=0.0)


def window(mention: Mention) -> tuple[float, float]:
    """The window that a mention from a to b allows for its step: [max(0, a − Δb), b + Δa]."""
    from howsteps.localise.windows import AFTER, BEFORE  # noqa: PLC0415 - loads Numba

    return max(0.0, mention.start - BEFORE), mention.end + AFTER
