"""Time and memory of localisation, compared with a plain NumPy version of the paper's algorithm.

``python -m benchmarks.localise`` prints the tables of docs/research/localise.md. The data are
synthetic (:mod:`benchmarks.localise_task`); ratios are of one run on one machine. CPU time is
printed beside wall-clock time, since it depends less on other load of the machine.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.localise_reference import frank_wolfe
from benchmarks.localise_task import SyntheticTask, synthetic_task
from howsteps.paper.clustering import Clustering, cluster
from howsteps.paper.windows import relax


def timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return the result of a call, its wall-clock seconds and its CPU seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    answer = call()
    return answer, time.perf_counter() - wall, time.process_time() - processor


def warm_up() -> None:
    """Compile (or load) every loop on a small task, so that no timing includes compilation."""
    small = synthetic_task(4, steps=3, shortest=40, longest=50, seed=1)
    # Fewer features than intervals, and sparse, as at the real sizes.
    narrow = [x[:, :100] for x in small.features]
    for solver in ("frank-wolfe", "descent"):
        cluster(narrow, small.windows, steps=3, solver=solver)


def accuracy(task: SyntheticTask, places: np.ndarray) -> float:
    """Return the share of present steps that are placed within five intervals of their middle."""
    present = task.truth >= 0
    return float((np.abs(places - task.truth)[present] <= 5).mean())


def paper_size(iterations: int) -> None:
    """Compare the solvers with the reference at the size of the paper's tasks."""
    task = synthetic_task(30)
    windows, opened = relax(task.windows)
    filled = np.mean([np.count_nonzero(x) / x.size for x in task.features])
    print(
        f"\nPaper size: N = 30, T = {task.intervals}, d = 3000 ({filled:.1%} non-zero), K = 10, "
        f"{len(opened)} windows opened; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    print("| solver | wall s | processor s | objective | relaxed | relative gap | found |")
    print("|---|---|---|---|---|---|---|")
    ours: dict[str, tuple[float, float]] = {}
    for name, options in (
        ("Frank-Wolfe", {}),
        ("Frank-Wolfe, 650", {"iterations": 650}),
        ("descent, one start", {"solver": "descent", "starts": 1}),
        ("descent", {"solver": "descent"}),
    ):
        result, wall, processor = timed(
            lambda options=options: cluster(task.features, windows, steps=10, **options)
        )
        ours[name] = (wall, processor)
        print(row(name, wall, processor, result, accuracy(task, result.intervals)))
    dense = [x + np.float32(1e-6) for x in task.features]
    result, wall, processor = timed(lambda: cluster(dense, windows, steps=10))
    print(row("Frank-Wolfe, no zeros", wall, processor, result, accuracy(task, result.intervals)))
    if not iterations:
        return
    reference, wall, processor = timed(
        lambda: frank_wolfe(task.features, list(windows), bias=10.0, iterations=iterations)
    )
    print(
        f"| reference, {iterations} | {wall:.1f} | {processor:.1f} | {reference.best:.6e} | "
        f"{reference.relaxed:.4e} | {reference.gap / reference.relaxed:.1e} | |"
    )
    for name, (our_wall, our_processor) in ours.items():
        print(
            f"reference / {name}: {wall / our_wall:.0f} times in wall-clock seconds, "
            f"{processor / our_processor:.0f} times in processor seconds"
        )


def row(name: str, wall: float, processor: float, result: Clustering, found: float) -> str:
    """Format one row of the table."""
    relaxed = "" if result.relaxed_objective is None else f"{result.relaxed_objective:.4e}"
    gap = ""
    if result.relaxed_objective is not None and result.duality_gap is not None:
        gap = f"{result.duality_gap / result.relaxed_objective:.1e}"
    return (
        f"| {name} | {wall:.1f} | {processor:.1f} | {result.objective:.6e} | {relaxed} | {gap} | "
        f"{found:.0%} |"
    )


def growth(sizes: list[int]) -> None:
    """Time and memory of the default as videos are added, each size in its own process."""
    print("\nGrowth of the default (features mapped from disk where N > 30)")
    print("| N | T | features | wall s | processor s | ms an interval | memory | of features |")
    print("|---|---|---|---|---|---|---|---|")
    for videos in sizes:
        with tempfile.TemporaryDirectory() as folder:
            # Two processes, so that the peak memory of generation does not hide that of solving.
            for what in ("--draw", "--one"):
                command = [sys.executable, "-m", "benchmarks.localise", what, str(videos), folder]
                done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        size = json.loads(done.stdout)
        print(
            f"| {videos} | {size['intervals']} | {size['features'] / 2**20:.0f} MiB | "
            f"{size['wall']:.1f} | {size['processor']:.1f} | "
            f"{1000 * size['processor'] / size['intervals']:.2f} | "
            f"{size['memory'] / 2**20:.0f} MiB | {size['memory'] / size['features']:.2f} |",
            flush=True,
        )


def draw(videos: int, folder: Path) -> None:
    """Write the features and windows of a task."""
    task = synthetic_task(videos, folder=folder)
    np.savez(folder / "windows.npz", *task.windows)


def one_size(videos: int, folder: Path) -> None:
    """Measure one size; memory is the peak minus what the process held before the features."""
    with np.load(folder / "windows.npz") as arrays:
        windows = [arrays[name] for name in arrays.files]
    warm_up()
    before = resident()
    mapping = "r" if videos > 30 else None
    features = [np.load(path, mmap_mode=mapping) for path in sorted(folder.glob("*.npy"))]
    result, wall, processor = timed(lambda: cluster(features, windows, steps=10))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        json.dumps(
            {
                "intervals": sum(len(x) for x in features),
                "features": sum(x.nbytes for x in features),
                "wall": wall,
                "processor": processor,
                "memory": peak - before,
                "objective": result.objective,
            }
        )
    )


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def main() -> None:
    """Read the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--videos", type=int, nargs="*", default=[30, 100, 300])
    parser.add_argument(
        "--reference", type=int, default=650, help="iterations of the reference; 0: skip it"
    )
    parser.add_argument("--one", nargs=2, metavar=("N", "FOLDER"), help=argparse.SUPPRESS)
    parser.add_argument("--draw", nargs=2, metavar=("N", "FOLDER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.draw:
        draw(int(arguments.draw[0]), Path(arguments.draw[1]))
        return
    if arguments.one:
        one_size(int(arguments.one[0]), Path(arguments.one[1]))
        return
    warm_up()
    growth(arguments.videos)
    paper_size(arguments.reference)


if __name__ == "__main__":
    main()
