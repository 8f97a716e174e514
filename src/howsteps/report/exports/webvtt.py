"""WebVTT chapters: what ``<track kind="chapters">`` and most players read."""

from howsteps.report.exports.spans import Chapter
from howsteps.report.exports.times import stamp


def text_of(chapters: list[Chapter]) -> str:
    """One cue for each chapter."""
    cues = [
        f"{number}\n{stamp(c.start)} --> {stamp(c.end)}\n{_escaped(c.title)}\n"
        for number, c in enumerate(chapters, 1)
    ]
    return "\n".join(["WEBVTT\n", *cues])


def _escaped(title: str) -> str:
    # With ">" escaped, no title can hold the "-->" that would start a cue.
    return title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
