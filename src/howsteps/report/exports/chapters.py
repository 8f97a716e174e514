"""Chapters as text: WebVTT, SubRip, FFmpeg's metadata, and lines for YouTube."""

import re

from howsteps.io.timestamps import format_time, format_timestamp, milliseconds
from howsteps.report.exports.spans import OPENING, Chapter, from_zero

# YouTube's requirements.
_MIN_SECONDS = 10
_MIN_CHAPTERS = 3


class NoChapters(ValueError):
    """A video has too few chapters for YouTube; the message says how many."""


def webvtt_text(chapters: list[Chapter]) -> str:
    """WebVTT chapters, for ``<track kind="chapters">`` and most players."""
    cues = [
        f"{number}\n{format_timestamp(c.start)} --> {format_timestamp(c.end)}\n"
        # With ">" escaped, no title can contain the "-->" that would start a cue.
        f"{c.title.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')}\n"
        for number, c in enumerate(chapters, 1)
    ]
    return "\n".join(["WEBVTT\n", *cues])


def subrip_text(chapters: list[Chapter]) -> str:
    """The chapters as SubRip subtitles, for players without chapters."""
    cues = [
        f"{number}\n{format_timestamp(c.start, ',')} --> {format_timestamp(c.end, ',')}\n"
        # The format has no escapes: replace what could be read as markup or as an arrow.
        f"{_without_brackets(c.title.replace('-->', '→'))}\n"
        for number, c in enumerate(chapters, 1)
    ]
    return "\n".join(cues)


def ffmetadata_text(chapters: list[Chapter]) -> str:
    """Chapters for ``ffmpeg -i video -i video.ffmetadata -map_metadata 1 …``.

    MP4 requires a chapter at 0, so an opening chapter may be added before the first step.
    """
    sections = [
        "[CHAPTER]\nTIMEBASE=1/1000\n"
        f"START={milliseconds(c.start)}\nEND={milliseconds(c.end)}\ntitle={_escaped(c.title)}\n"
        for c in from_zero(chapters)
    ]
    return "\n".join([";FFMETADATA1", *sections])


def youtube_text(chapters: list[Chapter]) -> str:
    """Chapter lines for the description of a YouTube video.

    Raises
    ------
    NoChapters
        Fewer than three are left after merging (:func:`youtube_chapters`).
    """
    merged = youtube_chapters(chapters)
    if len(merged) < _MIN_CHAPTERS:
        raise NoChapters(
            f"YouTube requires at least {_MIN_CHAPTERS} chapters of {_MIN_SECONDS} s; "
            f"this video has {len(merged)}"
        )
    return "".join(f"{format_time(start)} {title}\n" for start, title in merged)


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
        title = _without_brackets(chapter.title)
        if found and (start - found[-1][0] < _MIN_SECONDS or end - start < _MIN_SECONDS):
            found[-1][1].append(title)
        else:
            found.append((start, [title]))
    return [(start, " · ".join(titles)) for start, titles in found]


def _without_brackets(title: str) -> str:
    return title.replace("<", "‹").replace(">", "›")


def _escaped(title: str) -> str:
    return re.sub(r"([=;#\\\n])", r"\\\1", title)
