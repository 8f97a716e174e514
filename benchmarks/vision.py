"""Speed of feature extraction, compared with a naive implementation.

``python -m benchmarks.vision`` renders videos (or takes those of ``--film``) and prints Markdown.
The naive implementation is one process, frame by frame: Farneback flow and trajectories at full
resolution, the network layer by layer in float32, nearest centres by scikit-learn. ``--memory 2
60`` adds the peak memory for videos of 2 and 60 minutes.
"""

import argparse
import resource
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import av
import cv2
import numpy as np
import torch

from benchmarks.film import render, repeat
from howsteps.paper.motion import TrajectoryExtractor
from howsteps.paper.vgg16 import prepare
from howsteps.paper.visual_words import Codebook, MotionOptions, VisualWords, dequantise, quantise
from howsteps.pipeline.cache import Cache
from howsteps.pipeline.context import Context
from howsteps.pipeline.executor import cores
from howsteps.pipeline.features import features_of
from howsteps.task import Video
from howsteps.vision.features import QUICK, Features, Method, PooledFrames
from training.network import EfficientNetLite0, checkpoint


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
        context = Context(Cache(Path(folder)), workers=cores())
        seen = features_of(videos, method or PooledFrames(), context)
        wall, processor = time.perf_counter() - started, processor_seconds() - used
    assert len(seen.vectors) == len(films), seen.problems
    return Timing(sum(seen.durations.values()), wall, processor), seen


def obvious(film: Path, frames: int, words: Mapping[str, Codebook]) -> Timing:
    """Time the naive implementation."""
    from sklearn.cluster import KMeans  # noqa: PLC0415

    cv2.setNumThreads(cores())
    torch.set_num_threads(cores())
    shown = 0
    motion = TrajectoryExtractor(MotionOptions(pixels=1280 * 720))
    module = EfficientNetLite0()
    path = checkpoint()
    module.load_state_dict(
        {k: v for k, v in torch.load(path, weights_only=True).items() if k in module.state_dict()}
    )
    network = prepare(module)  # normalised otherwise than it was trained: as fast
    centres = {}
    for kind, vocabulary in words.items():
        centres[kind] = KMeans(len(vocabulary), init=vocabulary.centres, n_init=1, max_iter=1)
        centres[kind].fit(vocabulary.centres)
    started, used = time.perf_counter(), processor_seconds()
    with av.open(str(film)) as container:
        for frame in container.decode(video=0):
            if shown == frames:
                break
            found = {}
            luma = frame.to_ndarray(format="gray8")
            for tracks in motion.step(luma, shown / 30):
                found["motion"] = quantise(tracks.descriptors)
            if shown % 10 == 5:
                picture = frame.to_ndarray(format="rgb24")
                sizes = ((384, 224), (288, 160))
                maps = [network.describe(cv2.resize(picture, size)[None])[0] for size in sizes]
                found["appearance"] = quantise(np.concatenate(maps))
            for kind, values in found.items():
                centres[kind].predict(dequantise(values))
            shown += 1
    wall, processor = time.perf_counter() - started, processor_seconds() - used
    return Timing(shown / 30, wall, processor)


def words_alone(seen: Features) -> None:
    """Print the speed of quantisation, on random descriptors."""
    rng = np.random.default_rng(0)
    print("\n| words | d | descriptors/s | Gdistances/s |\n|---|---|---|---|")
    for kind, vocabulary in seen.learnt.items():
        size = vocabulary.centres.shape[1]
        points = rng.normal(size=(20_000, size)).astype(np.float32)
        vocabulary.assign(points)
        started = time.perf_counter()
        vocabulary.assign(points)
        rate = len(points) / (time.perf_counter() - started)
        distances = rate * len(vocabulary) / 1e9
        print(f"| {kind}, {len(vocabulary)} | {size} | {rate:,.0f} | {distances:.2f} |")


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
    parser.add_argument(
        "--obvious", type=int, default=90, help="frames of the naive implementation"
    )
    parser.add_argument("--memory", type=float, nargs="*", default=[], metavar="MINUTES")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        films = arguments.film or [
            render(folder / f"{seed}.mp4", arguments.seconds, seed) for seed in (0, 1)
        ]
        _, known = ours(films[:1], method=VisualWords())  # compiles, and gives the codebooks
        words = known.learnt
        pooled, quick = ours(films)[0], ours(films, method=PooledFrames(QUICK))[0]
        first, seen = ours(films, method=VisualWords())
        slow = obvious(films[0], arguments.obvious, words)
        again, _ = ours(films, method=VisualWords())
        print(f"{cores()} cores, {len(films)} films of 720p H.264\n")
        print("| | film s | wall s | × real time | processor s per second of film |")
        print("|---|---|---|---|---|")
        print(pooled.line("default: pooled"))
        print(quick.line("quick: pooled"))
        print(first.line("codewords"))
        print(slow.line("the obvious way"))
        print(again.line("codewords, again"))
        best = (first.film + again.film) / (first.wall + again.wall)
        print(f"\n{best * slow.wall / slow.film:.1f} times the speed of the obvious way")
        words_alone(seen)
        if arguments.memory:
            memory(films[0], arguments.memory, folder)


if __name__ == "__main__":
    main()
