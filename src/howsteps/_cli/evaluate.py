"""``howsteps evaluate``: methods side by side on a data set with ground truth."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from howsteps._cli import options, screen
from howsteps._cli.outcome import finish, write_json
from howsteps.errors import HowstepsError
from howsteps.task import Task

if TYPE_CHECKING:
    from howsteps.datasets.labelled import Labelled
    from howsteps.evaluate.experiment import NoScore, Plan, Row, Summary
    from howsteps.evaluate.protocols import Judgement

_TITLES = {
    "script": "script (which step is which: by time)",
    "script-judged": "script (which step is which: judged by people)",
}
ALL_METHODS = "uniform,video-only,video+bow,hmm,narration,supervised,paper,authors,default"


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
    steps: Annotated[str, typer.Option(metavar="K,…", help="Most steps to look for.")] = "10",
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
            help="Draw N videos anew for each seed (the paper has 30). Default: all videos; "
            "seeds then only move what is random in the methods.",
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
        typer.Option(metavar="PATH", help="The narrations, where they are not in DATASET."),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Features of the videos: <video>.npy, a row for every third of a second. "
            "Without any, the words of the narration stand in.",
        ),
    ] = None,
    bars: Annotated[
        str,
        typer.Option(
            help="What error bars go over: 'videos' (a bootstrap, 95 %) or 'roundings' (the "
            "solutions that a solver visits after its best, as in the paper)."
        ),
    ] = "videos",
    seconds: Annotated[
        float, typer.Option(min=0.0, help="Work of each search for a script.")
    ] = 5.0,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write every score as JSON ('-': to stdout)."),
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
    """Run methods on a data set with ground truth, and show their scores side by side.

    Example: howsteps evaluate change_a_tire.json --steps 7,10,12,15 --videos 30 --seeds 3
    """
    from howsteps.datasets import judgement_file, labelled  # noqa: PLC0415 - loads NumPy
    from howsteps.evaluate.experiment import Plan, summarise  # noqa: PLC0415
    from howsteps.evaluate.protocols import Bars  # noqa: PLC0415

    usual = "paper-f1,script,script-judged" if judge else "paper-f1,script"
    if bars not in list(Bars):
        raise typer.BadParameter(f"'{bars}' is none of {', '.join(Bars)}", param_hint="--bars")
    plan = Plan(
        methods=listed(methods),
        steps=numbers(steps, "--steps"),
        protocols=listed(protocol or usual),
        seeds=seeds,
        videos=videos,
        bars=Bars(bars),
        search_seconds=seconds,
    )
    found = labelled.read(source, captions=captions, features=features)
    if judge and len(found.tasks) != 1:
        raise HowstepsError(f"--judge is for one task, and {source} has {len(found.tasks)}")
    rows: list[Row] = []
    unscored: list[NoScore] = []
    for one in found.tasks:
        rules = judgement_file.read(judge, one.truth.steps) if judge else None
        heard = heard_for(one, plan, quiet=quiet)
        scores, reasons = measured(one, heard, plan, rules, quiet=quiet)
        rows += scores
        unscored += reasons
        if str(json_file) != "-":
            show(one, plan, summarise(scores), reasons)
    if json_file is not None:
        write_json({"rows": [asdict(row) for row in rows]}, json_file)
    if csv_file is not None:
        write_csv(rows, csv_file)
    if figure is not None:
        draw(summarise(rows), figure)
    finish(found.problems, found=bool(rows))


def listed(text: str) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def numbers(text: str, option: str) -> tuple[int, ...]:
    """Whole numbers between commas, in order."""
    try:
        found = sorted({int(number) for number in listed(text)})
    except ValueError:
        raise typer.BadParameter(f"'{text}' is not numbers: 7,10", param_hint=option) from None
    if not found or found[0] < 1:
        raise typer.BadParameter(f"'{text}': at least 1 is needed", param_hint=option)
    return tuple(found)


def measured(
    one: "Labelled",
    heard: Mapping[str, Task],
    plan: "Plan",
    rules: "Judgement | None",
    *,
    quiet: bool,
) -> tuple[list["Row"], list["NoScore"]]:
    """Run a plan on a task, with progress."""
    from howsteps.evaluate.experiment import Row, run  # noqa: PLC0415 - loads NumPy

    with screen.progress(f"measuring {one.task.name}", len(plan), quiet=quiet) as advance:
        scores = list(run(one, heard, plan, rules=rules, progress=advance))
    rows = [score for score in scores if isinstance(score, Row)]
    return rows, [score for score in scores if not isinstance(score, Row)]


def heard_for(one: "Labelled", plan: "Plan", *, quiet: bool) -> dict[str, Task]:
    """Hear what a plan needs of a task, with progress."""
    from howsteps.evaluate.experiment import listened  # noqa: PLC0415 - loads NumPy

    count = min(len(one.task.videos), plan.seeds * (plan.videos or len(one.task.videos)))
    with screen.progress(f"hearing {one.task.name}", count, quiet=quiet) as advance:
        return listened(one, plan, progress=lambda _: advance())


def show(
    one: "Labelled", plan: "Plan", rows: Sequence["Summary"], reasons: Sequence["NoScore"]
) -> None:
    """Print a table for each protocol, and what could not be measured."""
    count = len(one.task.videos)
    many = "all" if plan.videos is None or plan.videos >= count else f"{plan.videos} of"
    screen.out.print(
        f"\n[bold]{escape(one.task.name)}[/]: {many} {screen.plural(count, 'video')}, "
        f"{screen.plural(len(one.truth.steps), 'true step')}, {screen.plural(plan.seeds, 'seed')}"
    )
    if not one.features and any(video.captions for video in one.task.videos):
        screen.out.print("[dim]no features of the video: words of the narration stand in for X[/]")
    for protocol in plan.protocols:
        same = [row for row in rows if row.protocol == protocol]
        if same:
            screen.out.print(f"\n[bold]{_TITLES.get(protocol, protocol)}[/]")
            screen.out.print(_table(same, plan))
    for line in unmeasured(reasons):
        screen.out.print(f"[dim]{escape(line)}[/]", soft_wrap=True)


def unmeasured(reasons: Sequence["NoScore"]) -> list[str]:
    """What could not be measured, one line for all methods with the same reason."""
    methods: dict[tuple[str, str], dict[str, None]] = {}
    for one in reasons:
        methods.setdefault((one.protocol, one.reason), {})[one.method] = None
    return [
        f"not measured by {protocol}: {', '.join(names)} ({reason})"
        for (protocol, reason), names in methods.items()
    ]


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
    """An interval for people."""
    return "–" if low is None or high is None else f"{low:.3f} … {high:.3f}"


def write_csv(rows: Sequence["Row"], path: Path) -> None:
    """Write the rows as a table, with the same columns as the JSON."""
    from howsteps.engine.files import write_whole  # noqa: PLC0415 - of few commands
    from howsteps.evaluate.experiment import Row  # noqa: PLC0415 - loads NumPy

    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [field.name for field in fields(Row)])
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    write_whole(path, text.getvalue().encode())


def draw(rows: Sequence["Summary"], path: Path) -> None:
    """Draw the F1 of the first protocol that places steps, against K."""
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
    figures.save(figures.f1_against_steps(points), path)
