"""Shared by the commands that evaluate: parse lists, read narrations, run a plan, write scores."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from howsteps._cli import screen
from howsteps.errors import MissingExtra
from howsteps.extras import PLOTS
from howsteps.task import Task

if TYPE_CHECKING:
    from howsteps.datasets.labelled import Labelled
    from howsteps.evaluate.experiment import NoScore, Plan, Row, Summary
    from howsteps.evaluate.protocols import Rules

ALL_METHODS = "uniform,video-only,video+bow,hmm,narration,supervised,paper,authors,default"
_FORMATS = (".svg", ".pdf", ".png")


def split_names(text: str) -> tuple[str, ...]:
    """Split a comma-separated list of names."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def split_numbers(text: str, option: str) -> tuple[int, ...]:
    """Split a comma-separated list of positive integers, and sort it."""
    try:
        found = sorted({int(number) for number in split_names(text)})
    except ValueError:
        raise typer.BadParameter(
            f"'{text}' is not a list of numbers, such as 7,10", param_hint=option
        ) from None
    if not found or found[0] < 1:
        raise typer.BadParameter(f"'{text}': at least 1 is needed", param_hint=option)
    return tuple(found)


def run_measurements(
    labelled: "Labelled",
    narrations: Mapping[str, Task],
    plan: "Plan",
    rules: "Rules | None",
    *,
    quiet: bool,
) -> tuple[list["Row"], list["NoScore"]]:
    """Run a plan on a task, and show progress."""
    from howsteps.evaluate.experiment import Row, run_plan  # noqa: PLC0415 - loads NumPy

    with screen.progress(f"measuring {labelled.task.name}", len(plan), quiet=quiet) as advance:
        scores = list(run_plan(labelled, narrations, plan, rules=rules, progress=advance))
    rows = [score for score in scores if isinstance(score, Row)]
    return rows, [score for score in scores if not isinstance(score, Row)]


def narrations_for(labelled: "Labelled", plan: "Plan", *, quiet: bool) -> dict[str, Task]:
    """Read the narrations of a task that a plan needs, and show progress."""
    from howsteps.evaluate.experiment import with_narrations  # noqa: PLC0415 - loads NumPy

    count = min(len(labelled.task.videos), plan.seeds * (plan.videos or len(labelled.task.videos)))
    with screen.progress(
        f"reading narrations of {labelled.task.name}", count, quiet=quiet
    ) as advance:
        return with_narrations(labelled, plan, progress=lambda _: advance())


def unmeasured(reasons: Sequence["NoScore"]) -> list[str]:
    """What could not be measured, one line for all methods with the same reason."""
    methods: dict[tuple[str, str], dict[str, None]] = {}
    for score in reasons:
        methods.setdefault((score.protocol, score.reason), {})[score.method] = None
    return [
        f"not measured by {protocol}: {', '.join(names)} ({reason})"
        for (protocol, reason), names in methods.items()
    ]


def write_scores(rows: Sequence["Row"], path: Path) -> None:
    """Write the rows as CSV, with the same columns as the JSON."""
    from howsteps.evaluate.experiment import Row  # noqa: PLC0415 - loads NumPy
    from howsteps.io.files import write_atomically  # noqa: PLC0415 - of few commands

    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [field.name for field in fields(Row)])
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    write_atomically(path, text.getvalue().encode())


def draw_f1(rows: Sequence["Summary"], path: Path) -> None:
    """Plot F1 against K, for the first protocol that scores localisation."""
    from howsteps.evaluate.protocols import SCRIPT_PROTOCOLS  # noqa: PLC0415 - loads NumPy
    from howsteps.report import figures  # noqa: PLC0415

    protocols = dict.fromkeys(row.protocol for row in rows)
    placing = [name for name in protocols if name not in SCRIPT_PROTOCOLS] or list(protocols)
    points: list[figures.F1Row] = [
        {
            "task": row.task,
            "method": row.method,
            "steps": row.steps,
            "f1": row.f1,
            "low": row.f1 if row.low is None else row.low,
            "high": row.f1 if row.high is None else row.high,
        }
        for row in rows
        if row.protocol in placing[:1]
    ]
    figures.save_figure(figures.f1_figure(points), path)


def check_figure(path: Path) -> None:
    """Check that the figure can be drawn, before anything is measured."""
    if path.suffix.lower() not in _FORMATS:
        raise typer.BadParameter(
            f"{path} is not one of {', '.join(_FORMATS)}", param_hint="--figure"
        )
    if PLOTS.missing:
        raise MissingExtra(PLOTS.name, PLOTS.purpose)
