"""The figure of F1 for papers (extra ``plots``)."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from howsteps.errors import HowstepsError, MissingExtra
from howsteps.evaluate.experiment import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# Colours of methods; after twelve, the style of the line changes.
_CURVES = (
    *("#0072b2", "#e69f00", "#009e73", "#d62728", "#8c3f70", "#56b4e9", "#6b4a2b", "#000000"),
    *("#e377c2", "#8a8a00", "#7f7f7f", "#3b2fb8"),
)
_MARKERS = "osD^vPX*h"
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_LEGEND = 24  # characters a line
_STYLE: dict[Any, Any] = {
    "font.size": 8,
    "legend.frameon": False,
    "text.parse_math": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#e5e5e5",
    "lines.markersize": 4.5,
    # Text stays text, so that it can be searched, and edited in a drawing program.
    "svg.hashsalt": "howsteps",
    "svg.fonttype": "none",
}
_BESIDE = 0.6  # of K: the points of all methods


def f1_figure(rows: Sequence[Summary]) -> "Figure":
    """F1 in percent against the number of steps K: a panel per task, a line per method.

    ``rows`` are the means of a comparison (:attr:`howsteps.evaluate.Comparison.summaries`) by one
    protocol.
    """
    if not rows:
        raise HowstepsError("there is no F1 to draw: the list of rows is empty")
    try:
        import matplotlib.figure  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("plots", "drawing a figure") from error
    with matplotlib.rc_context(_STYLE):
        return _panels(rows)


def _panels(rows: Sequence[Summary]) -> "Figure":
    """Draw the panels and the legend in the style of the surrounding context."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    tasks = list(dict.fromkeys(row.task for row in rows))
    methods = list(dict.fromkeys(row.method for row in rows))
    n_columns = min(3, len(tasks))
    n_rows = math.ceil(len(tasks) / n_columns)
    names = [textwrap.fill(method, _LEGEND) for method in methods]
    lines_of_names = sum(name.count("\n") + 1 for name in names)
    legend = 0.8 + 0.07 * max(map(len, "\n".join(names).split("\n")))
    height = max(0.5 + 2.5 * n_rows, 0.4 + 0.19 * lines_of_names)
    figure = Figure(figsize=(0.6 + 3.2 * n_columns + legend, height), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, sharey=True, squeeze=False).ravel()
    apart = _BESIDE / max(10, len(methods))
    lines: dict[str, Line2D] = {}
    for axes, task in zip(panels, tasks, strict=False):
        for number, method in enumerate(methods):
            points = sorted(
                (row for row in rows if row.task == task and row.method == method),
                key=lambda row: row.steps,
            )
            if points:
                # Side by side, so that error bars do not hide one another.
                shift = apart * (number - (len(methods) - 1) / 2)
                lines[names[number]] = _curve(axes, points, number, shift)
        axes.set_title(task)
        axes.set_xticks(sorted({row.steps for row in rows if row.task == task}))
        axes.set_xlabel("steps K")
    highest = max(row.high or row.f1 for row in rows) or 1.0  # all zero: the whole scale
    panels[0].set_ylim(0, 105 * highest)
    for axes in panels[::n_columns]:
        axes.set_ylabel("F1 (%)")
    for axes in panels[len(tasks) :]:
        axes.set_visible(False)
    figure.legend(lines.values(), list(lines), loc="outside right upper")
    return figure


def save_figure(figure: "Figure", path: Path) -> Path:
    """Write a figure, in the format of the file extension; the output is reproducible."""
    from matplotlib import rc_context  # noqa: PLC0415 - an extra

    path.parent.mkdir(parents=True, exist_ok=True)
    without_date: Mapping[str, Mapping[str, None]] = {
        ".svg": {"Date": None},
        ".pdf": {"CreationDate": None},
    }
    with rc_context(_STYLE):
        figure.savefig(path, dpi=200, metadata=without_date.get(path.suffix.lower(), {}))
    return path


def _curve(axes: "Axes", points: Sequence[Summary], number: int, shift: float) -> "Line2D":
    """Draw one method in a panel: a line with markers and error bars, ``shift`` to the right."""
    values = [100 * point.f1 for point in points]
    below = [0.0 if p.low is None else max(0.0, 100 * (p.f1 - p.low)) for p in points]
    above = [0.0 if p.high is None else max(0.0, 100 * (p.high - p.f1)) for p in points]
    drawn = axes.errorbar(
        [point.steps + shift for point in points],
        values,
        yerr=[below, above],
        color=_CURVES[number % len(_CURVES)],
        marker=_MARKERS[number % len(_MARKERS)],
        linestyle=_LINES[number // len(_CURVES) % len(_LINES)],
        elinewidth=0.8,
    )
    return drawn.lines[0]
