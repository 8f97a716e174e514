"""Time and memory of the pipeline: ``python -m benchmarks.load``.

With a path, all tasks of captions under it run through the text pipeline, then again with a full
cache. With ``--films``, features of rendered videos of the given lengths in seconds are extracted.
CPU time is printed beside wall-clock time, since it depends less on other load of the machine.
(:mod:`benchmarks.many_tasks` makes up its captions, :mod:`benchmarks.served` loads the live page.)
"""

import argparse
import resource
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from howsteps.io.cache import Cache
from howsteps.pipeline.context import Context, Event, StageBegan, StageEnded
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from howsteps.task import Video


@dataclass
class Stages:
    """Wall-clock seconds, CPU seconds and peak memory of every stage."""

    clock: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    processor: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    megabytes: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    _began: float = 0.0

    def __call__(self, event: Event) -> None:
        """Process an event of a run."""
        if isinstance(event, StageBegan):
            self._began = time.process_time()
        elif isinstance(event, StageEnded):
            self.clock[event.stage] += event.seconds
            self.processor[event.stage] += time.process_time() - self._began
            self.counts[event.stage] += event.total
            self.megabytes[event.stage] = peak_megabytes()


def peak_megabytes() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(source: Path, out: Path) -> Stages:
    """Run the text pipeline on a collection, in this process only."""
    stages = Stages()
    started, spent = time.perf_counter(), time.process_time()
    done = run(source, out, RunOptions(vision=False), pages=False, callback=stages)
    stages.clock["all"] = time.perf_counter() - started
    stages.processor["all"] = time.process_time() - spent
    stages.counts["all"] = len(done.folders)
    stages.megabytes["all"] = peak_megabytes()
    return stages


def of_captions(path: Path) -> None:
    """Measure a run on real captions, and a second one with a full cache."""
    with tempfile.TemporaryDirectory() as out:
        for what in ("first run", "second run"):
            stages = measure(path, Path(out))
            print(f"\n{what}: {stages.counts['all']} tasks with a result")
            print(
                "| stage | items | seconds | processor seconds | peak MB |\n|---|---|---|---|---|"
            )
            for stage in stages.clock:
                cells = (stage, stages.counts[stage], f"{stages.clock[stage]:.0f}")
                more = (f"{stages.processor[stage]:.0f}", f"{stages.megabytes[stage]:.0f}")
                print("| " + " | ".join(map(str, cells + more)) + " |", flush=True)
        size = sum(path.stat().st_size for path in Path(out).rglob("*") if path.is_file())
        print(f"\nthe work folder holds {size / 2**20:.1f} MB")


def films(lengths: list[int]) -> None:
    """Extract features of rendered videos of growing length, by default and quick options."""
    from benchmarks.film import render  # noqa: PLC0415 - needs the extra vision
    from howsteps.pipeline.features import describe_videos, method_of  # noqa: PLC0415

    print("| film, s | options | seconds | processor s | MB kept |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        for length in lengths:
            video = Video("film", media=render(Path(temporary) / f"{length}.mp4", length))
            for name in ("default", "quick"):
                cache = Cache(Path(temporary) / name / str(length))
                started, spent = time.perf_counter(), _children_seconds()
                method = method_of("default", name == "quick")
                describe_videos([video], method, Context(cache))
                clock, spent = time.perf_counter() - started, _children_seconds() - spent
                size = sum(p.stat().st_size for p in cache.folder.rglob("*") if p.is_file())
                cells = (length, name, f"{clock:.0f}", f"{spent:.1f}", f"{size / 2**20:.2f}")
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def _children_seconds() -> float:
    """Return the CPU seconds of child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("captions", type=Path, nargs="?")
    options.add_argument("--films", type=int, nargs="+", default=[])
    chosen = options.parse_args()
    if chosen.captions:
        of_captions(chosen.captions)
    if chosen.films:
        films(chosen.films)


if __name__ == "__main__":
    main()
