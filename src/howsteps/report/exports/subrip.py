"""SubRip: the chapters as subtitles, for players that show nothing else."""

from howsteps.io.timestamps import format_timestamp
from howsteps.report.exports.spans import Chapter


def text_of(chapters: list[Chapter]) -> str:
    """One numbered cue for each chapter."""
    cues = [
        f"{number}\n{format_timestamp(c.start, ',')} --> {format_timestamp(c.end, ',')}\n"
        f"{_plain(c.title)}\n"
        for number, c in enumerate(chapters, 1)
    ]
    return "\n".join(cues)


def _plain(title: str) -> str:
    # The format has no escapes: what could be read as markup or as an arrow is written otherwise.
    return title.replace("-->", "→").replace("<", "‹").replace(">", "›")
