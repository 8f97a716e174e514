"""``howsteps evaluate``: compare methods, statistics of a data set, and the paper's tables."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from howsteps import datasets
from howsteps._cli import options, screen
from howsteps._cli.screen import escape
from howsteps.datasets.annotations import FRAMES_PER_SECOND, Found, GroundTruth, Labelled
from howsteps.datasets.task_file import find_judgements, read_judgements
from howsteps.errors import PLOTS, HowstepsError, MissingExtra
from howsteps.evaluate import statistics
from howsteps.evaluate.experiment import (
    Comparison,
    Plan,
    Row,
    Summary,
    run_plan,
    subsampled,
    summarise,
    with_narrations,
)
from howsteps.evaluate.methods import Sample, choose
from howsteps.evaluate.protocols import PROTOCOLS, SCRIPT_PROTOCOLS, Rules
from howsteps.io.files import write_atomically
from howsteps.paper.methods import ALL_METHODS
from howsteps.paper.tables import (
    PRINTED_STATISTICS,
    TextTable,
    alignment_table,
    compare_aligners,
    localisation_table,
    script_table,
    statistics_table,
)
from howsteps.report import figures
from howsteps.task import Task, Truth

_FETCH = "the paper's release is missing ('howsteps fetch niv' downloads it)"
_FORMATS = (".svg", ".pdf", ".png")
_METHODS = ",".join(ALL_METHODS)
_NAME = 16  # characters of a name before it is broken

_Data: TypeAlias = Annotated[Path, typer.Argument(metavar="DATA", hidden=True)]
_Methods: TypeAlias = Annotated[
    str,
    typer.Option(
        "--methods",
        metavar="A,B,…",
        show_default=False,
        help=f"What to run: {', '.join(ALL_METHODS)}. Default: all.",
    ),
]
_Steps: TypeAlias = Annotated[
    str, typer.Option(metavar="K,…", help="At most so many steps; a row for each K.")
]
_Seeds: TypeAlias = Annotated[
    int, typer.Option(min=1, metavar="N", help="How many random samples.")
]
_Rate: TypeAlias = Annotated[
    float,
    options.rare_option(
        min=0.001,
        metavar="FPS",
        help="Frames per second of the labels of a data set with labels of frames.",
    ),
]


def _plan(
    methods: str,
    steps: str,
    protocols: Sequence[str],
    seeds: int,
    videos: int | None,
) -> Plan:
    """Return the plan of a command; a wrong name or number is an error of the command line."""
    try:
        numbers = sorted({int(number) for number in _split(steps)})
        runs = choose(_split(methods), ALL_METHODS)
        return Plan(runs, tuple(numbers), tuple(protocols), seeds, videos)
    except HowstepsError as error:
        raise typer.BadParameter(str(error)) from error
    except ValueError:
        reason = f"'{steps}' is not a list of numbers, such as 7,10"
        raise typer.BadParameter(reason, param_hint="--steps") from None


def _split(text: str) -> list[str]:
    """Split a comma-separated list."""
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _measure(
    labelled: Labelled, plan: Plan, rules: Rules | None, *, quiet: bool
) -> tuple[Comparison, dict[str, Task]]:
    """Run a plan on a task with its narrations, which are returned too, and show progress."""
    name, count = labelled.task.name, len(labelled.task.videos)
    count = min(count, plan.seeds * (plan.videos or count))
    with screen.counting(f"reading narrations of {name}", count, quiet=quiet) as advance:
        narrated = with_narrations(labelled, plan, progress=lambda video: advance(video.id))
    with screen.counting(f"measuring {name}", len(plan), quiet=quiet) as advance:
        return run_plan(labelled, narrated, plan, rules=rules, progress=advance), narrated


def _write_scores(rows: Sequence[Row], path: Path) -> None:
    screen.write_json({"rows": [asdict(row) for row in rows]}, path)


def _draw_f1(rows: Sequence[Summary], path: Path) -> None:
    """Plot F1 against K, for the first protocol that scores localisation."""
    protocols = dict.fromkeys(row.protocol for row in rows)
    placing = [name for name in protocols if name not in SCRIPT_PROTOCOLS] or list(protocols)
    shown = [row for row in rows if row.protocol == placing[0]]
    figures.save_figure(figures.f1_figure(shown), path)


def _show(table: TextTable) -> None:
    """Print a table with its title and note; numbers that do not fit come below, with the names."""
    columns = list(zip(*[map(screen.in_lines, table.headings), *table.rows], strict=True))
    widths = [max(len(line) for c in cells for line in c.split("\n")) for cells in columns]
    room = screen.out.width - sum(min(width, _NAME) + 2 for width in widths[: table.names])
    blocks: list[list[int]] = [[]]
    for column in range(table.names, len(columns)):
        if blocks[-1] and sum(widths[c] + 2 for c in (*blocks[-1], column)) > room + 2:
            blocks.append([])
        blocks[-1].append(column)
    screen.out.print(f"\n[bold]{escape(table.title)}[/]")
    for block in blocks:
        shown = [*range(table.names), *block]
        headings = [escape(table.headings[c]) for c in shown]
        grid = screen.table(*headings[: table.names], right=headings[table.names :])
        for row in table.rows:
            grid.add_row(*(escape(row[c]) for c in shown))
        screen.out.print(grid)
    if table.note:
        screen.out.print(f"[dim]{escape(table.note)}[/]")


_TITLES = {
    "script": "script (steps are matched with the true ones by time)",
    "script-judged": "script (steps are matched with the true ones by people)",
}


def methods(
    source: _Data,
    names: _Methods = _METHODS,
    steps: _Steps = "10",
    protocol: Annotated[
        str,
        typer.Option(
            metavar="A,B,…",
            help=f"How to score: {', '.join(PROTOCOLS)}. Default: paper-f1,script and, with "
            "--judge, script-judged.",
        ),
    ] = "",
    seeds: _Seeds = 1,
    videos: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Videos of a sample, 2 or more. Default: all.",
        ),
    ] = None,
    judge: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Which relations name which true step, as JSON.",
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
    json_file: options.JsonFile = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            dir_okay=False,
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
        if figure.suffix.lower() not in _FORMATS:
            reason = f"{figure} is not one of {', '.join(_FORMATS)}"
            raise typer.BadParameter(reason, param_hint="--figure")
        if PLOTS.missing:
            raise MissingExtra(PLOTS.name, PLOTS.purpose)
    default_protocols = "paper-f1,script,script-judged" if judge else "paper-f1,script"
    plan = _plan(names, steps, _split(protocol or default_protocols), seeds, videos)
    found = datasets.read_labelled(source, captions=captions, features=features, rate=rate)
    if judge and len(found.tasks) != 1:
        raise HowstepsError(f"--judge works with one task, but {source} has {len(found.tasks)}")
    rows: list[Row] = []
    for labelled in found.tasks:
        rules = read_judgements(judge, labelled.truth.steps) if judge else None
        compared, _ = _measure(labelled, plan, rules, quiet=quiet)
        rows += compared.rows
        if str(json_file) != "-":
            _show_comparison(labelled, plan, compared)
    if json_file is not None:
        _write_scores(rows, json_file)
    if figure is not None and rows:
        _draw_f1(summarise(rows), figure)
    screen.finish(found.problems, found=bool(rows))


def _show_comparison(labelled: Labelled, plan: Plan, compared: Comparison) -> None:
    """Print a table for each protocol, and what could not be measured."""
    count, annotated = len(labelled.task.videos), len(labelled.truth.durations)
    is_all = plan.videos is None or plan.videos >= count
    used = "all" if is_all else f"{min(plan.videos or count, annotated)} of"
    screen.out.print(
        f"\n[bold]{escape(labelled.task.name)}[/]: {used} {screen.plural(count, 'video')}, "
        f"{screen.plural(len(labelled.truth.steps), 'true step')}, "
        f"{screen.plural(plan.seeds, 'seed')}"
    )
    remarks = []
    if is_all and annotated < count:
        how = "methods learn from all, and are scored on these"
        remarks.append(f"{annotated} of {count} videos have ground truth: {how}")
    if not any(video.captions or video.mentions for video in labelled.task.videos):
        remarks.append("no narrations: '--captions PATH' says where they are")
    elif not labelled.features:
        how = "'howsteps features FOLDER --out WORK' makes WORK/features, for --features"
        remarks.append(f"no features of the video: words are used instead ({how})")
    for line in remarks:
        screen.out.print(f"[dim]{line}[/]", soft_wrap=True)
    for protocol in plan.protocols:
        same = [row for row in compared.summaries if row.protocol == protocol]
        if same:
            _show(_scores_table(_TITLES.get(protocol, protocol), same, plan))
    for line in compared.reasons:
        screen.out.print(f"[dim]{escape(line)}[/]", soft_wrap=True)


def _scores_table(title: str, rows: Sequence[Summary], plan: Plan) -> TextTable:
    columns = {
        "method": [row.method for row in rows],
        "K": [str(row.steps) for row in rows],
        "precision": [f"{row.precision:.3f}" for row in rows],
        "recall": [f"{row.recall:.3f}" for row in rows],
        "F1": [f"{row.f1:.3f}" for row in rows],
    }
    if any(row.low is not None for row in rows):
        bar = "95 % of seeds" if plan.seeds > 1 else "other solutions"
        columns[bar] = [_span(row.low, row.high) for row in rows]
    if any(row.seeds < plan.seeds for row in rows):
        columns["seeds"] = [f"{row.seeds} of {plan.seeds}" for row in rows]
    lines = sorted(zip(*columns.values(), strict=True), key=lambda line: int(line[1]))
    return TextTable("scores", title, tuple(columns), tuple(lines), names=1)


def _span(low: float | None, high: float | None) -> str:
    """Format an interval."""
    return "–" if low is None or high is None else f"{low:.3f} … {high:.3f}"


def stats(
    source: _Data,
    rate: _Rate = FRAMES_PER_SECOND,
    json_file: options.JsonFile = None,
    quiet: options.Quiet = False,
) -> None:
    """Show how regular a data set is: order, missing and repeated steps.

    DATA is ground truth: a table video,step,start,end; a task JSON file with steps; COIN.json; or
    the folder of a data set. For the tasks of the CVPR 2016 paper, the published numbers are shown
    too.

    Example: howsteps evaluate stats captions/change_a_tire.json
    """
    found = _truths(source, rate)
    measured = []
    with screen.counting("measuring", len(found.tasks), quiet=quiet) as advance:
        for each in found:
            measured.append(statistics(each))
            advance(each.task)
    orders = [
        [each.steps[step] for step in row.order] for row, each in zip(measured, found, strict=True)
    ]
    if json_file is not None:
        rows = [asdict(row) | {"order": o} for row, o in zip(measured, orders, strict=True)]
        screen.write_json({"version": 1, "tasks": rows}, json_file)
    if str(json_file) != "-":
        _show(statistics_table(measured))
        for row, names in zip(measured, orders, strict=True):
            steps = escape(" → ".join(names))
            screen.out.print(f"\n[bold]{escape(row.task)}[/], order found: {steps}")
    screen.finish(found.problems, found=True)


def _truths(source: Path, rate: float) -> GroundTruth:
    """Read the ground truth of a file or, with the lengths of narrated videos, of a folder."""
    if not source.is_dir():
        return datasets.read_truth(source, rate=rate)
    found = datasets.read_labelled(source, rate=rate)
    truths = sorted((labelled.truth for labelled in found), key=lambda truth: truth.task)
    return Found(tuple(truths), found.problems)


def paper(
    data: _Data,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FOLDER", file_okay=False, help="Where tables and figures go."
        ),
    ] = Path("howsteps-paper"),
    methods: _Methods = _METHODS,
    steps: _Steps = "7,10,12,15",
    videos: Annotated[
        int,
        typer.Option(min=2, metavar="N", help="Videos of a sample, 2 or more."),
    ] = 30,
    seeds: _Seeds = 1,
    quiet: options.Quiet = False,
) -> None:
    """Make the paper's tables and its figure from your data.

    DATA is a folder of data sets, in any layout that 'evaluate methods' reads, with judgements
    (JSON with 'rules') beside them. The published numbers are next to yours, and what is missing is
    listed with the reason.

    Example: howsteps evaluate paper datasets/ --out results/
    """
    plan = _plan(methods, steps, ("paper-f1", "script", "script-judged"), seeds, videos)
    with screen.counting(f"looking through {data}", 1, quiet=quiet):
        found = datasets.read_labelled(data)
        truths = [labelled.truth for labelled in found]
        judgements = find_judgements(data, truths)
    usable = [labelled for labelled in found if labelled.has_narrations_or_features]
    tables = [statistics_table([statistics(truth) for truth in truths])]
    _show(tables[0])
    rows: list[Row] = []
    missing = _missing(truths, usable)
    objectives: dict[str, dict[str, float]] = {}
    for labelled in usable:
        name = labelled.task.name
        compared, narrated = _measure(labelled, plan, judgements.get(name), quiet=quiet)
        rows += compared.rows
        missing += (f"{name}: {line}" for line in compared.reasons)
        if narrated:
            first = Sample(labelled, narrated, subsampled(labelled, plan.videos, 0))
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
    figure = []
    if any(row.protocol == "paper-f1" for row in rows):
        try:
            _draw_f1(means, out / "f1.svg")
            figure = ["## F1 against K\n\n![F1 against K](f1.svg)"]
        except MissingExtra as error:
            missing.append(f"F1 against K, as a figure; {error}")
    _write_scores(rows, out / "scores.json")
    how = f"{screen.plural(plan.seeds, 'random sample')} of {plan.videos} videos. F1 by `paper-f1`."
    gaps = "\n".join(["## Missing", "", *(f"- {line}" for line in missing)])
    pages = [f"# Tables and figure\n\n{how}", *(table.markdown() for table in tables)]
    write_atomically(out / "paper.md", ("\n\n".join([*pages, *figure, gaps]) + "\n").encode())
    for table in tables[1:]:
        _show(table)
    screen.out.print("\n[bold]Missing[/]")
    for line in missing:
        screen.out.print(f"- {escape(line)}")
    screen.out.print(f"\nwritten to {escape(str(out / 'paper.md'))}", soft_wrap=True)
    screen.finish(found.problems, found=True)


def _missing(truths: Iterable[Truth], usable: Sequence[Labelled]) -> list[str]:
    """What the data do not have for the tables and figures."""
    annotated = {truth.task for truth in truths}
    narrated = {labelled.task.name for labelled in usable}
    lines = []
    for task in PRINTED_STATISTICS:
        if task not in annotated:
            lines.append(f"{task}: everything; {_FETCH}")
        elif task not in narrated:
            lines.append(f"{task}: scripts, alignment, localisation; {_FETCH}")
    lines += (
        f"{labelled.task.name}: features of the video; words of the narration are used instead"
        for labelled in usable
        if not labelled.features
    )
    return lines
