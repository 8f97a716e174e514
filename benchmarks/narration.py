"""Speed of the narration stage: ``python -m benchmarks.narration CAPTIONS``.

Reads every task under a folder of captions, extracts its acts step by step, and prints the share of
each step, words per second, and how memory grows (it should not).
"""

import argparse
import resource
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from howsteps import datasets
from howsteps.captions.words import words_of
from howsteps.narration import parser
from howsteps.narration.mentions import extract_video


def main() -> None:
    """Time the stages and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("captions", type=Path)
    options.add_argument("--parser", help="another spaCy pipeline")
    chosen = options.parse_args()
    seconds: dict[str, float] = defaultdict(float)

    @contextmanager
    def stage(name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        seconds[name] += time.perf_counter() - started

    with stage("load parser"):
        nlp = parser.load_parser(chosen.parser)
    with stage("read files"):
        collection = datasets.read_tasks(chosen.captions)
    memory = [peak_megabytes()]
    words = tokens = found = videos = 0
    for task in collection.tasks:
        with stage("words"):
            streams = [words_of(video.captions) for video in task.videos]
        with stage("parse"):
            parsed = list(parser.parse_narrations(nlp, streams))
        with stage("acts"):
            for video, passages in zip(task.videos, parsed, strict=True):
                found += len(extract_video(video, passages).mentions)
        words += sum(map(len, streams))
        tokens += sum(len(doc) for passages in parsed for _, doc in passages)
        videos += len(task.videos)
        memory.append(peak_megabytes())
    total = sum(seconds.values())
    print(f"{videos} narrations, {words:,} words, {found:,} mentions in {total:.0f} s")
    print(
        f"parser: {tokens / seconds['parse']:,.0f} tokens a second; all: {words / total:,.0f} words"
    )
    print(f"peak memory: {memory[0]:.0f} MB before the first task, {memory[-1]:.0f} MB at the end")
    print("\n| stage | seconds | share |\n|---|---|---|")
    for name, spent in seconds.items():
        print(f"| {name} | {spent:.1f} | {100 * spent / total:.0f} % |")


def peak_megabytes() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
