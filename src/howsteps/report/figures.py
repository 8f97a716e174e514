"""Static figures for papers and slides, as matplotlib figures (extra ``plots``)."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from howsteps.errors import HowstepsError, MissingExtra
from howsteps.io.text import format_time
from howsteps.report.content import (
    has_levels,
    localisation_rows,
    step_colour,
    step_label,
    video_length,
    window,
)
from howsteps.task import Result, Video

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_ROW = 0.42  # inches per video
# Colours of methods; after twelve, the style of the line changes.
_CURVES = (
    *("#0072b2", "#e69f00", "#009e73", "#d62728", "#8c3f70", "#56b4e9", "#6b4a2b", "#000000"),
    *("#e377c2", "#8a8a00", "#7f7f7f", "#3b2fb8"),
)
_MARKERS = "osD^vPX*h"
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_GREY = "#767676"
_LEGEND = 24  # characters a line
_BESIDE = 0.6  # of K: the points of all methods


class F1Row(TypedDict):
    """One point of :func:`f1_figure`: a method on a task with a number of steps."""

    task: str
    method: str
    steps: int
    f1: float
    low: float
    high: float


def timeline_figure(result: Result) -> "Figure":
    """One line per video: where the steps are, and where the narration mentions them.

    Blocks show the steps from start to end, with their numbers, dashed if they are guesses. The
    thin bars below are the windows of mentions.
    """
    videos, steps = result.task.videos, result.script.steps
    figure = _figure(9.0, 1.2 + _ROW * len(videos))
    axes = figure.add_subplot()
    found, with_levels = localisation_rows(result), has_levels(result)
    for row, video in enumerate(videos):
        length = video_length(video, found[video.id])
        axes.hlines(row, 0, length, color="#d5d5d5", linewidth=1, zorder=0)
        for place in found[video.id]:
            if place is None or place.time is None:
                continue
            colour = step_colour(place.step)
            start = place.time if place.start is None else place.start
            end = place.time if place.end is None else place.end
            style: dict[str, Any] = {"color": colour.fill, "alpha": 0.35}
            if place.level == "guess":
                style = {"fill": False, "edgecolor": colour.fill, "linestyle": "--"}
            axes.barh(row, end - start, 0.5, left=start, **style)
            axes.plot(place.time, row, "o", color=colour.fill, markersize=10, clip_on=False)
            axes.text(
                place.time,
                row,
                str(place.step + 1),
                color=colour.ink,
                fontsize=6,
                ha="center",
                va="center_baseline",
            )
    rows = {video.id: row for row, video in enumerate(videos)}
    for index, step in enumerate(steps):
        for mention in step.mentions:
            start, end = window(mention)
            axes.barh(
                rows[mention.video] + 0.34,
                end - start,
                0.08,
                left=start,
                color=step_colour(index).fill,
                linewidth=0,
            )
    axes.set_yticks(range(len(videos)), [_name(video) for video in videos])
    axes.set_ylim(len(videos) - 0.4, -0.6)
    axes.set_xlim(left=0)
    dashed = "dashed: a guess; " if with_levels else ""
    thin = "thin bars: where the narration allows the step"
    axes.set_xlabel(f"time in the video (min:s); {dashed}{thin}")
    axes.xaxis.set_major_formatter(lambda seconds, _: format_time(seconds))
    _plain(axes)
    _steps_below(figure, result)
    return figure


def f1_figure(rows: Sequence[F1Row]) -> "Figure":
    """F1 in percent against the number of steps K: a panel per task, a line per method.

    Parameters
    ----------
    rows
        The points, with ``f1`` and its error bar from ``low`` to ``high``, in [0, 1].
        The points of one method are connected in the order of ``steps``.
    """
    if not rows:
        raise HowstepsError("there is no F1 to draw: the list of rows is empty")
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    n_columns = min(3, len(tasks))
    n_rows = math.ceil(len(tasks) / n_columns)
    names = [textwrap.fill(method, _LEGEND) for method in methods]
    lines_of_names = sum(name.count("\n") + 1 for name in names)
    legend = 0.8 + 0.07 * max(map(len, "\n".join(names).split("\n")))
    figure = _figure(
        0.6 + 3.2 * n_columns + legend, max(0.5 + 2.5 * n_rows, 0.4 + 0.19 * lines_of_names)
    )
    panels = figure.subplots(n_rows, n_columns, sharey=True, squeeze=False).ravel()
    apart = _BESIDE / max(10, len(methods))
    lines: dict[str, Line2D] = {}
    for axes, task in zip(panels, tasks, strict=False):
        for number, method in enumerate(methods):
            points = sorted(
                (row for row in rows if row["task"] == task and row["method"] == method),
                key=lambda row: row["steps"],
            )
            if points:
                # Side by side, so that error bars do not hide one another.
                shift = apart * (number - (len(methods) - 1) / 2)
                lines[names[number]] = _curve(axes, points, number, shift)
        axes.set_title(_literal(task), fontsize=9)
        axes.set_xticks(sorted({row["steps"] for row in rows if row["task"] == task}))
        axes.set_xlabel("steps K")
        axes.grid(axis="y", color="#e5e5e5", linewidth=0.6)
        axes.set_axisbelow(True)
        _plain(axes)
    highest = max(row["high"] for row in rows) or 1.0  # all zero: the whole scale
    panels[0].set_ylim(0, 105 * highest)
    for axes in panels[::n_columns]:
        axes.set_ylabel("F1 (%)", fontsize=8)
    for axes in panels[len(tasks) :]:
        axes.set_visible(False)
    figure.legend(
        lines.values(),
        map(_literal, lines),
        loc="outside right upper",
        frameon=False,
        fontsize=8,
    )
    return figure


def save_figure(figure: "Figure", path: Path) -> Path:
    """Write a figure, in the format of the file extension; the output is reproducible."""
    from matplotlib import rc_context  # noqa: PLC0415 - an extra

    path.parent.mkdir(parents=True, exist_ok=True)
    without_date: Mapping[str, Mapping[str, None]] = {
        ".svg": {"Date": None},
        ".pdf": {"CreationDate": None},
    }
    # Keep text as text, so that it can be searched, and edited in a drawing program.
    with rc_context({"svg.hashsalt": "howsteps", "svg.fonttype": "none"}):
        figure.savefig(path, dpi=200, metadata=without_date.get(path.suffix.lower(), {}))
    return path


def _figure(width: float, height: float) -> "Figure":
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("plots", "drawing a figure") from error
    return Figure(figsize=(width, height), layout="constrained")


def _curve(axes: "Axes", points: Sequence[F1Row], number: int, shift: float) -> "Line2D":
    """Draw one method in a panel: a line with markers and error bars, ``shift`` to the right."""
    values = [100 * point["f1"] for point in points]
    below = [max(0.0, 100 * (point["f1"] - point["low"])) for point in points]
    above = [max(0.0, 100 * (point["high"] - point["f1"])) for point in points]
    drawn = axes.errorbar(
        [point["steps"] + shift for point in points],
        values,
        yerr=[below, above],
        color=_CURVES[number % len(_CURVES)],
        marker=_MARKERS[number % len(_MARKERS)],
        linestyle=_LINES[number // len(_CURVES) % len(_LINES)],
        markersize=4.5,
        linewidth=1.4,
        elinewidth=0.8,
        capsize=2,
    )
    return drawn.lines[0]


def _steps_below(figure: "Figure", result: Result) -> None:
    """Write the numbers and labels of the steps under the axes."""
    names = [f"{number} {step_label(step)}" for number, step in enumerate(result.script.steps, 1)]
    lines = [" · ".join(names[at : at + 4]) for at in range(0, len(names), 4)]
    figure.supxlabel(_literal("\n".join(lines)), fontsize=7, color=_GREY)


def _plain(axes: "Axes") -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=7)
    axes.xaxis.label.set_fontsize(8)


def _name(video: Video) -> str:
    return _literal(video.id if len(video.id) <= 24 else f"{video.id[:23]}…")


def _literal(text: str) -> str:
    """Escape dollar signs, which start mathematics in matplotlib."""
    return text.replace("$", r"\$")
