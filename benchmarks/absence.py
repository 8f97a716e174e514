"""Accuracy of detecting steps that are absent from a video: ``python -m benchmarks.absence``.

Clustering with ``absent=True`` on synthetic tasks (:mod:`benchmarks.localise_task`) that were not
used to choose the factor of :mod:`howsteps.paper.null_scores`.
"""

import numpy as np
from numpy.typing import NDArray

from benchmarks.localise_task import synthetic_task
from howsteps.paper.clustering import cluster

TASKS: dict[str, dict[str, float]] = {
    "seed 1": {"seed": 1},
    "seed 2": {"seed": 2},
    "10 % missing": {"seed": 3, "missing": 0.1},
    "50 % missing": {"seed": 4, "missing": 0.5},
    "15 videos": {"seed": 5, "videos": 15},
    "30 % narrated": {"seed": 6, "narrated": 0.3},
}


def main() -> None:
    """Print the table."""
    print("| task | said absent, of the absent | of the present | F1 without | F1 with |")
    print("|---|---|---|---|---|")
    for name, options in TASKS.items():
        task = synthetic_task(**{"videos": 30, "shortest": 200, "longest": 275, **options})
        features = [x[:, ::3] for x in task.features]
        forced, free = (
            cluster(
                features, task.windows, steps=10, solver="descent", restarts=1, absent=absent
            ).intervals
            for absent in (False, True)
        )
        absent = task.truth < 0
        predicted = free < 0
        print(
            f"| {name} | {(predicted & absent).sum()} of {absent.sum()} | "
            f"{(predicted & ~absent).sum()} of {(~absent).sum()} | "
            f"{f1(forced, task.truth):.2f} | {f1(free, task.truth):.2f} |",
            flush=True,
        )


def f1(places: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
    """F1 of placements; one is right if within five intervals of the middle of the step."""
    right = (np.abs(places - truth) <= 5) & (places >= 0) & (truth >= 0)
    return float(2 * right.sum() / ((places >= 0).sum() + (truth >= 0).sum()))


if __name__ == "__main__":
    main()
