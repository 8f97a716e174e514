"""Time and memory of the pipeline: ``python -m benchmarks.load``.

With a path, all tasks of captions under it run through the text pipeline, then again with a full
cache. With ``--tasks``, synthetic collections of growing size do, each in its own process. With
``--films``, features of rendered videos of the given lengths in seconds are extracted. CPU time is
printed beside wall-clock time, since it depends less on other load of the machine.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from howsteps.pipeline.cache import Cache
from howsteps.pipeline.context import Context
from howsteps.pipeline.events import Event, StageBegan, StageEnded
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from howsteps.task import Video

VERBS = "fill lift wash cut drill glue clean paint sand oil fold press turn heat cool mix".split()
THINGS = "bucket board wheel pipe frame handle screw brush sheet panel bowl cloth lamp hose".split()
PLACES = ("on the table", "very slowly", "with some care", "from the left side", "by hand")
TALK = (
    "so that is how it looks right now",
    "if you like this kind of thing let me know",
    "we have been here for quite a while",
    "that was not so hard was it",
)
STEPS, LINES, NARRATIONS = 10, 40, 30


def made_up(folder: Path, tasks: int, seed: int = 0) -> None:
    """Write a collection: jobs of ten steps, each with thirty narrations that contain talk."""
    rng = Random(seed)  # noqa: S311 - not cryptography
    for number in range(tasks):
        job = folder / f"job{number:04}"
        job.mkdir(parents=True)
        steps = [(rng.choice(VERBS), rng.choice(THINGS)) for _ in range(STEPS)]
        for video in range(NARRATIONS):
            (job / f"v{video:02}.srt").write_text(_narration(steps, rng))


def _narration(steps: list[tuple[str, str]], rng: Random) -> str:
    lines = [rng.choice(TALK) for _ in range(LINES - STEPS)]
    indices = sorted(rng.sample(range(LINES), STEPS))
    for (verb, noun), index in zip(steps, indices, strict=True):
        sentence = f"now you {verb} the {noun} {rng.choice(PLACES)}"
        lines.insert(index, rng.choice(TALK) if rng.random() < 0.2 else sentence)
    return "".join(
        f"{n}\n{_clock(6 * n)} --> {_clock(6 * n + 5)}\n{line}\n\n" for n, line in enumerate(lines)
    )


def _clock(seconds: int) -> str:
    return f"00:{seconds // 60:02}:{seconds % 60:02},000"


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


def measure(source: Path, out: Path, results: Connection | None = None) -> Stages:
    """Run the text pipeline on a collection, in this process only."""
    stages = Stages()
    started, spent = time.perf_counter(), time.process_time()
    done = run(source, out, RunOptions(vision=False), pages=False, callback=stages)
    stages.clock["all"] = time.perf_counter() - started
    stages.processor["all"] = time.process_time() - spent
    stages.counts["all"] = len(done.folders)
    stages.megabytes["all"] = peak_megabytes()
    if results is not None:
        results.send([dict(stages.clock), dict(stages.processor), stages.megabytes])
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


def growth(sizes: list[int]) -> None:
    """Measure collections of growing size, each in a fresh process."""
    heading = ("tasks", "narrations", "seconds", "processor s", "s a task", "peak MB")
    print("| " + " | ".join(heading) + " |\n" + "|---" * len(heading) + "|")
    context = multiprocessing.get_context("spawn")
    for size in sizes:
        with tempfile.TemporaryDirectory() as temporary:
            made_up(Path(temporary) / "in", size)
            receive, send = context.Pipe(duplex=False)
            args = (Path(temporary) / "in", Path(temporary) / "out", send)
            process = context.Process(target=measure, args=args)
            process.start()
            send.close()  # so that recv() fails if the child dies
            clock, processor, megabytes = receive.recv()
            process.join()
        spent = processor["all"]
        cells = (size, size * NARRATIONS, f"{clock['all']:.0f}", f"{spent:.0f}")
        more = (f"{spent / size:.2f}", f"{megabytes['all']:.0f}")
        print("| " + " | ".join(map(str, cells + more)) + " |", flush=True)


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
    options.add_argument("--tasks", type=int, nargs="+", default=[])
    options.add_argument("--films", type=int, nargs="+", default=[])
    chosen = options.parse_args()
    if chosen.captions:
        of_captions(chosen.captions)
    if chosen.tasks:
        growth(chosen.tasks)
    if chosen.films:
        films(chosen.films)


if __name__ == "__main__":
    main()
