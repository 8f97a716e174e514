"""``howsteps evaluate``: compare methods on a data set with ground truth."""

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from howsteps._cli import options, screen
from howsteps._cli.measuring import (
    ALL_METHODS,
    check_figure,
    draw_f1,
    narrations_for,
    run_measurements,
    split_names,
    split_numbers,
    unmeasured,
    write_scores,
)
from howsteps.errors import HowstepsError

if TYPE_CHECKING:
    from howsteps.datasets.labelled import Labelled
    from howsteps.evaluate.experiment import NoScore, Plan, Row, Summary

_TITLES = {
    "script": "script (which step is which: by time)",
    "script-judged": "script (which step is which: judged by people)",
}


class Narration(StrEnum):
    """The features of the narration, used if there are none of the video."""

    words = "words"
    meaning = "meaning"


def evaluate(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="DATASET",
            help="A data set with ground truth: a task JSON with steps, a folder with captions "
            "and steps.csv, the paper's release, features/ groundTruth/ mapping/, or any other "
            "that 'howsteps stats' reads.",
        ),
    ],
    methods: Annotated[
        str, typer.Option(metavar="A,B,…", help="Which methods to run.")
    ] = ALL_METHODS,
    steps: Annotated[str, typer.Option(metavar="K,…", help="At most this many steps.")] = "10",
    protocol: Annotated[
        str,
        typer.Option(
            metavar="A,B,…",
            help="paper-f1, paper-f1-made, paper-f1-authors, script, script-judged, kukleva, "
            "per-video, per-video-background, crosstask-recall, frame-f1. "
            "Default: paper-f1,script and, with --judge, script-judged.",
        ),
    ] = "",
    seeds: Annotated[int, typer.Option(min=1, metavar="N", help="Repeat with N seeds.")] = 1,
    videos: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Draw N videos for each seed (the paper has 30). Default: use all videos; seeds "
            "then only change what is random in the methods.",
        ),
    ] = None,
    judge: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Which relations name which true step, for script-judged."
        ),
    ] = None,
    captions: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="The narrations, if they are not in DATASET."),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Features of the videos: <video>.npy, a row for every third of a second. "
            "Without them, features of the narration are used.",
        ),
    ] = None,
    narration: Annotated[
        Narration,
        typer.Option(help="Features of the narration: its words, or their meaning."),
    ] = Narration.words,
    bars: Annotated[
        str,
        typer.Option(
            help="What error bars show: 'videos' (a bootstrap, 95%) or 'roundings' (the "
            "solutions that a solver visits after its best, as in the paper)."
        ),
    ] = "videos",
    seconds: Annotated[
        float, typer.Option(min=0.0, help="Effort of each search for a script.")
    ] = 5.0,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write every score as JSON ('-' for stdout)."),
    ] = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write every score as CSV.")
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw F1 against K as SVG, PDF or PNG. Needs: pip install 'howsteps\\[plots]'.",
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Run methods on a data set with ground truth, and compare their scores.

    Example: howsteps evaluate change_a_tire.json --steps 7,10,12,15 --videos 30 --seeds 3
    """
    from howsteps.datasets.survey import find_labelled  # noqa: PLC0415 - loads NumPy
    from howsteps.datasets.task_file import read_judgements  # noqa: PLC0415
    from howsteps.evaluate.experiment import Plan, summarise  # noqa: PLC0415
    from howsteps.evaluate.protocols import Bars  # noqa: PLC0415

    if figure is not None:
        check_figure(figure)
    default_protocols = "paper-f1,script,script-judged" if judge else "paper-f1,script"
    if bars not in list(Bars):
        raise typer.BadParameter(f"'{bars}' is not one of {', '.join(Bars)}", param_hint="--bars")
    try:
        plan = Plan(
            methods=split_names(methods),
            steps=split_numbers(steps, "--steps"),
            protocols=split_names(protocol or default_protocols),
            seeds=seeds,
            videos=videos,
            bars=Bars(bars),
            narration=narration.value,
            search_seconds=seconds,
        )
    except HowstepsError as error:
        raise typer.BadParameter(str(error)) from error
    found = find_labelled(source, captions=captions, features=features)
    if judge and len(found.tasks) != 1:
        raise HowstepsError(f"--judge works with one task, but {source} has {len(found.tasks)}")
    rows: list[Row] = []
    for labelled in found.tasks:
        rules = read_judgements(judge, labelled.truth.steps) if judge else None
        narrations = narrations_for(labelled, plan, quiet=quiet)
        scores, reasons = run_measurements(labelled, narrations, plan, rules, quiet=quiet)
        rows += scores
        if str(json_file) != "-":
            show(labelled, plan, summarise(scores), reasons)
    if json_file is not None:
        screen.write_json({"rows": [asdict(row) for row in rows]}, json_file)
    if csv_file is not None:
        write_scores(rows, csv_file)
    if figure is not None and rows:
        draw_f1(summarise(rows), figure)
    screen.finish(found.problems, found=bool(rows))


def show(
    labelled: "Labelled", plan: "Plan", rows: Sequence["Summary"], reasons: Sequence["NoScore"]
) -> None:
    """Print a table for each protocol, and what could not be measured."""
    count = len(labelled.task.videos)
    used = "all" if plan.videos is None or plan.videos >= count else f"{plan.videos} of"
    screen.out.print(
        f"\n[bold]{escape(labelled.task.name)}[/]: {used} {screen.plural(count, 'video')}, "
        f"{screen.plural(len(labelled.truth.steps), 'true step')}, "
        f"{screen.plural(plan.seeds, 'seed')}"
    )
    if not labelled.features and any(video.captions for video in labelled.task.videos):
        narration = {
            "words": "the words of the narration are",
            "meaning": "the meaning of the narration is",
        }[plan.narration]
        screen.out.print(f"[dim]no features of the video: {narration} used instead[/]")
    videos = sum(video.media is not None for video in labelled.task.videos)
    if videos and not labelled.features:
        screen.out.print(
            f"[dim]{screen.plural(videos, 'video')} not used: 'howsteps features FOLDER --out "
            "WORK' computes features for --features WORK/features[/]",
            soft_wrap=True,
        )
    for protocol in plan.protocols:
        same = [row for row in rows if row.protocol == protocol]
        if same:
            screen.out.print(f"\n[bold]{_TITLES.get(protocol, protocol)}[/]")
            screen.out.print(_table(same, plan))
    for line in unmeasured(reasons):
        screen.out.print(f"[dim]{escape(line)}[/]", soft_wrap=True)


def _table(rows: Sequence["Summary"], plan: "Plan") -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("method", no_wrap=True)
    bars = "95 % of videos" if plan.bars == "videos" else "roundings"
    columns = ["K", "precision", "recall", "F1"]
    columns += [bars] if any(row.low is not None for row in rows) else []
    columns += ["95 % of seeds"] if plan.seeds > 1 else []
    for heading in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in sorted(rows, key=lambda row: row.steps):
        cells = {
            "K": str(row.steps),
            "precision": f"{row.precision:.3f}",
            "recall": f"{row.recall:.3f}",
            "F1": f"[bold]{row.f1:.3f}[/]",
            bars: span(row.low, row.high),
            "95 % of seeds": span(*(row.over_seeds or (None, None))),
        }
        table.add_row(escape(row.method), *(cells[column] for column in columns))
    return table


def span(low: float | None, high: float | None) -> str:
    """Format an interval."""
    return "–" if low is None or high is None else f"{low:.3f} … {high:.3f}"
