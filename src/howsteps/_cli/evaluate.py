"""``howsteps evaluate``: compare methods on a data set with ground truth."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from howsteps._cli import options, screen
from howsteps.errors import PLOTS, HowstepsError, MissingExtra
from howsteps.task import Task

if TYPE_CHECKING:
    from howsteps.datasets.annotations import Labelled
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
    from howsteps.datasets.registry import read_labelled  # noqa: PLC0415 - loads NumPy
    from howsteps.datasets.task_file import read_judgements  # noqa: PLC0415
    from howsteps.evaluate.experiment import Plan, summarise  # noqa: PLC0415
    from howsteps.evaluate.methods import choose  # noqa: PLC0415
    from howsteps.evaluate.protocols import Bars  # noqa: PLC0415
    from howsteps.paper import methods as known  # noqa: PLC0415 - loads Numba

    if figure is not None:
        check_figure(figure)
    default_protocols = "paper-f1,script,script-judged" if judge else "paper-f1,script"
    if bars not in list(Bars):
        raise typer.BadParameter(f"'{bars}' is not one of {', '.join(Bars)}", param_hint="--bars")
    try:
        plan = Plan(
            methods=choose(split_names(methods), known.ALL_METHODS),
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
    found = read_labelled(source, captions=captions, features=features)
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
