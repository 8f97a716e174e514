"""How good and how fast the script stage is: ``python -m benchmarks.script CAPTIONS``.

CAPTIONS is a folder of task files; alignment problems (``alignment_*.json``) and the judges' rules
(``annotations/judge_*.json``) are looked for beside it. Prints four tables: the solvers and the
certificate on given problems, the time to the authors' objective, problems made at random, and
scripts of real captions beside the two controls.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import authors_numpy
from howsteps import datasets
from howsteps.narration import hear
from howsteps.script import align, certify, discover
from howsteps.script.bound import order_free
from howsteps.script.controls import frequent
from howsteps.script.problem import pose
from howsteps.script.rivals import partial_order, progressive
from howsteps.task import Script, Step, Task


class Instance(NamedTuple):
    """An alignment problem, and the best figure known before (NaN: none)."""

    name: str
    sequences: list[list[int]]
    match: np.ndarray
    known: float

    @property
    def seconds(self) -> float:
        """What the search is allowed: 2 s for 30 videos, 10 s for more."""
        return 2.0 if len(self.sequences) <= 30 else 10.0


def main() -> None:
    """Print the tables that were asked for."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("captions", type=Path)
    options.add_argument("--certify", type=float, default=20.0, help="seconds for each bound")
    options.add_argument(
        "--tables", nargs="+", default=["given", "speed", "random", "captions"],
        choices=["given", "speed", "random", "captions"],
    )  # fmt: skip
    chosen = options.parse_args()
    given = list(read_instances(chosen.captions.parent))
    align([[0], [0]], [[1]], certificate_seconds=1)  # compile before the clock starts
    if "given" in chosen.tables:
        compare(given, chosen.certify)
    if "speed" in chosen.tables:
        race(given)
    if "random" in chosen.tables:
        compare(list(random_instances()), chosen.certify)
    if "captions" in chosen.tables:
        judge_scripts(chosen.captions)


def read_instances(folder: Path) -> Iterator[Instance]:
    """Problems from files, with the best figure of the prototype."""
    for path in sorted(folder.glob("alignment_*.json")):
        for one in json.loads(path.read_text("utf-8"))["instances"]:
            known = one["figures"]["with_ruin_and_recreate"]
            yield Instance(one["name"], one["sequences"], np.array(one["match"], bool), known)


def random_instances() -> Iterator[Instance]:
    """Noisy copies of a hidden script: steps dropped, swapped and repeated, chatter in between."""
    for seed, (videos, steps, chatter) in enumerate([(30, 12, 200), (30, 25, 60), (100, 15, 400)]):
        generator = np.random.default_rng(seed)
        relations = steps + chatter
        match = generator.random((relations, relations)) < 0.3 / relations
        match = match | match.T | np.eye(relations, dtype=bool)
        sequences = []
        for _ in range(videos):
            said = np.flatnonzero(generator.random(steps) < 0.6)
            said = said[np.argsort(said + generator.normal(0, 2, len(said)))].tolist()
            for _ in range(generator.integers(2, 9)):
                talk = steps + int(generator.zipf(1.5)) % chatter
                said.insert(int(generator.integers(len(said) + 1)), talk)
            sequences.append([int(relation) for relation in said])
        yield Instance(f"random_{videos}_{steps}_{chatter}", sequences, match, np.nan)


