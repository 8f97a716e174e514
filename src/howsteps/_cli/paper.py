"""``howsteps evaluate paper``: the tables and the figure of the paper, as far as the data allow."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from howsteps._cli import options, screen
from howsteps._cli.evaluate import (
    draw_f1,
    narrations_for,
    run_measurements,
    split_names,
    split_numbers,
    unmeasured,
    write_scores,
)
from howsteps._cli.screen import escape
from howsteps.datasets.registry import Survey, survey
from howsteps.errors import HowstepsError, MissingExtra
from howsteps.evaluate import statistics
from howsteps.evaluate.experiment import NoScore, Plan, Row, subsampled, summarise
from howsteps.evaluate.methods import Sample, choose
from howsteps.evaluate.protocols import Bars
from howsteps.io.files import Folder
from howsteps.paper.methods import ALL_METHODS
from howsteps.paper.tables import (
    PRINTED_STATISTICS,
    PaperTable,
    alignment_table,
    compare_aligners,
    localisation_table,
    script_table,
    statistics_table,
)

_FETCH = "the paper's release is missing ('howsteps fetch niv' downloads it)"


def paper(
    data: Annotated[Path, typer.Argument(metavar="DATA", hidden=True)],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where tables and figures go.")
    ] = Path("howsteps-paper"),
    methods: Annotated[str, typer.Option(metavar="A,B,…", help="Which methods to run.")] = ",".join(
        ALL_METHODS
    ),
    steps: Annotated[
        str, typer.Option(metavar="K,…", help="At most this many steps.")
    ] = "7,10,12,15",
    videos: Annotated[
        int, typer.Option(min=2, metavar="N", help="Videos per random sample; the paper has 30.")
    ] = 30,
    seeds: Annotated[int, typer.Option(min=1, metavar="N", help="How many random samples.")] = 1,
    quiet: options.Quiet = False,
) -> None:
    """Make the paper's tables and its figure from your data.

    DATA is a folder of data sets, in any layout that 'evaluate methods' reads, with judgements
    (JSON with 'rules') beside them. The published numbers are next to yours, and what is missing is
    listed with the reason.

    Example: howsteps evaluate paper datasets/ --out results/
    """
    try:
        plan = Plan(
            methods=choose(split_names(methods), ALL_METHODS),
            steps=split_numbers(steps, "--steps"),
            protocols=("paper-f1", "script", "script-judged"),
            seeds=seeds,
            videos=videos,
            bars=Bars.roundings,
        )
    except HowstepsError as error:
        raise typer.BadParameter(str(error)) from error
    with screen.counting(f"looking through {data}", 1, quiet=quiet):
        found = survey(data)
    if not (found.tasks or found.truths):
        raise HowstepsError(f"{data} holds no usable ground truth")
    tables = [_statistics(found)]
    _show(tables[0])
    rows: list[Row] = []
    unscored: list[NoScore] = []
    objectives: dict[str, dict[str, float]] = {}
    for labelled in found.tasks:
        name = labelled.task.name
        narrations = narrations_for(labelled, plan, quiet=quiet)
        scores, reasons = run_measurements(
            labelled, narrations, plan, found.judgements.get(name), quiet=quiet
        )
        rows += scores
        unscored += reasons
        if narrations:
            first = Sample(labelled, narrations, subsampled(labelled, plan.videos, 0))
            with screen.counting(f"aligning {name}", 1, quiet=quiet):
                objectives[name] = compare_aligners(
                    first.narrated("paper"), matches=labelled.matches
                )
    means = summarise(rows)
    tables += (
        script_table(means, plan.steps),
        alignment_table(objectives),
        localisation_table(means, plan.steps),
    )
    for table in tables[1:]:
        _show(table)
    missing = _missing(found, unscored)
    figure = []
    write_scores(rows, out / "scores.csv")
    if any(row.protocol == "paper-f1" for row in rows):
        try:
            draw_f1(means, out / "f1.svg")
            figure = ["## F1 against K\n\n![F1 against K](f1.svg)"]
        except MissingExtra as error:
            missing.append(f"F1 against K, as a figure; {error}")
    how = f"{screen.plural(plan.seeds, 'random sample')} of {plan.videos} videos. F1 by `paper-f1`."
    _write(out, f"# Tables and figure\n\n{how}", tables, figure, missing)
    screen.out.print("\n[bold]Missing[/]")
    for line in missing:
        screen.out.print(f"- {escape(line)}")
    screen.out.print(f"\nwritten to {escape(str(out / 'paper.md'))}", soft_wrap=True)
    screen.finish(found.problems, found=True)


def _statistics(found: Survey) -> PaperTable:
    truths = [*found.truths, *(labelled.truth for labelled in found.tasks)]
    return statistics_table([statistics(truth) for truth in truths])


def _missing(found: Survey, unscored: Sequence[NoScore]) -> list[str]:
    """What is missing from the tables and figures, and why."""
    narrated = {labelled.task.name for labelled in found.tasks}
    annotated = narrated | {truth.task for truth in found.truths}
    lines = []
    for task in PRINTED_STATISTICS:
        if task not in annotated:
            lines.append(f"{task}: everything; {_FETCH}")
        elif task not in narrated:
            lines.append(f"{task}: scripts, alignment, localisation; {_FETCH}")
    lines += (
        f"{labelled.task.name}: features of the video; words of the narration are used instead"
        for labelled in found.tasks
        if not labelled.features
    )
    for labelled in found.tasks:
        reasons = [
            reason
            for reason in unscored
            # A baseline without a script is not a gap in the data.
            if reason.task == labelled.task.name
            and (reason.method in ("paper", "authors", "default") or reason.protocol == "paper-f1")
        ]
        lines += (f"{labelled.task.name}: {line}" for line in unmeasured(reasons))
    return lines


def _show(table: PaperTable) -> None:
    names, numbers = table.headings[:2], table.headings[2:]
    grid = screen.table(*map(escape, names), right=map(escape, numbers))
    for row in table.rows:
        grid.add_row(*(screen.cut(escape(name)) for name in row[:2]), *map(escape, row[2:]))
    screen.out.print(f"\n[bold]{escape(table.title)}[/]")
    screen.out.print(grid)
    if table.note:
        screen.out.print(f"[dim]{escape(table.note)}[/]")


def _write(
    out: Path,
    heading: str,
    tables: Sequence[PaperTable],
    figure: Sequence[str],
    missing: Sequence[str],
) -> None:
    """Write every table as CSV, and everything as one Markdown page."""
    for table in tables:
        text = io.StringIO(newline="")
        csv.writer(text).writerows([table.headings, *table.rows])
        Folder(out).write(f"{table.name}.csv", text.getvalue().encode())
    gaps = "\n".join(["## Missing", "", *(f"- {line}" for line in missing)])
    parts = [heading, *(table.markdown() for table in tables), *figure, gaps]
    Folder(out).write("paper.md", ("\n\n".join(parts) + "\n").encode())
