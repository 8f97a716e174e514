"""WebVTT chapters: what ``<track kind="chapters">`` and most players read."""

from howsteps.io.timestamps import format_timestamp
from howsteps.report.exports.spans import Chapter


def text_of(chapters: list[Chapter]) -> str:
    """One cue for each chapter."""
    cues = [
        f"{number}\n{format_timestamp(c.start)} --> {format_timestamp(c.end)}\n"
        f"{_escaped(c.title)}\n"
        for number, c in enumerate(chapters, 1)
    ]
    return "\n".join(["WEBVTT\n", *cues])


def _escaped(title: str) -> str:
    # With ">" escaped, no title can hold the "-->" that would start a cue.
    return title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
