"""FFmpeg's own text for chapters: ``ffmpeg -i video -i video.ffmetadata -map_metadata 1 …``."""

import re

from howsteps.io.timestamps import milliseconds
from howsteps.report.exports.spans import Chapter, from_zero


def text_of(chapters: list[Chapter]) -> str:
    """One section for each chapter; an opening comes before the first, as MP4 wants one at 0."""
    sections = [
        "[CHAPTER]\nTIMEBASE=1/1000\n"
        f"START={milliseconds(c.start)}\nEND={milliseconds(c.end)}\ntitle={_escaped(c.title)}\n"
        for c in from_zero(chapters)
    ]
    return "\n".join([";FFMETADATA1", *sections])


def _escaped(title: str) -> str:
    return re.sub(r"([=;#\\\n])", r"\\\1", title)
