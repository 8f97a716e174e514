"""Judged scripts of real captions: ``python -m benchmarks.scripts_judged CAPTIONS``.

CAPTIONS is a folder of task files; the judges' rules (``annotations/judge_*.json``) are looked for
beside it. For each judged task, precision and recall at K ≤ 10 of mode ``default``, of mode
``paper`` and of the two controls: the mean over twenty draws of 30 videos, and all videos. The
text-free control has no words to judge, so it is scored by time, as are the others beside it.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from howsteps import datasets
from howsteps.datasets import truth
from howsteps.datasets.task_file import read_judgements
from howsteps.evaluate import by_time, in_truth, judged, mention_times, script_score
from howsteps.narration import extract_relations
from howsteps.script import discover
from howsteps.script.baselines import frequent, text_free
from howsteps.task import Rule, Script, Task, Truth

STEPS = 10  # K
DRAW, SEEDS = 30, 20  # videos of a draw, and draws
LEAD = 2.0  # seconds: narrators name a step shortly before they do it


class Way(NamedTuple):
    """A way to a script: the mode in which the captions are heard, and what is made of them."""

    hearing: str
    discover: Callable[[Task], Script | None]


class Judges(NamedTuple):
    """What people saw in the videos, and which relations they accept for each true step."""

    truth: Truth
    rules: Mapping[str, Sequence[Rule]]

    def score(self, task: Task, script: Script | None) -> tuple[float, ...]:
        """Steps; precision and recall as judged; and by time. None: the text-free control."""
        order = [self.truth.steps.index(name) for name in self.rules]
        steps = STEPS if script is None else len(script.steps)
        events = text_free(task, STEPS) if script is None else mention_times(script)
        timed = script_score(
            by_time(in_truth(events, self.truth), self.truth, steps, lead=LEAD), order, "by time"
        )
        if script is None:
            return steps, np.nan, np.nan, timed.precision, timed.recall
        read = script_score(judged(script.steps, self.rules, self.truth.steps), order, "judged")
        return steps, read.precision, read.recall, timed.precision, timed.recall


def draw(task: Task, many: int, seed: int) -> Task:
    """Some videos of a task, in their order."""
    chosen = np.random.default_rng(seed).permutation(len(task.videos))[:many]
    return replace(task, videos=tuple(task.videos[n] for n in sorted(chosen)))


WAYS = {
    "text-free": Way("paper", lambda task: None),
    "most frequent by time": Way("paper", lambda task: frequent(task, STEPS)),
    "paper": Way("paper", partial(discover, steps=STEPS, mode="paper")),
    "default": Way("default", partial(discover, steps=STEPS, mode="default")),
}


def main() -> None:
    """Print one row for each task, number of videos and way, and the means over the tasks."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("captions", type=Path)
    captions = options.parse_args().captions
    print("| task | videos | script | steps | judged, P/R | by time, P/R |")
    print("|---|---|---|---|---|---|")
    means: dict[tuple[str, str], list[np.ndarray]] = {}
    for rules_path in sorted((captions.parent / "annotations").glob("judge_*.json")):
        path = captions / f"{rules_path.stem.removeprefix('judge_')}.json"
        [whole] = datasets.read_tasks(path).tasks
        [seen] = truth.read_truth_files(path).truths
        judges = Judges(seen, read_judgements(rules_path, seen.steps))
        heard = {mode: extract_relations(whole, mode=mode) for mode in ("paper", "default")}
        for name, way in WAYS.items():
            task = heard[way.hearing]
            for videos, seeds in ((f"{SEEDS} draws of {DRAW}", SEEDS), (str(len(task.videos)), 1)):
                many = DRAW if seeds == SEEDS else len(task.videos)
                drawn = [draw(task, many, seed) for seed in range(seeds)]
                figures = [judges.score(one, way.discover(one)) for one in drawn]
                mean = np.array(figures, dtype=float).mean(axis=0)
                show(task.name, videos, name, mean)
                means.setdefault((videos if seeds == SEEDS else "all", name), []).append(mean)
    for (videos, name), found in means.items():
        show("mean", videos, name, np.mean(found, axis=0))


def show(task: str, videos: str, name: str, cells: np.ndarray) -> None:
    """Print one row."""
    read = "–" if np.isnan(cells[1]) else f"{cells[1]:.2f}/{cells[2]:.2f}"
    timed = f"{cells[3]:.2f}/{cells[4]:.2f}"
    print(f"| {task} | {videos} | {name} | {cells[0]:.1f} | {read} | {timed} |", flush=True)


if __name__ == "__main__":
    main()
