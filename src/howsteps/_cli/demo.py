"""``howsteps demo``: the whole pipeline, on a job that ships with howsteps."""

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from howsteps._cli import options, screen
from howsteps._cli.run import show
from howsteps._cli.screen import live_callback
from howsteps.errors import DEMO, HowstepsError
from howsteps.pipeline.options import RunOptions

if TYPE_CHECKING:
    from howsteps.evaluate import Score
    from howsteps.task import Result, Truth


def demo(
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Where to put the videos and the result."
        ),
    ] = Path("howsteps-demo"),
    workers: options.Workers = None,
    quiet: options.Quiet = False,
) -> None:
    """Render thirteen videos of one job, find the steps, and compare them with the ground truth.

    The job is replacing the inner tube of a bicycle wheel. The narrations (in ten caption formats)
    and the videos are made for the demo; everything else is what 'howsteps run' does with any
    folder. Without the extra 'demo', only the captions are used.
    """
    from howsteps.demo.job import prepare, true_steps  # noqa: PLC0415 - kept out of every start
    from howsteps.pipeline.executor import cores, local_executor  # noqa: PLC0415
    from howsteps.pipeline.run import run  # noqa: PLC0415

    start = perf_counter()
    count = workers or cores()
    if DEMO.missing:
        line = f"using captions only; to render and analyse the videos too: {DEMO.command}"
        screen.err.print(line, markup=False, soft_wrap=True)
    with screen.progress("rendering videos", 13, quiet=quiet) as advance:
        executor = None if DEMO.missing else local_executor(count)
        videos = prepare(out / "videos", executor, lambda _: advance())
    with live_callback(quiet=quiet, json_lines=False) as callback:
        done = run(videos, out / "steps", RunOptions(quick=True), workers=count, callback=callback)
    if not done.results:
        raise HowstepsError("; ".join(str(problem) for problem in done.problems))
    show(done.results, done.folders)
    [result] = done.results.values()
    screen.out.print(_scores(result, true_steps()))
    screen.out.print(f"[dim]{perf_counter() - start:.0f} s in all[/]")
    screen.finish([problem for problem in done.problems if not problem.harmless], found=True)


def _scores(result: "Result", truth: "Truth") -> Table:
    """Scores of the script and the places against the ground truth."""
    from howsteps.demo.job import rules  # noqa: PLC0415
    from howsteps.evaluate import Variant, in_truth, judged, paper_f1, script_score  # noqa: PLC0415

    steps = len(result.script.steps)
    counts_as = judged(result.script.steps, rules(), truth.steps)
    not_guesses = [each for each in result.localisations if each.level != "guess"]
    rows: dict[str, Score] = {
        "the script: right steps, in the right order": script_score(
            counts_as, range(len(truth.steps)), "judged"
        ),
        "the places: every step found while it is done": paper_f1(
            in_truth(result.localisations, truth), truth, steps=steps, variant=Variant.made
        ),
        "the places, guesses left out": paper_f1(
            in_truth(not_guesses, truth), truth, steps=steps, variant=Variant.made
        ),
    }
    table = Table(box=None, pad_edge=False, header_style="dim", title_justify="left")
    table.add_column("against the ground truth")
    for heading in ("precision", "recall", "F1"):
        table.add_column(heading, justify="right")
    for what, score in rows.items():
        values = (score.precision, score.recall, score.f1)
        table.add_row(escape(what), *(f"{value:.2f}" for value in values))
    return table
