"""``howsteps evaluate``: compare methods, and statistics of a data set with ground truth."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from howsteps import datasets
from howsteps._cli import options, screen
from howsteps._cli.screen import escape
from howsteps.datasets.annotations import GroundTruth, Labelled
from howsteps.datasets.published import FRAMES_PER_SECOND
from howsteps.datasets.task_file import read_judgements
from howsteps.errors import PLOTS, HowstepsError, MissingExtra
from howsteps.evaluate import Statistics, statistics
from howsteps.evaluate.experiment import (
    NoScore,
    Plan,
    Row,
    Summary,
    run_plan,
    summarise,
    with_narrations,
)
from howsteps.evaluate.methods import choose
from howsteps.evaluate.protocols import PROTOCOLS, SCRIPT_PROTOCOLS, Bars, Rules
from howsteps.io.files import write_atomically
from howsteps.paper.methods import ALL_METHODS
from howsteps.paper.tables import (
    PRINTED_AVERAGE,
    PRINTED_STATISTICS,
    PrintedStatistics,
)
from howsteps.report import figures
from howsteps.task import Task, Truth

_COUNTS = ("videos", "steps", "annotated")
_SHARES = ("order_error", "missing", "repetition", "repetition_in_turn")
_ROOM = 76  # columns of a terminal with room for the paper's numbers beside ours
_FORMATS = (".svg", ".pdf", ".png")
_Rate = Annotated[
    float,
    options.rare_option(
        min=0.001,
        metavar="FPS",
        help="Frames per second of the labels of a data set with labels of frames.",
    ),
]


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
    labelled: Labelled,
    narrations: Mapping[str, Task],
    plan: Plan,
    rules: Rules | None,
    *,
    quiet: bool,
) -> tuple[list[Row], list[NoScore]]:
    """Run a plan on a task, and show progress."""
    with screen.counting(f"measuring {labelled.task.name}", len(plan), quiet=quiet) as advance:
        scores = list(run_plan(labelled, narrations, plan, rules=rules, progress=advance))
    rows = [score for score in scores if isinstance(score, Row)]
    return rows, [score for score in scores if not isinstance(score, Row)]


def narrations_for(labelled: Labelled, plan: Plan, *, quiet: bool) -> dict[str, Task]:
    """Read the narrations of a task that a plan needs, and show progress."""
    count = min(len(labelled.task.videos), plan.seeds * (plan.videos or len(labelled.task.videos)))
    with screen.counting(
        f"reading narrations of {labelled.task.name}", count, quiet=quiet
    ) as advance:
        return with_narrations(labelled, plan, progress=lambda video: advance(video.id))


def unmeasured(reasons: Sequence[NoScore]) -> list[str]:
    """What could not be measured, one line for all methods with the same reason."""
    methods: dict[tuple[str, str], dict[str, None]] = {}
    for score in reasons:
        methods.setdefault((score.protocol, score.reason), {})[score.method] = None
    return [
        f"not measured by {protocol}: {', '.join(names)} ({reason})"
        for (protocol, reason), names in methods.items()
    ]


def write_scores(rows: Sequence[Row], path: Path) -> None:
    """Write the rows as CSV, with the same columns as the JSON."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [field.name for field in fields(Row)])
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    write_atomically(path, text.getvalue().encode())


def draw_f1(rows: Sequence[Summary], path: Path) -> None:
    """Plot F1 against K, for the first protocol that scores localisation."""
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
    "script": "script (steps are matched with the true ones by time)",
    "script-judged": "script (steps are matched with the true ones by people)",
}


def methods(
    source: Annotated[Path, typer.Argument(metavar="DATA", hidden=True)],
    names: Annotated[
        str, typer.Option("--methods", metavar="A,B,…", help="Which methods to run.")
    ] = ",".join(ALL_METHODS),
    steps: Annotated[str, typer.Option(metavar="K,…", help="At most this many steps.")] = "10",
    protocol: Annotated[
        str,
        typer.Option(
            metavar="A,B,…",
            help=f"{', '.join(PROTOCOLS)}. Default: paper-f1,script and, with --judge, "
            "script-judged.",
        ),
    ] = "",
    seeds: Annotated[int, typer.Option(min=1, metavar="N", help="Repeat with N seeds.")] = 1,
    videos: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Draw N videos for each seed (the paper has 30). Default: all.",
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
        typer.Option(metavar="PATH", help="The narrations, if they are not in DATA."),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Features of the videos: VIDEO.npy, a row for every third of a second.",
        ),
    ] = None,
    rate: _Rate = FRAMES_PER_SECOND,
    bars: Annotated[
        Bars,
        options.rare_option(
            help="What error bars show: 'videos' (a bootstrap, 95%) or 'roundings' (the "
            "solutions that a solver visits after its best, as in the paper)."
        ),
    ] = Bars.videos,
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
    """Run methods on a data set, and compare their scores.

    DATA is a data set with ground truth: a task JSON with steps, a folder with captions and
    steps.csv, the paper's release, features/ groundTruth/ mapping/, or a folder of any of them.

    Example: howsteps evaluate methods change_a_tire.json --steps 7,10,12,15 --videos 30 --seeds 3
    """
    if figure is not None:
        check_figure(figure)
    default_protocols = "paper-f1,script,script-judged" if judge else "paper-f1,script"
    try:
        plan = Plan(
            methods=choose(split_names(names), ALL_METHODS),
            steps=split_numbers(steps, "--steps"),
            protocols=split_names(protocol or default_protocols),
            seeds=seeds,
            videos=videos,
            bars=bars,
        )
    except HowstepsError as error:
        raise typer.BadParameter(str(error)) from error
    found = datasets.read_labelled(source, captions=captions, features=features, rate=rate)
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
    labelled: Labelled, plan: Plan, rows: Sequence[Summary], reasons: Sequence[NoScore]
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
        reason = "no features of the video: the words of the narration are used instead"
        screen.out.print(f"[dim]{reason}[/]")
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


