"""``howsteps stats``: statistics of a data set with ground truth."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from howsteps._cli import options, screen
from howsteps.errors import HowstepsError
from howsteps.task import Truth

if TYPE_CHECKING:
    from howsteps.datasets.annotations import GroundTruth
    from howsteps.evaluate import Statistics
    from howsteps.paper.tables import PrintedStatistics

_COUNTS = ("videos", "steps", "annotated")
_SHARES = ("order_error", "missing", "repetition", "repetition_in_turn")


def stats(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="Ground truth: a table video,step,start,end; a task JSON file with steps; "
            "COIN.json; the annotations of YouCook2; or the folder of a data set.",
        ),
    ],
    listed: Annotated[
        bool,
        typer.Option(
            "--listed",
            help="Use the order in which the steps are listed. Default: the best order.",
        ),
    ] = False,
    judge: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Rules that say which relations name which step. Measures how long before a step "
            "it is mentioned. PATH must be a task JSON file.",
        ),
    ] = None,
    json_file: options.JsonFile = None,
    quiet: options.Quiet = False,
) -> None:
    """Show the statistics of a data set: order error, missing and repeated steps, durations.

    For the tasks of the CVPR 2016 paper, the published numbers are shown too.

    Example: howsteps stats captions/change_a_tire.json
    """
    from howsteps.evaluate import statistics  # noqa: PLC0415 - kept out of every start

    found = _truths(source)
    measured = []
    with screen.progress("measuring", len(found.truths), quiet=quiet) as advance:
        for each in found.truths:
            order = tuple(range(len(each.steps))) if listed else None
            measured.append(statistics(each, order))
            advance()
    leads = _leads(source, found.truths, judge, quiet) if judge else []
    if json_file is not None:
        rows = [
            {**asdict(row), "order": [each.steps[step] for step in row.order]}
            for row, each in zip(measured, found.truths, strict=True)
        ]
        screen.write_json({"version": 1, "tasks": rows, "narration_leads": leads}, json_file)
    if str(json_file) != "-":
        screen.out.print(_regularity(measured))
        screen.out.print(_lengths(measured))
        for row, each in zip(measured, found.truths, strict=True):
            _show_order(row, each, listed)
        if judge:
            _show_leads(leads)
    screen.finish(found.problems, found=True)


def _truths(source: Path) -> "GroundTruth":
    """Read the ground truth of a file or, with the lengths of narrated videos, of a folder."""
    from howsteps import datasets  # noqa: PLC0415 - loads NumPy
    from howsteps.datasets.annotations import GroundTruth  # noqa: PLC0415

    if not source.is_dir():
        return datasets.read_truth(source)
    found = datasets.read_labelled(source)
    truths = sorted((labelled.truth for labelled in found), key=lambda truth: truth.task)
    return GroundTruth(tuple(truths), found.problems)


def _regularity(rows: Sequence["Statistics"]) -> Table:
    """Order error, missing and repeated steps in percent, the paper's numbers in brackets."""
    from howsteps.paper.tables import PRINTED_AVERAGE, PRINTED_STATISTICS  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("task", no_wrap=True)
    headings = ("videos", "steps", "rows", "order error %", "missing %", "repeated %", "in turn %")
    for heading in headings:
        table.add_column(heading, justify="right")

    def add(name: str, members: Sequence["Statistics"], paper: "PrintedStatistics | None") -> None:
        counts = (sum(getattr(row, what) for row in members) for what in _COUNTS)
        table.add_row(
            escape(name),
            *(f"{count:,}" for count in counts),
            *(_percent(members, what, paper) for what in _SHARES),
        )

    for row in rows:
        add(row.task, [row], PRINTED_STATISTICS.get(row.task))
    if len(rows) > 1:
        add(
            "all, mean",
            rows,
            PRINTED_AVERAGE if {row.task for row in rows} == set(PRINTED_STATISTICS) else None,
        )
    if any(row.task in PRINTED_STATISTICS for row in rows):
        table.caption = "in brackets: as printed in the paper"
    return table


def _percent(rows: Sequence["Statistics"], what: str, paper: "PrintedStatistics | None") -> str:
    ours = f"{100 * sum(getattr(row, what) for row in rows) / len(rows):.1f}"
    printed = getattr(paper, what, None)
    return ours if printed is None else f"{ours} [dim]({100 * printed:g})[/]"


def _lengths(rows: Sequence["Statistics"]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("task", no_wrap=True)
    for heading in ("step, median s", "video, median s", "in a step %"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            escape(row.task),
            f"{row.step_length:.1f}",
            "–" if row.video_length is None else f"{row.video_length:.0f}",
            "–" if row.covered is None else f"{100 * row.covered:.0f}",
        )
    return table


def _show_order(row: "Statistics", truth: Truth, listed: bool) -> None:
    how = "listed" if listed else "found" if row.order_proved else "found, not proved best"
    steps = " → ".join(truth.steps[step] for step in row.order)
    screen.out.print(f"\n[bold]{escape(truth.task)}[/], order {how}: {escape(steps)}")


def _leads(source: Path, truths: Sequence[Truth], judge: Path, quiet: bool) -> list[float]:
    """Seconds from each mention of a step to the step, for the narrations of a task file."""
    from howsteps import datasets  # noqa: PLC0415
    from howsteps.datasets.task_file import read_judgements  # noqa: PLC0415
    from howsteps.evaluate import narration_leads  # noqa: PLC0415
    from howsteps.narration import extract_relations  # noqa: PLC0415

    tasks = datasets.read_tasks(source).tasks if len(truths) == 1 else ()
    if len(tasks) != 1:
        raise HowstepsError(f"--judge needs one task with narrations, and {source} is not that")
    judgement = read_judgements(judge, truths[0].steps)
    with screen.progress("reading narrations", len(tasks[0].videos), quiet=quiet) as advance:
        task = extract_relations(tasks[0], progress=lambda _: advance())
    mentions = [mention for video in task.videos for mention in video.mentions]
    return narration_leads(mentions, judgement, truths[0])


def _show_leads(leads: Sequence[float]) -> None:
    import numpy as np  # noqa: PLC0415

    if not leads:
        screen.out.print("\nnarration lead: no mention is of a step that is done in its video")
        return
    low, middle, high = np.quantile(leads, (0.25, 0.5, 0.75))
    screen.out.print(
        f"\nnarration lead: a step begins {middle:.1f} s after it is mentioned "
        f"(median of {len(leads):,} mentions; half of them between {low:.1f} and {high:.1f} s)"
    )
