"""A result as rows of localisations, one for each video: what the page and figures show."""

from collections.abc import Sequence

from howsteps.task import Localisation, Mention, Result, Video

LocalisationRow = Sequence[Localisation | None]


def localisation_rows(result: Result) -> dict[str, list[Localisation | None]]:
    """The localisation of every step for each video, in order; None if there is none."""
    rows: dict[str, list[Localisation | None]] = {
        video.id: [None] * len(result.script.steps) for video in result.task.videos
    }
    for place in result.localisations:
        rows[place.video][place.step] = place
    return rows


def is_measured(result: Result) -> bool:
    """Whether localisations say how sure they are; such as others made may not."""
    return any(place.level for place in result.localisations)


def video_length(video: Video, row: LocalisationRow) -> float:
    """Length in seconds: the known duration, or the end of the last item in it."""
    if video.duration is not None:
        return video.duration
    ends = [caption.end for caption in video.captions]
    ends += [sentence.end for sentence in video.sentences]
    ends += [mention.end for mention in video.mentions]
    ends += [place.end or place.time or 0.0 for place in row if place is not None]
    return max(ends, default=0.0)


def window(mention: Mention) -> tuple[float, float]:
    """The window in which a mention from a to b allows its step: [a − Δb, b + Δa], from 0 on."""
    from howsteps.localise.windows import AFTER, BEFORE  # noqa: PLC0415 - loads Numba

    return max(0.0, mention.start - BEFORE), mention.end + AFTER
