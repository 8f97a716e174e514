"""Very many tasks in one run: ``python -m benchmarks.many_tasks 100 1000 --cluster``.

Each task is small and made up: five narrators, a dozen lines each. With ``--cluster``, the same
tasks run on a Ray cluster of two nodes on this machine as well; one node is killed after a third of
the tasks, and what is written must be the same bytes. Printed: seconds of the clock, and the most
memory that all processes held together (resident, shared pages counted in each).
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

from benchmarks.load import PLACES, TALK, THINGS, VERBS
from benchmarks.many_videos import tree_usage
from howsteps.engine.events import Event, ItemDone
from howsteps.engine.executor import Executor
from howsteps.engine.ray_executor import RayExecutor
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import Run, run

NARRATORS, STEPS, LINES = 5, 6, 12
OPTIONS = RunOptions(vision=False)
ROOM = {"num_cpus": 1, "object_store_memory": 100 << 20, "memory": 8 << 30}


def write_tasks(folder: Path, many: int) -> Path:
    """Write a collection of small tasks."""
    for number in range(many):
        chance = Random(number)  # noqa: S311 - needs no secrets
        job = folder / f"job {number:05}"
        job.mkdir(parents=True)
        steps = list(zip(chance.sample(VERBS, STEPS), chance.sample(THINGS, STEPS), strict=True))
        for narrator in range(NARRATORS):
            lines = [f"{chance.choice(TALK)} {chance.choice(THINGS)}" for _ in range(LINES - STEPS)]
            for place, (verb, thing) in enumerate(steps):
                said = f"now you {verb} the {thing} {chance.choice(PLACES)}"
                lines.insert(2 * place, said)
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
def watched() -> Iterator[list[float]]:
    """The most memory of this process and all that it started: the last entry, in megabytes."""
    peak, over = [0.0], threading.Event()

    def look() -> None:
        while not over.wait(0.5):
            peak[0] = max(peak[0], tree_usage(os.getpid())[0])

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


def measure(
    what: str, source: Path, out: Path, callback: Callable[[Event], None], executor: Executor | None
) -> Run:
    """One run, and a line about it."""
    begun = time.perf_counter()
    with watched() as peak:
        done = run(source, out, OPTIONS, pages=False, callback=callback, executor=executor)
    seconds = time.perf_counter() - begun
    print(f"| {len(done.folders)} | {what} | {seconds:.0f} | {peak[0]:,.0f} |", flush=True)
    return done


def on_a_cluster(source: Path, out: Path, many: int) -> None:
    """The same on two nodes, one of which is killed after a third of the tasks."""
    import ray  # noqa: PLC0415 - an extra
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    nodes = Cluster(initialize_head=True, head_node_args={**ROOM, "include_dashboard": False})
    other: Any = nodes.add_node(**ROOM)
    done = 0

    def kill(event: Event) -> None:
        nonlocal done
        done += isinstance(event, ItemDone) and event.stage == "tasks"
        if done == many // 3 and isinstance(event, ItemDone):
            nodes.remove_node(other, allow_graceful=False)

    try:
        measure("two nodes, one killed", source, out, kill, RayExecutor(nodes.address))
    finally:
        ray.shutdown()
        nodes.shutdown()


def written(folder: Path) -> dict[str, bytes]:
    """All that a run wrote for people and programs."""
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
    for many in chosen.tasks:
        with tempfile.TemporaryDirectory() as place:
            source = write_tasks(Path(place) / "in", many)
            here, there = Path(place) / "here", Path(place) / "there"
            measure("one process", source, here, lambda _: None, None)
            if chosen.cluster:
                on_a_cluster(source, there, many)
                other = written(there)
                same = sum(other.get(name) == content for name, content in written(here).items())
                print(f"{same} of {len(written(here))} files are the same bytes", flush=True)


if __name__ == "__main__":
    main()
