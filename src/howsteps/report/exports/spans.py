"""The steps of one video as time spans or chapters: what every export is written from."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from howsteps.report.rows import video_length
from howsteps.report.text import step_label
from howsteps.task import SAID, Localisation, Result, Video

OPENING = "Start"  # the title of the part before the first step


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
    """The steps of a video in the order of time.

    A place that is a guess is left out unless ``guesses``, or its narrator names the step there.
    """
    found = []
    for place in _own(result, video):
        guess = place.level == "guess" and place.evidence != SAID
        if place.time is None or (guess and not guesses):
            continue
        start = place.time if place.start is None else place.start
        end = place.time if place.end is None else place.end
        label = step_label(result.script.steps[place.step])
        found.append(Span(place.step, label, max(0.0, start), max(start, end), place))
    return sorted(found, key=lambda span: (span.start, span.step))


def chapters(result: Result, video: Video, *, guesses: bool = False) -> list[Chapter]:
    """The steps of a video as chapters: each lasts until the next, the last until the end."""
    found = spans(result, video, guesses=guesses)
    ends = [*(span.start for span in found[1:]), max(video_duration(result, video), *_ends(found))]
    return [
        Chapter(span.start, end, span.label)
        for span, end in zip(found, ends, strict=False)
        if end > span.start
    ]


def from_zero(found: list[Chapter]) -> list[Chapter]:
    """The same chapters with an opening, for formats that require a chapter at 0."""
    if not found or found[0].start == 0.0:
        return found
    return [Chapter(0.0, found[0].start, OPENING), *found]


def video_duration(result: Result, video: Video) -> float:
    """Duration of a video, in seconds."""
    return video_length(video, _own(result, video))


def _own(result: Result, video: Video) -> list[Localisation]:
    return result.by_video.get(video.id, [])


def _ends(found: Sequence[Span]) -> list[float]:
    return [0.0, *(span.end for span in found)]


def without_overlap(found: Sequence[Span]) -> list[Span]:
    """The same spans, each clipped at the start of the next."""
    clipped = [
        Span(one.step, one.label, one.start, min(one.end, two.start), one.place)
        for one, two in pairwise(found)
    ]
    return [span for span in [*clipped, *found[-1:]] if span.end > span.start]
