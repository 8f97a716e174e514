"""Precision and recall of scripts: ``python -m benchmarks.scripts_judged CAPTIONS``.

CAPTIONS is a folder of task files; judgement files (``annotations/judge_*.json``) are read from its
parent. Prints, for each judged task, precision and recall at K ≤ 10 of modes ``default`` and
``paper`` and of two controls: the mean over twenty subsamples of 30 videos, and all videos.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from howsteps import datasets
from howsteps.datasets import registry
from howsteps.datasets.task_file import read_judgements
from howsteps.evaluate import by_time, judged, script_score
from howsteps.evaluate.methods import frequent, text_free
from howsteps.narration import extract_relations
from howsteps.paper.script import discover as discover_by_alignment
from howsteps.script import discover
from howsteps.task import Rule, Script, Task, Truth

STEPS = 10  # K
DRAW, SEEDS = 30, 20  # size and number of subsamples
LEAD = 2.0  # seconds; narrators mention a step shortly before they do it


class Way(NamedTuple):
    """A method: the mode of relation extraction, and the function that discovers the script."""

    extraction: str
    discover: Callable[[Task], Script]


class Judges(NamedTuple):
    """Ground truth of a task, and the relations that are accepted for each true step."""

    truth: Truth
    rules: Mapping[str, Sequence[Rule]]

    def score(self, script: Script) -> tuple[float, ...]:
        """Return the number of steps, precision and recall as judged, and the two by time."""
        order = [self.truth.steps.index(name) for name in self.rules]
        read = script_score(judged(script.steps, self.rules, self.truth.steps), order)
        timed = script_score(by_time(script.steps, self.truth, leads=(LEAD,)), order)
        return len(script.steps), read.precision, read.recall, timed.precision, timed.recall


def draw(task: Task, count: int, seed: int) -> Task:
    """Return a task with a random subsample of its videos, in their order."""
    chosen = np.random.default_rng(seed).permutation(len(task.videos))[:count]
    return replace(task, videos=tuple(task.videos[n] for n in sorted(chosen)))


WAYS = {
    "text-free": Way("paper", lambda task: text_free({v.id: v.length for v in task.videos}, STEPS)),
    "most frequent by time": Way("paper", lambda task: frequent(task, STEPS)),
    "paper": Way("paper", partial(discover_by_alignment, steps=STEPS)),
    "default": Way("default", partial(discover, steps=STEPS)),
}


def main() -> None:
    """Print one row for each task, number of videos and method, and the means over tasks."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("captions", type=Path)
    captions = options.parse_args().captions
    print("| task | videos | script | steps | judged, P/R | by time, P/R |")
    print("|---|---|---|---|---|---|")
    means: dict[tuple[str, str], list[np.ndarray]] = {}
    for rules_path in sorted((captions.parent / "annotations").glob("judge_*.json")):
        path = captions / f"{rules_path.stem.removeprefix('judge_')}.json"
        [captioned] = datasets.read_tasks(path).tasks
        [task_truth] = registry.read_truth(path)
        judges = Judges(task_truth, read_judgements(rules_path, task_truth.steps))
        modes = ("paper", "default")
        narrated = {mode: extract_relations(captioned, mode=mode) for mode in modes}
        for name, way in WAYS.items():
            task = narrated[way.extraction]
            for videos, seeds in ((f"{SEEDS} draws of {DRAW}", SEEDS), (str(len(task.videos)), 1)):
                count = DRAW if seeds == SEEDS else len(task.videos)
                subsamples = [draw(task, count, seed) for seed in range(seeds)]
                scores = [judges.score(way.discover(drawn)) for drawn in subsamples]
                mean = np.array(scores, dtype=float).mean(axis=0)
                show(task.name, videos, name, mean)
                means.setdefault((videos if seeds == SEEDS else "all", name), []).append(mean)
    for (videos, name), found in means.items():
        show("mean", videos, name, np.mean(found, axis=0))


def show(task: str, videos: str, name: str, cells: np.ndarray) -> None:
    """Print one row."""
    read = f"{cells[1]:.2f}/{cells[2]:.2f}"
    timed = f"{cells[3]:.2f}/{cells[4]:.2f}"
    print(f"| {task} | {videos} | {name} | {cells[0]:.1f} | {read} | {timed} |", flush=True)


if __name__ == "__main__":
    main()
