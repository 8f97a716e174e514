"""Linear algebra of localisation on a GPU, compared with the CPU.

``PYTHONPATH=src python -m benchmarks.localise_gpu`` needs NumPy and PyTorch; with SciPy the CPU
backend runs too, and with Numba all of :func:`howsteps.localise.cluster`.
"""

import argparse
import time
from importlib.util import find_spec

import numpy as np

from benchmarks.localise_task import synthetic_task
from howsteps.localise.cost import ClusteringCost

PRODUCTS = 20  # with X, about as many as the interior-point method needs


def devices(gpu: str) -> list[str]:
    """List the devices to compare; the first is the reference."""
    return [*(["cpu"] if find_spec("scipy") and find_spec("numba") else []), "torch-cpu", gpu]


def backend(videos: int, gpu: str) -> None:
    """Time the Gram matrix and inverse, leverages, and products, and compare the results."""
    task = synthetic_task(videos)
    z = np.random.default_rng(0).random((task.intervals, task.steps)) / task.intervals
    print(f"\nN = {videos}, T = {task.intervals}, d = 3000, K = {task.steps}")
    print(
        "| device | Gram, inverse s | leverages s | 20 products s | total s | ratio | differs by |"
    )
    print("|---|---|---|---|---|---|---|")
    first: tuple[float, np.ndarray, np.ndarray] | None = None
    for device in devices(gpu):
        for repeat in range(2):  # the first run loads libraries and compiles
            started = time.perf_counter()
            cost = ClusteringCost(tuple(task.features), 1 / (videos * task.steps), device=device)
            factored = time.perf_counter()
            leverages = cost.leverages
            levered = time.perf_counter()
            for _ in range(PRODUCTS):
                scores = cost.scores(z)
            ended = time.perf_counter()
            if not repeat:
                del cost
        total = ended - started
        if first is None:
            first = (total, leverages, scores)
        difference = max(
            float(np.abs(ours / theirs - 1).max())
            for ours, theirs in ((leverages, first[1]), (scores, first[2]))
        )
        print(
            f"| {device} | {factored - started:.2f} | {levered - factored:.2f} | "
            f"{ended - levered:.2f} | {total:.2f} | {first[0] / total:.1f} | {difference:.0e} |",
            flush=True,
        )


def full_clustering(videos: int, gpu: str) -> None:
    """Time ``cluster()`` on both devices."""
    from howsteps.localise.clustering import cluster  # noqa: PLC0415 - needs Numba
    from howsteps.localise.windows import relax  # noqa: PLC0415

    task = synthetic_task(videos)
    windows, _ = relax(task.windows)
    print(f"\ncluster(), N = {videos}\n| device | s | objective |\n|---|---|---|")
    for device in ("cpu", gpu):
        for _ in range(2):
            started = time.perf_counter()
            result = cluster(task.features, windows, steps=task.steps, device=device)
            seconds = time.perf_counter() - started
        print(f"| {device} | {seconds:.2f} | {result.objective:.9e} |", flush=True)


def main() -> None:
    """Read the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--videos", type=int, nargs="*", default=[30, 100])
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    for videos in arguments.videos:
        backend(videos, arguments.device)
    if find_spec("scipy") and find_spec("numba"):
        for videos in arguments.videos:
            full_clustering(videos, arguments.device)
    else:
        print("\ncluster() was skipped: it needs SciPy and Numba")


if __name__ == "__main__":
    main()