def _table(rows: Sequence[Summary], plan: Plan) -> Table:
    bars = "95 % of videos" if plan.bars == "videos" else "roundings"
    columns = ["K", "precision", "recall", "F1"]
    columns += [bars] if any(row.low is not None for row in rows) else []
    columns += ["95 % of seeds"] if plan.seeds > 1 else []
    table = screen.table("method", right=columns)
    for row in sorted(rows, key=lambda row: row.steps):
        cells = {
            "K": str(row.steps),
            "precision": f"{row.precision:.3f}",
            "recall": f"{row.recall:.3f}",
            "F1": f"[bold]{row.f1:.3f}[/]",
            bars: _span(row.low, row.high),
            "95 % of seeds": _span(*(row.over_seeds or (None, None))),
        }
        table.add_row(screen.cut(escape(row.method)), *(cells[column] for column in columns))
    return table


def _span(low: float | None, high: float | None) -> str:
    """Format an interval."""
    return "–" if low is None or high is None else f"{low:.3f} … {high:.3f}"


def stats(
    source: Annotated[Path, typer.Argument(metavar="DATA", hidden=True)],
    listed: Annotated[
        bool,
        typer.Option(
            "--listed",
            help="Use the order in which the steps are listed. Default: the best one found.",
        ),
    ] = False,
    rate: _Rate = FRAMES_PER_SECOND,
    json_file: options.JsonFile = None,
    quiet: options.Quiet = False,
) -> None:
    """Show how regular a data set is: order, missing steps, times.

    DATA is ground truth: a table video,step,start,end; a task JSON file with steps; COIN.json; the
    annotations of YouCook2; or the folder of a data set. For the tasks of the CVPR 2016 paper, the
    published numbers are shown too.

    Example: howsteps evaluate stats captions/change_a_tire.json
    """
    found = _truths(source, rate)
    measured = []
    with screen.counting("measuring", len(found.truths), quiet=quiet) as advance:
        for each in found.truths:
            order = tuple(range(len(each.steps))) if listed else None
            measured.append(statistics(each, order))
            advance(each.task)
    if json_file is not None:
        rows = [
            {**asdict(row), "order": [each.steps[step] for step in row.order]}
            for row, each in zip(measured, found.truths, strict=True)
        ]
        screen.write_json({"version": 1, "tasks": rows}, json_file)
    if str(json_file) != "-":
        screen.out.print(_regularity(measured))
        screen.out.print(_lengths(measured))
        for row, each in zip(measured, found.truths, strict=True):
            _show_order(row, each, listed)
    screen.finish(found.problems, found=True)


def _truths(source: Path, rate: float) -> GroundTruth:
    """Read the ground truth of a file or, with the lengths of narrated videos, of a folder."""
    if not source.is_dir():
        return datasets.read_truth(source, rate=rate)
    found = datasets.read_labelled(source, rate=rate)
    truths = sorted((labelled.truth for labelled in found), key=lambda truth: truth.task)
    return GroundTruth(tuple(truths), found.problems)


def _regularity(rows: Sequence[Statistics]) -> Table:
    """Order error, missing and repeated steps in percent, the paper's numbers in brackets."""
    headings = (
        "videos",
        "steps",
        "rows",
        "order error %",
        "missing %",
        "repeated %",
        "repeated later %",
    )
    table = screen.table("task", right=headings)

    def add(name: str, members: Sequence[Statistics], paper: PrintedStatistics | None) -> None:
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


def _percent(rows: Sequence[Statistics], what: str, paper: PrintedStatistics | None) -> str:
    ours = f"{100 * sum(getattr(row, what) for row in rows) / len(rows):.1f}"
    printed = getattr(paper, what, None)
    if printed is None or screen.out.width < _ROOM:
        return ours
    return f"{ours} [dim]({100 * printed:g})[/]"


def _lengths(rows: Sequence[Statistics]) -> Table:
    headings = ("step, median s", "video, median s", "in a step %")
    table = screen.table("task", right=headings)
    for row in rows:
        table.add_row(
            escape(row.task),
            f"{row.step_length:.1f}",
            "–" if row.video_length is None else f"{row.video_length:.0f}",
            "–" if row.covered is None else f"{100 * row.covered:.0f}",
        )
    return table


def _show_order(row: Statistics, truth: Truth, listed: bool) -> None:
    how = "listed" if listed else "found"
    steps = " → ".join(truth.steps[step] for step in row.order)
    screen.out.print(f"\n[bold]{escape(truth.task)}[/], order {how}: {escape(steps)}")