def compare(instances: Sequence[Instance], certify_seconds: float) -> None:
    """Solvers side by side, as Tr(UᵀBU)/S, and the bounds."""
    print(
        "\n| problem | tokens | Frank-Wolfe, 1 start | POA | progressive | known | search | s ",
        end="",
    )
    print("| order-free | pairs | tight | gap |\n|---|---|---|---|---|---|---|---|---|---|---|---|")
    for one in instances:
        problem = pose(one.sequences, one.match)
        size = len(problem.tokens)
        slots = max(120, int(problem.lengths.max()))
        plain = np.mean(
            [
                align(one.sequences, one.match, mode="authors", slots=slots, seed=seed).objective
                for seed in range(3)
            ]
        )
        rivals = [rival(one.sequences, one.match) for rival in (partial_order, progressive)]
        found = align(one.sequences, one.match, seconds=one.seconds)
        tight = certify(problem, found.objective, seconds=certify_seconds)
        figures = [
            plain / size,
            *(rival.objective_per_token for rival in rivals),
            one.known,
            found.objective_per_token,
            found.seconds,
            order_free(problem) / size,
            found.bound / size,
            tight / size,
        ]
        cells = " | ".join(f"{figure:.2f}" for figure in figures)
        gap = (found.objective - tight) / -tight
        print(f"| {one.name} | {size} | {cells} | {100 * gap:.1f} % |", flush=True)


def race(instances: Sequence[Instance]) -> None:
    """Seconds of the authors' 200 iterations, and of the search until it is as good."""
    print("\n| problem | authors' 200 iterations, s | reached | search, s | reached | ratio |")
    print("|---|---|---|---|---|---|")
    for one in instances:
        problem = pose(one.sequences, one.match)
        b = problem.costs[np.ix_(problem.tokens, problem.tokens)]
        begun = time.perf_counter()
        reached = authors_numpy.run(b, problem.first, 120, seed=0)
        spent = time.perf_counter() - begun
        found = align(one.sequences, one.match, seconds=one.seconds)
        when, value = next((s, v) for s, v in found.trace if v <= reached)
        size = len(problem.tokens)
        print(
            f"| {one.name} | {spent:.2f} | {reached / size:.2f} | {when:.4f} | {value / size:.2f} "
            f"| {spent / when:,.0f} |",
            flush=True,
        )


def judge_scripts(captions: Path) -> None:
    """Precision and recall of scripts by the judges' rules, K ≤ 10, beside the frequency one."""
    ways: dict[str, Callable[[Task], Script]] = {
        "most frequent by time": lambda task: frequent(task, 10),
        **{
            mode: lambda task, mode=mode: discover(task, steps=10, mode=mode)
            for mode in ("authors", "paper", "default")
        },
    }
    print("\n| task | videos | script | steps | precision | recall |\n|---|---|---|---|---|---|")
    for rules_path in sorted((captions.parent / "annotations").glob("judge_*.json")):
        rules = json.loads(rules_path.read_text("utf-8"))
        path = captions / f"{rules['task']}.json"
        [whole] = datasets.read(path).tasks
        heard = {mode: hear(whole, mode=mode) for mode in ("paper", "default")}
        for name, discovered in ways.items():
            for many in (30, len(whole.videos)):
                task = heard["default" if name == "default" else "paper"]
                script = discovered(replace(task, videos=task.videos[:many]))
                right = judged(script.steps, list(rules["rules"].values()))
                shares = (
                    f"{right / max(1, len(script.steps)):.2f} | {right / len(rules['rules']):.2f}"
                )
                print(
                    f"| {task.name} | {many} | {name} | {len(script.steps)} | {shares} |",
                    flush=True,
                )


def judged(steps: Sequence[Step], truth: Sequence[Any]) -> int:
    """Longest chain of steps that are right and in the true order, each true step once.

    A step is right for a true step when at least half of its mentions fit one of its rules.
    """
    best = np.zeros((len(steps) + 1, len(truth) + 1), dtype=int)
    for i, step in enumerate(steps, 1):
        for j, rules in enumerate(truth, 1):
            fitting = sum(
                any(m.verb in rule["verbs"] and m.noun in rule["nouns"] for rule in rules)
                for m in step.mentions
            )
            right = int(2 * fitting >= len(step.mentions))
            best[i, j] = max(best[i - 1, j], best[i, j - 1], best[i - 1, j - 1] + right)
    return int(best[-1, -1])


if __name__ == "__main__":
    main()
