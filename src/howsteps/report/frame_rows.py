"""Rows of frames as in the figures of the paper: each step in several videos, correct or not."""

from collections.abc import Collection, Sequence
from pathlib import Path

from howsteps.errors import InputError, Problem
from howsteps.report.text import capitalised, markdown
from howsteps.report.thumbnails import make_thumbnails
from howsteps.task import Localisation, Video

SHOWN_VIDEOS = 5


def frame_rows(
    labels: Sequence[str],
    localisations: Sequence[Localisation],
    right: Collection[tuple[str, int]],
    videos: Sequence[Video],
    folder: Path,
) -> tuple[str, list[Problem]]:
    """Write frames to ``folder``/frames; return a Markdown table of them, and problems.

    Parameters
    ----------
    labels
        The labels of the steps, in order.
    localisations
        Where each step was found.
    right
        The pairs of video and step that were found correctly.
    videos
        Videos with files; the first few are shown.

    Raises
    ------
    MissingExtra
        PyAV is not installed.
    """
    rows: list[list[str]] = [[] for _ in labels]
    problems: list[Problem] = []
    for video in videos[:SHOWN_VIDEOS]:
        times = {
            p.step: p.time for p in localisations if p.video == video.id and p.time is not None
        }
        try:
            names = make_thumbnails(video, list(times.values()), folder / "frames")
        except InputError as error:
            problems.append(error.problem)
            continue
        for step, row in enumerate(rows):
            name = names.get(times.get(step, -1.0))
            mark = "✓" if (video.id, step) in right else "✗"
            row.append(f"![](frames/{name}) {mark}" if name else "")
    width = len(rows[0]) if rows else 0
    lines = [["step", *[""] * width], ["---"] * (width + 1)]
    lines += [[_cell(label), *row] for label, row in zip(labels, rows, strict=True)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines), problems


def _cell(label: str) -> str:
    return markdown(capitalised(label)).replace("|", r"\|")
