"""A table with commas: every step of every video, guesses and absent steps too."""

import csv
import io

from howsteps.report.rows import places
from howsteps.report.wording import label_of, one_line
from howsteps.task import Result

HEADING = (
    *("video", "number", "step", "start", "end", "time"),
    *("confidence", "evidence", "supporting_videos"),
)
# A spreadsheet takes a cell that begins so for a formula, and computes it.
_FORMULA = ("=", "+", "-", "@")


def text_of(result: Result) -> str:
    """All places; a step that is not in a video has no times."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADING)
    for video, row in places(result).items():
        for number, (step, place) in enumerate(zip(result.script.steps, row, strict=True), 1):
            if place is None:
                continue
            times = (place.start, place.end, place.time)
            writer.writerow(
                [
                    _safe(video),
                    number,
                    _safe(label_of(step)),
                    *("" if time is None else f"{time:.3f}" for time in times),
                    f"{place.confidence:.4f}",
                    _safe(place.evidence),
                    step.support,
                ]
            )
    return text.getvalue()


def _safe(text: str) -> str:
    """One line that no spreadsheet takes for a formula."""
    line = one_line(text) if text else ""
    return f"'{line}" if line.startswith(_FORMULA) else line
