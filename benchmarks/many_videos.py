"""One job of many videos: ``python -m benchmarks.many_videos CAPTIONS --videos 250 500 1000``.

The narrations of one task (CAPTIONS, a task file) are varied until there are enough: filler words
are inserted, lines dropped, and times scaled, so that no two are near-duplicates. Each size is a
run on a folder of caption files, with page and exports. Prints for each stage, when it ends:
wall-clock seconds, CPU seconds, and the peak memory of the process tree (resident; shared pages
count in each process); finally, the exponents with which CPU time and memory grow with the size.
``--keep FOLDER`` keeps videos and results, so that a second run finds the narrations in the cache;
``--lines N`` makes short narrations, of N lines each.
"""

import argparse
import io
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from howsteps.datasets import read_tasks
from howsteps.pipeline.context import Event, StageBegan, StageEnded
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from howsteps.task import Caption, Task

FILLERS = "so um now okay right well just like actually basically really there then yeah".split()
FILLED = 0.25  # share of gaps with a filler: two videos then share a tenth of 5-word shingles
LEFT_OUT = 0.1  # share of lines
PACE = 0.15  # maximum deviation of a narrator's pace
SECONDS = 0.5  # between two measurements of memory


def reworded(captions: Sequence[Caption], rng: Random, lines: int | None = None) -> list[Caption]:
    """Return captions with filler words, some lines missing, at another pace; at most ``lines``."""
    pace = 1.0 + PACE * (2 * rng.random() - 1)
    if lines and lines < len(captions):
        first = rng.randrange(len(captions) - lines + 1)
        begin = captions[first].start
        captions = [
            Caption(a.start - begin, a.end - begin, a.text) for a in captions[first : first + lines]
        ]
    kept = [line for line in captions if rng.random() >= LEFT_OUT]
    return [Caption(pace * a.start, pace * a.end, _filled(a.text, rng)) for a in kept]


def _filled(text: str, rng: Random) -> str:
    words: list[str] = []
    for word in text.split():
        if rng.random() < FILLED:
            words.append(rng.choice(FILLERS))
        words.append(word)
    return " ".join(words)


def write_videos(task: Task, folder: Path, count: int, lines: int | None = None) -> Path:
    """Write ``count`` caption files of a job, and return their folder."""
    job = folder / task.name
    job.mkdir(parents=True, exist_ok=True)
    narrated = [video for video in task.videos if video.captions]
    for number in range(count):
        video = narrated[number % len(narrated)]
        said = reworded(video.captions, Random(number), lines)  # noqa: S311 - not cryptography
        cues = (
            f"{n}\n{_clock(a.start)} --> {_clock(a.end)}\n{a.text}\n" for n, a in enumerate(said)
        )
        (job / f"{number:05} {video.id}.srt").write_text("\n".join(cues), "utf-8")
    return job


def _clock(seconds: float) -> str:
    total, thousandths = divmod(round(1000 * seconds), 1000)
    return f"{total // 3600:02}:{total // 60 % 60:02}:{total % 60:02},{thousandths:03}"


class Cost(NamedTuple):
    """Wall-clock seconds, CPU seconds and peak memory of a stage."""

    seconds: float
    processor: float
    megabytes: float


def measure(job: Path, out: Path, workers: int) -> dict[str, Cost]:
    """Run a job in its own process; return the cost of each stage, and of all of them."""
    command = [sys.executable, "-m", "benchmarks.many_videos", "--workers", str(workers)]
    command += ["--run", str(job), str(out)]
    costs: dict[str, Cost] = {}
    already = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    started = before = time.perf_counter()
    used, stage, peak, highest = 0.0, "read", 0.0, 0.0
    with subprocess.Popen(  # noqa: S603 - our own interpreter
        command, stdout=subprocess.PIPE, text=True
    ) as process:
        lines: list[str] = []
        output = process.stdout or io.StringIO()
        reader = threading.Thread(target=lambda: lines.extend(iter(output.readline, "")))
        reader.start()
        while reader.is_alive() or lines:
            reader.join(SECONDS)
            peak = max(peak, tree_usage(process.pid)[0])
            while lines:
                event = json.loads(lines.pop(0))
                now, total = time.perf_counter(), tree_usage(process.pid)[1]
                highest = max(highest, peak)
                former = costs.get(stage, Cost(0.0, 0.0, 0.0))
                costs[stage] = Cost(
                    former.seconds + now - before,
                    former.processor + total - used,
                    max(former.megabytes, peak),
                )
                used = total
                print(f"{stage}: {_cell(costs[stage])}", file=sys.stderr, flush=True)
                stage, before, peak = event, now, 0.0
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    total = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - already
    costs[stage] = Cost(time.perf_counter() - before, total - used, peak)
    costs["all"] = Cost(time.perf_counter() - started, total, max(highest, peak))
    return costs


