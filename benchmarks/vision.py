"""Speed of feature extraction: ``python -m benchmarks.vision``.

Renders videos (or takes those of ``--film``) and prints Markdown. ``--memory 2 60`` adds the peak
memory for videos of 2 and 60 minutes.
"""

import argparse
import resource
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import av

from benchmarks.film import render, repeat
from howsteps.io.cache import Cache
from howsteps.pipeline.context import Context
from howsteps.pipeline.executor import LocalExecutor, cores
from howsteps.pipeline.features import features_of
from howsteps.task import Video
from howsteps.vision.features import QUICK, Features, Method, PooledFrames


@dataclass(frozen=True)
class Timing:
    """Seconds of video, wall-clock seconds, and CPU seconds."""

    film: float
    wall: float
    processor: float

    def line(self, name: str) -> str:
        """Format one row of the table."""
        return (
            f"| {name} | {self.film:.0f} | {self.wall:.1f} | {self.film / self.wall:.2f} | "
            f"{self.processor / self.film:.2f} |"
        )


def processor_seconds() -> float:
    """Return the CPU seconds of this process and of its ended children."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    uses = [resource.getrusage(kind) for kind in kinds]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def ours(films: list[Path], method: Method | None = None) -> tuple[Timing, Features]:
    """Time ``features_of`` with an empty cache."""
    videos = [Video(path.stem, media=path) for path in films]
    with tempfile.TemporaryDirectory() as folder:
        started, used = time.perf_counter(), processor_seconds()
        context = Context(Cache(Path(folder)), LocalExecutor(cores()))
        seen = features_of(videos, method or PooledFrames(), context)
        wall, processor = time.perf_counter() - started, processor_seconds() - used
    assert len(seen.vectors) == len(films), seen.problems
    return Timing(sum(seen.durations.values()), wall, processor), seen


def memory(film: Path, minutes: list[float], folder: Path) -> None:
    """Print the peak memory of the worker process for videos of increasing length."""
    print("\n| film | peak memory of the process that watches it |\n|---|---|", flush=True)
    with av.open(str(film)) as container:
        length = container.duration / av.time_base
    for length_minutes in sorted(minutes):
        long = repeat(
            film, folder / f"{length_minutes}.mp4", max(1, round(60 * length_minutes / length))
        )
        peaks, stop = [0], threading.Event()
        watcher = threading.Thread(target=_note_peaks, args=(peaks, stop))
        watcher.start()
        timing, _ = ours([long])
        stop.set()
        watcher.join()
        print(f"| {timing.film / 60:.0f} min | {max(peaks) / 2**20:.2f} GiB |", flush=True)


def _note_peaks(peaks: list[int], stop: threading.Event) -> None:
    """Append the peak memory of child processes in KiB until ``stop`` is set.

    For a process that has ended, the system's figure includes the memory of its parent.
    """
    while not stop.wait(0.2):
        for path in Path("/proc/self/task").glob("*/children"):
            for child in path.read_text("ascii").split():
                with suppress(OSError):
                    lines = Path(f"/proc/{child}/status").read_text("ascii").splitlines()
                    peaks += [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]


def main() -> None:
    """Read the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--film", type=Path, nargs="*", help="videos to use instead of rendered ones"
    )
    parser.add_argument("--seconds", type=float, default=30.0, help="length of each rendered video")
    parser.add_argument("--memory", type=float, nargs="*", default=[], metavar="MINUTES")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        films = arguments.film or [
            render(folder / f"{seed}.mp4", arguments.seconds, seed) for seed in (0, 1)
        ]
        ours(films[:1])  # compiles
        print(f"{cores()} cores, {len(films)} films of 720p H.264\n")
        print("| | film s | wall s | × real time | processor s per second of film |")
        print("|---|---|---|---|---|")
        for name, method in {"default": PooledFrames(), "quick": PooledFrames(QUICK)}.items():
            print(ours(films, method)[0].line(name))
        if arguments.memory:
            memory(films[0], arguments.memory, folder)


if __name__ == "__main__":
    main()
