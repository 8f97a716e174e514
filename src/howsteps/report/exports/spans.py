"""The steps of one video as time spans or chapters, the basis of all exports."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from howsteps.report.rows import video_length
from howsteps.report.text import step_label
from howsteps.task import SAID, Localisation, Result, Video

OPENING = "Start"  # title of the chapter before the first step


@dataclass(frozen=True, slots=True)
class Span:
    """A step in a video, in seconds; ``step`` counts from 0, ``label`` is one line of text."""

    step: int
    label: str
    start: float
    end: float
    place: Localisation


@dataclass(frozen=True, slots=True)
class Chapter:
    """A titled part of a video; there are no gaps between chapters."""

    start: float
    end: float
    title: str


def spans(result: Result, video: Video, *, guesses: bool = False) -> list[Span]:
    """The steps of a video in temporal order.

    Guesses are left out unless ``guesses``, or the step is mentioned there.
    """
    found = []
    for place in _localisations(result, video):
        is_guess = place.level == "guess" and place.evidence != SAID
        if place.time is None or (is_guess and not guesses):
            continue
        start = place.time if place.start is None else place.start
        end = place.time if place.end is None else place.end
        label = step_label(result.script.steps[place.step])
        found.append(Span(place.step, label, max(0.0, start), max(start, end), place))
    return sorted(found, key=lambda span: (span.start, span.step))


def chapters(result: Result, video: Video, *, guesses: bool = False) -> list[Chapter]:
    """The steps of a video as chapters: each ends where the next begins, the last at the end."""
    found = spans(result, video, guesses=guesses)
    ends = [*(span.start for span in found[1:]), max(video_duration(result, video), *_ends(found))]
    return [
        Chapter(span.start, end, span.label)
        for span, end in zip(found, ends, strict=False)
        if end > span.start
    ]


def from_zero(found: list[Chapter]) -> list[Chapter]:
    """Add an opening chapter, for formats that require a chapter at 0."""
    if not found or found[0].start == 0.0:
        return found
    return [Chapter(0.0, found[0].start, OPENING), *found]


def video_duration(result: Result, video: Video) -> float:
    """The duration of a video, in seconds."""
    return video_length(video, _localisations(result, video))


def _localisations(result: Result, video: Video) -> list[Localisation]:
    return result.by_video.get(video.id, [])


def _ends(found: Sequence[Span]) -> list[float]:
    return [0.0, *(span.end for span in found)]


def without_overlap(found: Sequence[Span]) -> list[Span]:
    """Clip each span at the start of the next."""
    clipped = [
        Span(span.step, span.label, span.start, min(span.end, following.start), span.place)
        for span, following in pairwise(found)
    ]
    return [span for span in [*clipped, *found[-1:]] if span.end > span.start]
