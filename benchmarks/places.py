"""Accuracy of localisation: ``python -m benchmarks.places [CAPTIONS]``.

CAPTIONS is a folder of task files with ground truth. Prints F1 by the paper's protocol, K ≤ 10,
from captions alone (five subsamples of 30 videos, and all); without CAPTIONS, or with
``--recordings``, on synthetic recordings with features. The script is that of mode ``default``;
``supervised`` learns the true steps from the true intervals of other videos, with the same features
and the same dynamic programme.
"""

import argparse
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.recordings import SETTINGS, recordings
from benchmarks.scripts_judged import draw
from howsteps import datasets
from howsteps.datasets import registry as truths
from howsteps.evaluate import in_truth, paper_f1
from howsteps.localise import localise
from howsteps.localise.order import place_aligned, uniform
from howsteps.narration import extract_relations
from howsteps.narration.features import Vocabulary, video_interval_count
from howsteps.paper.clustering import cluster
from howsteps.paper.localise import localise as cluster_task
from howsteps.paper.methods import supervised
from howsteps.script import discover
from howsteps.task import Localisation, Script, Task, Truth

STEPS, DRAW, DRAWS, SEEDS = 10, 30, 5, 10
SECONDS = 1.0  # baselines on a grid of one second

Features = Mapping[str, NDArray[np.float32]]
Way = Callable[[Task, Script, Features, Truth], tuple[Localisation, ...]]


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("captions", type=Path, nargs="?")
    options.add_argument("--draws", type=int, default=DRAWS)
    options.add_argument("--ways", nargs="+", default=list(ON_CAPTIONS), choices=list(ON_CAPTIONS))
    options.add_argument("--recordings", action="store_true", help="synthetic recordings too")
    chosen = options.parse_args()
    if chosen.captions is None or chosen.recordings:
        on_recordings()
    if chosen.captions is not None:
        on_captions(chosen.captions, chosen.draws, chosen.ways)


def on_recordings() -> None:
    """Print F1 on synthetic recordings, with features."""
    print("| synthetic recordings | way | F1 | s |\n|---|---|---|---|")
    for name, setting in SETTINGS.items():
        drawn = [recordings(setting, seed=seed) for seed in range(SEEDS)]
        for way, call in ON_RECORDINGS.items():
            started = time.process_time()
            scores = [
                f1(call(one.task, one.script, one.features, one.truth), one.truth, one.script)
                for one in drawn
            ]
            spent = (time.process_time() - started) / len(drawn)
            print(f"| {name} | {way} | {np.mean(scores):.3f} | {spent:.1f} |", flush=True)


def on_captions(folder: Path, draws_of_30: int, ways: list[str]) -> None:
    """Print F1 on real captions, without video features."""
    print("\n| task | videos | way | F1 | s |\n|---|---|---|---|---|")
    for path in sorted(folder.glob("*.json")):
        [captioned] = datasets.read_tasks(path).tasks
        [task_truth] = truths.read_truth(path)
        narrated = extract_relations(captioned)
        for n_videos, draws in ((DRAW, draws_of_30), (len(narrated.videos), 1)):
            tasks = [draw(narrated, n_videos, seed) for seed in range(draws)]
            scripts = [discover(task, steps=STEPS) for task in tasks]
            for way in ways:
                started = time.process_time()
                scores = []
                for task, script in zip(tasks, scripts, strict=True):
                    truth = among(task_truth, task)
                    scores.append(f1(ON_CAPTIONS[way](task, script, {}, truth), truth, script))
                spent = (time.process_time() - started) / draws
                cells = f"{narrated.name} | {n_videos} | {way} | {np.mean(scores):.3f}"
                print(f"| {cells} | {spent:.1f} |", flush=True)


def f1(found: tuple[Localisation, ...], truth: Truth, script: Script) -> float:
    """F1 by the paper's protocol."""
    steps = max([len(script.steps), *(localisation.step + 1 for localisation in found)])
    return paper_f1(in_truth(found, truth), truth, steps=steps).f1


