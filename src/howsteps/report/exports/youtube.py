"""Chapter lines for the description of a YouTube video.

YouTube shows chapters when the first is at 0:00, there are at least three, in order, and each
lasts ten seconds or more. So a step that begins less than ten seconds after the chapter before it
(or before the end of the video) joins that chapter. Where the first step begins later than ten
seconds in, a chapter "Start" goes before it; where it begins earlier, it is moved to 0:00.
"""

from howsteps.io.timestamps import format_time
from howsteps.report.exports.spans import OPENING, Chapter

SHORTEST = 10  # seconds
FEWEST = 3


class NoChapters(ValueError):
    """A video has too little for YouTube to show chapters; the message says what."""


def text_of(chapters: list[Chapter]) -> str:
    """One line for each chapter.

    Raises
    ------
    NoChapters
        Fewer than three are left after joining.
    """
    joined = joined_chapters(chapters)
    if len(joined) < FEWEST:
        raise NoChapters(
            f"YouTube wants at least {FEWEST} chapters of {SHORTEST} s, and this video has "
            f"{len(joined)}"
        )
    return "".join(f"{format_time(start)} {title}\n" for start, title in joined)


def joined_chapters(chapters: list[Chapter]) -> list[tuple[int, str]]:
    """Starts in whole seconds and titles, by the rules of this module."""
    if not chapters:
        return []
    end = chapters[-1].end
    found: list[tuple[int, list[str]]] = []
    if chapters[0].start >= SHORTEST:
        found.append((0, [OPENING]))
    for chapter in chapters:
        start = int(chapter.start) if found else 0
        if found and (start - found[-1][0] < SHORTEST or end - start < SHORTEST):
            found[-1][1].append(_plain(chapter.title))
        else:
            found.append((start, [_plain(chapter.title)]))
    return [(start, " · ".join(titles)) for start, titles in found]


def _plain(title: str) -> str:
    # Descriptions may not hold angle brackets.
    return title.replace("<", "‹").replace(">", "›")
