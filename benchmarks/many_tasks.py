"""Many tasks in one run: ``python -m benchmarks.many_tasks 100 1000 --cluster``.

Each task is small and synthetic: five narrators, a dozen lines each. With ``--cluster``, the same
tasks also run on a local Ray cluster of two nodes, one of which is killed after a third of the
tasks; the output must be identical. Prints wall-clock seconds, and the peak memory of all processes
together (resident; shared pages count in each).
"""

import argparse
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.many_videos import tree_usage
from howsteps.pipeline.context import Event, ItemDone
from howsteps.pipeline.executor import Executor, RayExecutor
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import Run, run

VERBS = "fill lift wash cut drill glue clean paint sand oil fold press turn heat cool mix".split()
THINGS = "bucket board wheel pipe frame handle screw brush sheet panel bowl cloth lamp hose".split()
PLACES = ("on the table", "very slowly", "with some care", "from the left side", "by hand")
TALK = (
    "so that is how it looks right now",
    "if you like this kind of thing let me know",
    "we have been here for quite a while",
    "that was not so hard was it",
)
NARRATORS, STEPS, LINES = 5, 6, 12
OPTIONS = RunOptions(vision=False)
ROOM = {"num_cpus": 1, "object_store_memory": 100 << 20, "memory": 8 << 30}


def write_tasks(folder: Path, count: int, narrators: int = NARRATORS) -> Path:
    """Write a collection of small tasks."""
    for number in range(count):
        rng = Random(number)  # noqa: S311 - not cryptography
        job = folder / f"job {number:05}"
        job.mkdir(parents=True)
        steps = list(zip(rng.sample(VERBS, STEPS), rng.sample(THINGS, STEPS), strict=True))
        for narrator in range(narrators):
            lines = [f"{rng.choice(TALK)} {rng.choice(THINGS)}" for _ in range(LINES - STEPS)]
            for index, (verb, noun) in enumerate(steps):
                sentence = f"now you {verb} the {noun} {rng.choice(PLACES)}"
                lines.insert(2 * index, sentence)
            (job / f"v{narrator}.srt").write_text(_subrip(lines), "utf-8")
    return folder


def _subrip(lines: list[str]) -> str:
    return "\n".join(
        f"{n + 1}\n{_clock(6 * n)} --> {_clock(6 * n + 5)}\n{line}\n"
        for n, line in enumerate(lines)
    )


def _clock(seconds: int) -> str:
    return f"00:{seconds // 60:02}:{seconds % 60:02},000"


@contextmanager
def peak_memory() -> Iterator[list[float]]:
    """Measure the peak memory of this process and its descendants, as the only entry, in MB."""
    peak, done = [0.0], threading.Event()

    def poll() -> None:
        while not done.wait(0.5):
            peak[0] = max(peak[0], tree_usage(os.getpid())[0])

    thread = threading.Thread(target=poll, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def measure(
    what: str, source: Path, out: Path, callback: Callable[[Event], None], executor: Executor | None
) -> Run:
    """Run the tasks, and print one row."""
    started = time.perf_counter()
    with peak_memory() as peak:
        done = run(source, out, OPTIONS, pages=False, callback=callback, executor=executor)
    seconds = time.perf_counter() - started
    print(f"| {len(done.folders)} | {what} | {seconds:.0f} | {peak[0]:,.0f} |", flush=True)
    return done


def run_on_cluster(source: Path, out: Path, count: int) -> None:
    """Run the tasks on two nodes, one of which is killed after a third of them."""
    import ray  # noqa: PLC0415 - an extra
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    nodes = Cluster(initialize_head=True, head_node_args={**ROOM, "include_dashboard": False})
    other: Any = nodes.add_node(**ROOM)
    done = 0

    def kill(event: Event) -> None:
        nonlocal done
        done += isinstance(event, ItemDone) and event.stage == "tasks"
        if done == count // 3 and isinstance(event, ItemDone):
            nodes.remove_node(other, allow_graceful=False)

    try:
        measure("two nodes, one killed", source, out, kill, RayExecutor(nodes.address))
    finally:
        ray.shutdown()
        nodes.shutdown()


def written(folder: Path) -> dict[str, bytes]:
    """Return the output files of a run, without the cache."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "cache" not in path.relative_to(folder).parts
    }


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("tasks", type=int, nargs="+")
    options.add_argument("--cluster", action="store_true")
    chosen = options.parse_args()
    print("| tasks done | on | seconds | peak MB |\n|---|---|---|---|")
    for count in chosen.tasks:
        with tempfile.TemporaryDirectory() as temporary:
            source = write_tasks(Path(temporary) / "in", count)
            local, cluster = Path(temporary) / "local", Path(temporary) / "cluster"
            measure("one process", source, local, lambda _: None, None)
            if chosen.cluster:
                run_on_cluster(source, cluster, count)
                files, expected = written(cluster), written(local)
                same = sum(files.get(name) == content for name, content in expected.items())
                print(f"{same} of {len(expected)} files are identical", flush=True)


if __name__ == "__main__":
    main()
