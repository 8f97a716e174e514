"""SubRip: the chapters as subtitles, for players that show nothing else."""

from howsteps.report.exports.spans import Chapter
from howsteps.report.exports.times import stamp


def text_of(chapters: list[Chapter]) -> str:
    """One numbered cue for each chapter."""
    cues = [
        f"{number}\n{stamp(c.start, ',')} --> {stamp(c.end, ',')}\n{_plain(c.title)}\n"
        for number, c in enumerate(chapters, 1)
    ]
    return "\n".join(cues)


def _plain(title: str) -> str:
    # The format has no escapes: what could be read as markup or as an arrow is written otherwise.
    return title.replace("-->", "→").replace("<", "‹").replace(">", "›")
