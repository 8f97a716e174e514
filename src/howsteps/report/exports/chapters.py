"""The steps of one video as time spans, and as chapters in the formats of players."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from howsteps.io.text import format_time
from howsteps.report.content import angled, step_label, video_length
from howsteps.report.decoding import USUAL_RATE
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


class Chapter(NamedTuple):
    """A titled part of a video; there are no gaps between chapters."""

    start: float
    end: float
    title: str


@dataclass(frozen=True)
class PlacedVideo:
    """A video and its steps in temporal order, as all formats of a single video take it.

    ``rate`` reads the frames per second from the file.
    """

    video: Video
    spans: Sequence[Span]
    length: float
    rate: Callable[[], Fraction] = lambda: USUAL_RATE

    @classmethod
    def of(
        cls, result: Result, video: Video, rate: Callable[[], Fraction], *, guesses: bool
    ) -> "PlacedVideo":
        """A video of a result; without ``guesses``, only those that are mentioned there."""
        places = result.by_video[video.id]
        found = []
        for place in places:
            is_guess = place.level == "guess" and place.evidence != SAID
            if place.time is not None and (guesses or not is_guess):
                start = place.time if place.start is None else place.start
                end = place.time if place.end is None else place.end
                label = step_label(result.script.steps[place.step])
                found.append(Span(place.step, label, max(0.0, start), max(start, end), place))
        found.sort(key=lambda span: (span.start, span.step))
        return cls(video, found, video_length(video, places), rate)

    @property
    def chapters(self) -> list[Chapter]:
        """The steps as chapters: each ends where the next begins, the last at the end."""
        starts = [span.start for span in self.spans]
        ends = [*starts[1:], max([self.length, *(span.end for span in self.spans)])]
        return [
            Chapter(span.start, end, span.label)
            for span, end in zip(self.spans, ends, strict=False)
            if end > span.start
        ]

    @property
    def apart(self) -> list[Span]:
        """The steps, each of which ends before the next begins."""
        clipped = [
            replace(span, end=min(span.end, following.start))
            for span, following in pairwise(self.spans)
        ]
        return [span for span in [*clipped, *self.spans[-1:]] if span.end > span.start]


def from_zero(found: list[Chapter]) -> list[Chapter]:
    """Add an opening chapter, for formats that require a chapter at 0."""
    if not found or found[0].start == 0.0:
        return found
    return [Chapter(0.0, found[0].start, OPENING), *found]


# YouTube's requirements.
_MIN_SECONDS = 10
_MIN_CHAPTERS = 3
TOO_FEW = f"YouTube requires at least {_MIN_CHAPTERS} chapters of {_MIN_SECONDS} s"


def youtube_text(placed: PlacedVideo) -> str | None:
    """Chapter lines for the description of a YouTube video; None if there are too few."""
    found = youtube_chapters(placed.chapters)
    lines = "".join(f"{format_time(start)} {title}\n" for start, title in found)
    return lines if len(found) >= _MIN_CHAPTERS else None


def youtube_chapters(chapters: list[Chapter]) -> list[tuple[int, str]]:
    """Starts in whole seconds and titles of chapters that YouTube accepts.

    YouTube shows chapters if the first is at 0:00, there are at least three, in order, and each
    lasts ten seconds or more. So a step that begins less than ten seconds after the chapter before
    it (or before the end of the video) is merged with that chapter. If the first step begins later
    than ten seconds in, a chapter "Start" precedes it; otherwise it is moved to 0:00.
    """
    if not chapters:
        return []
    end = chapters[-1].end
    found: list[tuple[int, list[str]]] = []
    if chapters[0].start >= _MIN_SECONDS:
        found.append((0, [OPENING]))
    for chapter in chapters:
        start = int(chapter.start) if found else 0
        # Descriptions must not contain angle brackets.
        title = angled(chapter.title)
        if found and (start - found[-1][0] < _MIN_SECONDS or end - start < _MIN_SECONDS):
            found[-1][1].append(title)
        else:
            found.append((start, [title]))
    return [(start, " · ".join(titles)) for start, titles in found]