def _cell(cost: Cost) -> str:
    return f"{cost.seconds:.0f} s ({cost.processor:.0f} s), {cost.megabytes:,.0f} MB"


def tree_usage(root: int) -> tuple[float, float]:
    """Return resident memory in MB and CPU seconds of a process and its descendants."""
    parents: dict[int, int] = {}
    pages: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                pages[int(entry.name)] = int((entry / "statm").read_text().split()[1])
            except OSError:  # it ended meanwhile
                continue
            parents[int(entry.name)] = int(fields[1])
            ticks[int(entry.name)] = sum(map(int, fields[11:15]))  # of ended children too
    tree = {root}
    while more := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= more
    seconds = sum(ticks.get(pid, 0) for pid in tree) / os.sysconf("SC_CLK_TCK")
    return sum(pages.get(pid, 0) for pid in tree) * 4096 / 2**20, seconds


def run_and_report(job: Path, out: Path, workers: int) -> None:
    """Run a job, and print the name of every stage that begins; writing files is a stage here."""

    def report(event: Event) -> None:
        if isinstance(event, StageBegan | StageEnded):
            ended = {
                "read": "narration",
                "narration": "relevance",
                "script": "script files",
                "localise": "page, files",
            }
            name = event.stage if isinstance(event, StageBegan) else ended.get(event.stage, "rest")
            print(json.dumps(name), flush=True)

    run(job, out, RunOptions(vision=False), workers=workers, callback=report)


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Fit the exponent b of value = a·size^b by least squares of the logarithms."""
    x, y = [math.log(size) for size in sizes], [math.log(max(value, 1e-3)) for value in values]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    covariance = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return covariance / sum((a - mean_x) ** 2 for a in x)


def print_table(found: dict[int, dict[str, Cost]]) -> None:
    """Print time and memory of every stage and size, and how they grow."""
    sizes = sorted(found)
    growth = ("processor time grows as N to the", "memory") if len(sizes) > 1 else ()
    heading = ("stage", *(f"{size:,} videos" for size in sizes), *growth)
    print("| " + " | ".join(heading) + " |\n" + "|---" * len(heading) + "|")
    for stage in found[sizes[0]]:
        costs = [found[size].get(stage, Cost(0, 0, 0)) for size in sizes]
        cells = [stage, *map(_cell, costs)]
        if growth:
            cells.append(f"{exponent(sizes, [c.processor for c in costs]):.2f}")
            cells.append(f"{exponent(sizes, [c.megabytes for c in costs]):.2f}")
        print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("captions", type=Path, nargs="?", help="a task file or folder")
    options.add_argument("--videos", type=int, nargs="+", default=[250, 500, 1000])
    options.add_argument("--keep", type=Path, help="a folder for videos and results")
    options.add_argument("--lines", type=int, help="lines of a narration; by default all")
    options.add_argument("--workers", type=int, default=1, help="processes for the narrations")
    options.add_argument("--run", type=Path, nargs=2, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.run:
        run_and_report(*chosen.run, chosen.workers)
        return
    [task] = read_tasks(chosen.captions).tasks
    found = {}
    with tempfile.TemporaryDirectory() as temporary:
        for size in chosen.videos:
            folder = (chosen.keep or Path(temporary)) / str(size)
            job = write_videos(task, folder / "in", size, chosen.lines)
            found[size] = measure(job, folder / "out", chosen.workers)
    print_table(found)


if __name__ == "__main__":
    main()
