"""``howsteps demo``: the whole pipeline, on a job that ships with howsteps."""

from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
from rich.table import Table

from howsteps._cli import options, screen
from howsteps._cli.run import show
from howsteps.demo.job import prepare, rules, true_steps
from howsteps.errors import DEMO, HowstepsError
from howsteps.evaluate import Variant, in_truth, judged, paper_f1, script_score
from howsteps.io.files import Folder
from howsteps.pipeline.executor import LocalExecutor, cores
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
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
    """Try it: find the steps of a job that ships with howsteps.

    The job is replacing the inner tube of a bicycle wheel, in thirteen videos. The narrations (in
    ten caption formats) and the videos are made for the demo; everything else is what 'howsteps
    run' does with any folder. The steps are then compared with the ground truth. Without the extra
    'demo', only the captions are used.
    """
    start = perf_counter()
    for part in ("videos", "steps"):
        (Folder(out) / part).check()
    count = workers or cores()
    if DEMO.missing:
        line = f"using captions only; to render and analyse the videos too: {DEMO.command}"
        screen.err.print(line, markup=False, soft_wrap=True)
    with screen.counting("rendering videos", 13, quiet=quiet) as advance:
        executor = None if DEMO.missing else LocalExecutor(count)
        videos = prepare(out / "videos", executor, advance)
    with screen.progress(quiet=quiet) as callback:
        done = run(videos, out / "steps", RunOptions(quick=True), workers=count, callback=callback)
    if not done.results:
        raise HowstepsError("; ".join(str(problem) for problem in done.problems))
    show(done.results, done.folders)
    [result] = done.results.values()
    screen.out.print(_scores(result, true_steps()))
    screen.out.print(f"[dim]{perf_counter() - start:.0f} s in all[/]")
    screen.finish([problem for problem in done.problems if not problem.harmless], found=True)


def _scores(result: Result, truth: Truth) -> Table:
    """Scores of the script and the places against the ground truth."""
    not_guesses = [each for each in result.localisations if each.level != "guess"]
    placed, surely_placed = (
        paper_f1(in_truth(found, truth), truth, steps=len(result.steps), variant=Variant.made)
        for found in (result.localisations, not_guesses)
    )
    rows = {
        "the script: right steps, in the right order": script_score(
            judged(result.steps, rules(), truth.steps), range(len(truth.steps))
        ),
        "the places: every step found while it is done": placed,
        "the places, guesses left out": surely_placed,
    }
    table = screen.table("against the ground truth", right=("precision", "recall", "F1"))
    for what, score in rows.items():
        values = (score.precision, score.recall, score.f1)
        table.add_row(what, *(f"{value:.2f}" for value in values))
    return table
