"""Scripts written by a person: ``python -m benchmarks.own_script CAPTIONS [--lines FILE]``.

CAPTIONS is a task file with ground truth, such as that of changing a tire; FILE a list of steps,
one per line (by default ten lines for that task, written without looking at the data). Prints F1 by
the paper's protocol of the discovered script, of the lines, and of the true steps; then the time
from an edit of ``script.md`` to the page, in its own process, for 30 narrations.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.places import DRAW, DRAWS, STEPS, among, f1, spread_evenly
from benchmarks.scripts_judged import draw
from howsteps import datasets
from howsteps.datasets import registry as truths
from howsteps.datasets.task_file import read_judgements
from howsteps.io.text import read_text
from howsteps.localise import localise
from howsteps.narration import extract_relations
from howsteps.narration.mentions import acts_of_labels
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from howsteps.script import discover
from howsteps.script.text_form import parse_script_text
from howsteps.script.text_mentions import script_of_text
from howsteps.task import Mention, Script, Step, Task, Truth

TEN_LINES = """\
Put on the parking brake
Get out the spare tire and the jack
Loosen the lug nuts
Jack up the car
Take off the lug nuts
Pull off the flat tire
Put on the spare tire
Put the lug nuts back on
Lower the car
Tighten the lug nuts
"""
_COMMAND = "from howsteps._cli.app import main; main()"
_PAGE = Path("lines")

Way = Callable[[Task, Truth], Script]


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("captions", type=Path)
    options.add_argument("--lines", type=Path)
    options.add_argument("--judgements", type=Path, help="judgement file of the true steps")
    options.add_argument("--draws", type=int, default=DRAWS)
    chosen = options.parse_args()
    lines = TEN_LINES if chosen.lines is None else read_text(chosen.lines)
    [task] = datasets.read_tasks(chosen.captions).tasks
    [task_truth] = truths.read_truth(chosen.captions)
    ways: dict[str, Way] = {
        f"found, at most {STEPS} steps": lambda task, truth: discover(task, steps=STEPS),
        "found": lambda task, truth: discover(task),
        "the lines, by the same verb and noun": lambda task, truth: exactly(lines, task),
        "the lines": lambda task, truth: written(lines, task),
        "the names of the true steps": lambda task, truth: written("\n".join(truth.steps), task),
    }
    if chosen.judgements is not None:
        ways["the true steps, by judged relations"] = judged_by(chosen.judgements)
    scores(extract_relations(task), task_truth, ways, chosen.draws)
    times(task)


def scores(task: Task, task_truth: Truth, ways: dict[str, Way], draws: int) -> None:
    """Print the F1 of every script."""
    print("| videos | script | steps | named by | F1 |\n|---|---|---|---|---|")
    for n_videos, n_draws in ((DRAW, draws), (len(task.videos), 1)):
        drawn_tasks = [draw(task, n_videos, seed) for seed in range(n_draws)]
        uniform_scores = []
        for name, way in ways.items():
            rows = []
            for drawn in drawn_tasks:
                truth = among(task_truth, drawn)
                script = way(drawn, truth)
                support = np.mean([step.support for step in script.steps]) / n_videos
                score = f1(localise(drawn, script).localisations, truth, script)
                rows.append((len(script.steps), support, score))
                if name.startswith("found, "):
                    uniform = spread_evenly(drawn, script, {}, truth)
                    uniform_scores.append(f1(uniform, truth, script))
            steps, support, score = np.mean(rows, axis=0)
            cells = f"{n_videos} | {name} | {steps:.1f} | {support:.0%} | {score:.3f}"
            print(f"| {cells} |", flush=True)
        mean = np.mean(uniform_scores)
        print(f"| {n_videos} | found, spread evenly | | | {mean:.3f} |", flush=True)


def written(lines: str, task: Task) -> Script:
    """Return the script of lines, matched with the mentions of a task."""
    page = parse_script_text(lines, _PAGE)
    script, _ = script_of_text(page, task, Script(()), acts_of_labels, _PAGE)
    return script


def exactly(lines: str, task: Task) -> Script:
    """Return the baseline: mentions with the same verb and noun as a line belong to its step."""
    labels = [step.label for step in parse_script_text(lines, _PAGE)]
    relations = [{act.relation for act in acts} for acts in acts_of_labels(labels)]
    return _script_by(lambda k, m: m.relation in relations[k], labels, task)


def judged_by(path: Path) -> Way:
    """Return a method: the true steps, with the mentions of the relations accepted for them."""

    def way(task: Task, truth: Truth) -> Script:
        rules = read_judgements(path, truth.steps)
        names = [name for name in truth.steps if name in rules]
        accepts = [rules[name] for name in names]
        return _script_by(lambda k, m: any(r.allows(m.relation) for r in accepts[k]), names, task)

    return way


def _script_by(
    belongs: Callable[[int, Mention], bool], labels: Sequence[str], task: Task
) -> Script:
    """Return a script in which each mention is assigned to the first step it belongs to."""
    mentions: list[list[Mention]] = [[] for _ in labels]
    for video in task.videos:
        for mention in video.mentions:
            step = next((k for k in range(len(labels)) if belongs(k, mention)), None)
            if step is not None and not mention.negated:
                mentions[step].append(mention)
    return Script(tuple(Step(n, tuple(ms)) for n, ms in zip(labels, mentions, strict=True)))


def times(task: Task) -> None:
    """Print the time from an edit to the page, for 30 narrations."""
    print("\n| edit of script.md | s | s of a core |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "steps"
        run(draw(task, DRAW, 0), out, RunOptions(steps=STEPS))
        page = out / "script.md"
        edits = {
            "none": lambda text: text,
            "a step renamed": lambda text: text.replace("\n2. ", "\n2. carefully ", 1),
            "two steps joined": lambda text: text.replace("\n3. ", "\n   + ", 1),
            "a step added": lambda text: f"{text}\n11. put the tools away\n",
            "ten lines from nothing": lambda text: TEN_LINES,
        }
        for name, edit in edits.items():
            page.write_text(edit(page.read_text("utf-8")), "utf-8")
            command = [sys.executable, "-c", _COMMAND, "place", "-q"]
            started, before = time.perf_counter(), os.times()
            subprocess.run(  # noqa: S603 - our own command
                [*command, out, "--script", page], check=True, capture_output=True
            )
            spent, after = time.perf_counter() - started, os.times()
            core = after[2] + after[3] - before[2] - before[3]
            print(f"| {name} | {spent:.1f} | {core:.1f} |", flush=True)


if __name__ == "__main__":
    main()
