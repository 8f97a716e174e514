"""Quality and speed of the alignment solvers: ``python -m benchmarks.script CAPTIONS``.

CAPTIONS is a folder of task files; alignment problems (``alignment_*.json``) are read from its
parent. Prints three tables: solvers and bounds on given problems, the time to the authors'
objective, and solvers on random problems. For the quality of scripts see ``scripts_judged``.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import authors_numpy
from benchmarks.triple_bound import triple_bound
from howsteps.paper.aligners import partial_order_alignment, progressive_alignment
from howsteps.paper.alignment import AUTHORS, align
from howsteps.paper.alignment_problem import make_problem


class Instance(NamedTuple):
    """An alignment problem, and its best known objective (NaN: none)."""

    name: str
    sequences: list[list[int]]
    match: np.ndarray
    known: float

    @property
    def seconds(self) -> float:
        """Time limit of the search: 2 s for 30 videos, 10 s for more."""
        return 2.0 if len(self.sequences) <= 30 else 10.0


def main() -> None:
    """Print the requested tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("captions", type=Path)
    options.add_argument("--certify", type=float, default=20.0, help="seconds for each bound")
    options.add_argument(
        "--tables", nargs="+", default=["given", "speed", "random"],
        choices=["given", "speed", "random"],
    )  # fmt: skip
    chosen = options.parse_args()
    given = list(read_instances(chosen.captions.parent))
    align([[0], [0]], [[1]])  # compile before the clock starts
    if "given" in chosen.tables:
        compare(given, chosen.certify)
    if "speed" in chosen.tables:
        race(given)
    if "random" in chosen.tables:
        compare(list(random_instances()), chosen.certify)


def read_instances(folder: Path) -> Iterator[Instance]:
    """Read problems, with the best objective of the prototype."""
    for path in sorted(folder.glob("alignment_*.json")):
        for one in json.loads(path.read_text("utf-8"))["instances"]:
            known = one["figures"]["with_ruin_and_recreate"]
            yield Instance(one["name"], one["sequences"], np.array(one["match"], bool), known)


def random_instances() -> Iterator[Instance]:
    """Draw noisy copies of a hidden script: steps dropped and swapped, chatter inserted."""
    for seed, (videos, steps, chatter) in enumerate([(30, 12, 200), (30, 25, 60), (100, 15, 400)]):
        generator = np.random.default_rng(seed)
        relations = steps + chatter
        match = generator.random((relations, relations)) < 0.3 / relations
        match = match | match.T | np.eye(relations, dtype=bool)
        sequences = []
        for _ in range(videos):
            kept = np.flatnonzero(generator.random(steps) < 0.6)
            sequence = kept[np.argsort(kept + generator.normal(0, 2, len(kept)))].tolist()
            for _ in range(generator.integers(2, 9)):
                talk = steps + int(generator.zipf(1.5)) % chatter
                sequence.insert(int(generator.integers(len(sequence) + 1)), talk)
            sequences.append([int(relation) for relation in sequence])
        yield Instance(f"random_{videos}_{steps}_{chatter}", sequences, match, np.nan)


def compare(instances: Sequence[Instance], certify_seconds: float) -> None:
    """Print the objectives of the solvers, as Tr(UᵀBU)/S, and the bounds."""
    print(
        "\n| problem | tokens | Frank-Wolfe, 1 start | POA | progressive | known | search | s ",
        end="",
    )
    print("| pairs | tight | gap |\n|---|---|---|---|---|---|---|---|---|---|---|")
    for one in instances:
        problem = make_problem(one.sequences, one.match)
        size = len(problem.tokens)
        plain = np.mean(
            [
                align(one.sequences, one.match, solver=AUTHORS, seed=seed).objective
                for seed in range(3)
            ]
        )
        baselines = [
            aligner(one.sequences, one.match)
            for aligner in (partial_order_alignment, progressive_alignment)
        ]
        started = time.perf_counter()
        found = align(one.sequences, one.match, seconds=one.seconds)
        spent = time.perf_counter() - started
        tight = triple_bound(problem, objective=found.objective, seconds=certify_seconds)
        figures = [
            plain / size,
            *(rival.objective_per_token for rival in baselines),
            one.known,
            found.objective_per_token,
            spent,
            found.bound / size,
            tight / size,
        ]
        cells = " | ".join(f"{figure:.2f}" for figure in figures)
        gap = (found.objective - tight) / -tight
        print(f"| {one.name} | {size} | {cells} | {100 * gap:.1f} % |", flush=True)


def race(instances: Sequence[Instance]) -> None:
    """Print the time of the authors' 200 iterations, and of the search to the same objective."""
    print("\n| problem | authors' 200 iterations, s | reached | search, s | reached | ratio |")
    print("|---|---|---|---|---|---|")
    for one in instances:
        problem = make_problem(one.sequences, one.match)
        b = problem.costs[np.ix_(problem.tokens, problem.tokens)]
        started = time.perf_counter()
        reached = authors_numpy.run(b, problem.first, 120, seed=0)
        spent = time.perf_counter() - started
        effort = (2.0**n * 1e-4 for n in range(20))
        for seconds in effort:
            started = time.perf_counter()
            value = align(one.sequences, one.match, seconds=seconds).objective
            when = time.perf_counter() - started
            if value <= reached:
                break
        size = len(problem.tokens)
        print(
            f"| {one.name} | {spent:.2f} | {reached / size:.2f} | {when:.4f} | {value / size:.2f} "
            f"| {spent / when:,.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