def among(truth: Truth, task: Task) -> Truth:
    """Restrict the truth to the videos of a subsample."""
    videos = {video.id for video in task.videos}
    return replace(
        truth,
        annotations=tuple(a for a in truth.annotations if a.video in videos),
        durations={name: length for name, length in truth.durations.items() if name in videos},
    )


def spread_evenly(
    task: Task, script: Script, features: Features, truth: Truth
) -> tuple[Localisation, ...]:
    """Spread the steps evenly over each video."""
    return in_seconds(task, uniform(lengths(task), len(script.steps)))


def after_mentions(
    task: Task, script: Script, features: Features, truth: Truth, lag: float = 2.0
) -> tuple[Localisation, ...]:
    """Place steps two seconds after their first mention, and others between their neighbours."""
    mentioned = [
        sorted(
            ((m.start + m.end) / 2 + lag, k)
            for k, step in enumerate(script.steps)
            for m in step.mentions
            if m.video == video.id
        )
        for video in task.videos
    ]
    counts = lengths(task)
    places = place_aligned(
        [np.array([k for _, k in row], np.int64) for row in mentioned],
        [
            np.array([min(int(t / SECONDS), count - 1) for t, _ in row], np.int64)
            for row, count in zip(mentioned, counts, strict=True)
        ],
        counts,
        len(script.steps),
    )
    return in_seconds(task, places)


def by_mode(mode: str) -> Way:
    """Return the localisation stage in mode ``default`` or ``paper``."""
    method: Callable[..., Any] = localise if mode == "default" else cluster_task
    return lambda task, script, features, truth: (
        method(task, script, features, seconds=SECONDS if features else 1 / 3).localisations
    )


def clustered(
    task: Task, script: Script, features: Features, truth: Truth
) -> tuple[Localisation, ...]:
    """Cluster with the order constraint only, without the narration."""
    found = cluster([features[v.id] for v in task.videos], steps=len(script.steps))
    return in_seconds(task, found.intervals)


def taught(
    task: Task, script: Script, features: Features, truth: Truth
) -> tuple[Localisation, ...]:
    """Train on the true intervals, in five-fold cross-validation."""
    vocabulary = Vocabulary.of(task.videos)
    x = [
        features[v.id] if features else vocabulary.features(v, count, seconds=SECONDS)
        for v, count in zip(task.videos, lengths(task), strict=True)
    ]
    # The steps are listed in an order that is not always the usual one.
    middle = [
        np.median([a.start / (truth.durations[a.video] or 1.0) for a in truth.annotations
                   if a.step == k] or [1.0])
        for k in range(len(truth.steps))
    ]  # fmt: skip
    rank = np.argsort(np.argsort(middle))
    labels = [np.zeros((len(rows), len(truth.steps)), np.bool_) for rows in x]
    index_of = {video.id: index for index, video in enumerate(task.videos)}
    for a in truth.annotations:
        first, last = int(a.start / SECONDS), int(np.ceil(a.end / SECONDS))
        labels[index_of[a.video]][first:last, rank[a.step]] = True
    places, _ = supervised(x, labels, folds=min(5, len(x)), inner_folds=3)
    return in_seconds(task, places)


def lengths(task: Task) -> list[int]:
    """Return T_n of every video on the grid of the baselines."""
    return [video_interval_count(video, SECONDS) for video in task.videos]


def in_seconds(task: Task, places: NDArray[np.int64]) -> tuple[Localisation, ...]:
    """Convert intervals to localisations."""
    return tuple(
        Localisation(video.id, k, (float(t) + 0.5) * SECONDS)
        for video, row in zip(task.videos, places, strict=True)
        for k, t in enumerate(row)
    )


ON_CAPTIONS: dict[str, Way] = {
    "uniform": spread_evenly,
    "paper": by_mode("paper"),
    "mention + 2 s": after_mentions,
    "default": by_mode("default"),
    "supervised": taught,
}
ON_RECORDINGS: dict[str, Way] = {
    "uniform": spread_evenly,
    "clustering alone": clustered,
    "mention + 2 s": after_mentions,
    "paper": by_mode("paper"),
    "default": by_mode("default"),
    "supervised": taught,
}

if __name__ == "__main__":
    main()
