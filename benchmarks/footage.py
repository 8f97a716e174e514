"""Accuracy with and without visual features on footage: ``python -m benchmarks.footage VIDEOS``.

VIDEOS is a folder of video files; beside it are ``VIDEOS.steps.csv`` (step, name) and
``VIDEOS.truth.csv`` (video, step, start, end), unless ``--steps`` and ``--truth`` are given. The
footage has no narration, so one is simulated: each step is mentioned with some probability, at a
random lag before it begins; five random draws each. Prints F1 by the paper's protocol with the true
steps given, and with the script discovered in the same narration. That protocol matches steps
freely, which flatters weak methods; with the true steps given there is also F1 *by identity*, and
the share right of the steps that are in a video and named there, and of those that are not named.

``apply`` learns from all people but one, and localises the steps in the video of that one without
captions. ``supervised`` learns from the true intervals of all people but one. ``--features
NAME=FOLDER`` adds external features (``VIDEO.npy``, three rows per second).
"""

import argparse
import csv
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.places import after_mentions, spread_evenly
from howsteps.evaluate import paper_f1
from howsteps.io.cache import Cache
from howsteps.localise import localise
from howsteps.localise.decision import decide
from howsteps.localise.evidence import SegmentPrior, standardised
from howsteps.localise.ridge import LeaveOneOut
from howsteps.localise.self_training import KINDS as FEATURE_KINDS
from howsteps.localise.self_training import REGULARISATION
from howsteps.narration import extract_relations
from howsteps.paper.localise import localise as cluster_task
from howsteps.pipeline.context import Context
from howsteps.pipeline.executor import LocalExecutor, cores
from howsteps.pipeline.features import features_of
from howsteps.script import discover
from howsteps.script.matching import spoken_by_video
from howsteps.task import (
    Annotation,
    Caption,
    Localisation,
    Mention,
    Script,
    Step,
    Task,
    Truth,
    Video,
)
from howsteps.vision.features import QUICK, PooledFrames

SECONDS = 1 / 3
DRAWS, SHARES, LAGS = 5, (0.6, 0.9), (0.0, 2.0)
TAUGHT = 1.5  # mean standardised score of a classifier of true intervals inside its step
SPREAD, LASTS = 1.5, 2.2  # seconds: standard deviation of the lag, and length of a mention
KINDS = {
    "pooled": PooledFrames(),
    "quick": PooledFrames(QUICK),
}

Features = dict[str, NDArray[np.float32]]
Found = tuple[Localisation, ...]
Way = Callable[[Task, Script], Found]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("videos", type=Path)
    parser.add_argument("--steps", type=Path)
    parser.add_argument("--truth", type=Path)
    parser.add_argument("--title", help="name of the job; default: name of the folder")
    parser.add_argument("--kinds", nargs="*", default=["pooled"], choices=list(KINDS))
    parser.add_argument("--features", nargs="*", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--cache", type=Path, default=Path("build/footage"))
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--paper", action="store_true", help="also run the paper's localiser: slow")
    parser.add_argument("--no-script", action="store_true", help="only with the true steps")
    chosen = parser.parse_args()
    folder: Path = chosen.videos
    steps = chosen.steps or folder.with_name(f"{folder.name}.steps.csv")
    truth = read_truth(steps, chosen.truth or folder.with_name(f"{folder.name}.truth.csv"))
    title = chosen.title or folder.name.replace("_", " ")
    videos = [Video(p.stem, media=p) for p in sorted(folder.iterdir()) if p.stem in truth.durations]
    seen: dict[str, Features] = {}
    for kind in chosen.kinds:
        context = Context(Cache(chosen.cache), LocalExecutor(cores()))
        looked = features_of(videos, KINDS[kind], context)
        seen[kind] = looked.vectors
        truth = replace(truth, durations=looked.durations)
    for text in chosen.features:
        name, _, where = text.partition("=")
        seen[name] = {v.id: np.load(Path(where) / f"{v.id}.npy") for v in videos}
    if not any(truth.durations.values()):
        lengths = {video: SECONDS * len(rows) for video, rows in next(iter(seen.values())).items()}
        truth = replace(truth, durations=lengths)
    ways = list(ways_of(seen, truth, paper=chosen.paper))
    columns = [f"{share:.0%}, {lag:g} s" for share, lag in settings()] + ["mean"]
    more = ["by identity", "named, right", "not named, right"]
    print(f"| true steps given | {' | '.join(columns + more)} |")
    print("|---|" + "---|" * len(columns + more))
    table(ways, truth, title, chosen.draws, given=True)
    if not chosen.no_script:
        print(f"\n| script found | {' | '.join(columns)} |")
        print("|---|" + "---|" * len(columns))
        table(ways, truth, title, chosen.draws, given=False)


def settings() -> list[tuple[float, float]]:
    """Return the settings: share of the steps that are mentioned, and mean lag in seconds."""
    return [(share, lag) for share in SHARES for lag in LAGS]


def table(
    ways: list[tuple[str, Way]], truth: Truth, title: str, draws: int, *, given: bool
) -> None:
    """Print one row for each method, one column for each setting, and the mean."""
    narrations = [
        [narrated(truth, title, share, lag, seed) for seed in range(draws)]
        for share, lag in settings()
    ]
    if not given:
        narrations = [
            [found_script(task, len(truth.steps)) for task, _ in column] for column in narrations
        ]
    for name, way in ways:
        if not given and name == "supervised":
            continue
        means, rights = [], []
        for column in narrations:
            found = [(way(task, script), script) for task, script in column]
            means.append(
                float(np.mean([paper_f1(f, truth, steps=len(s.steps)).f1 for f, s in found]))
            )
            rights += [by_identity(f, s, truth) for f, s in found]
        cells = [f"{mean:.3f}" for mean in [*means, float(np.mean(means))]]
        if given:
            cells += [f"{mean:.3f}" for mean in np.nanmean(rights, axis=0)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def by_identity(found: Found, script: Script, truth: Truth) -> tuple[float, float, float]:
    """Return F1 when each step is matched with itself, and the share right of those present.

    The share of those that the narration names here, and of the others.
    """
    named = {(m.video, k) for k, step in enumerate(script.steps) for m in step.mentions}
    present = {(a.video, a.step) for a in truth.annotations}
    right = {
        (at.video, at.step)
        for at in found
        if at.time is not None
        and any(a.step == at.step and a.start <= at.time <= a.end for a in truth.by_video[at.video])
    }
    placed = sum(at.time is not None for at in found)
    said, unsaid = present & named, present - named
    return (
        2 * len(right) / (placed + len(present)),
        len(right & said) / len(said) if said else np.nan,
        len(right & unsaid) / len(unsaid) if unsaid else np.nan,
    )


def read_truth(steps: Path, truth: Path) -> Truth:
    """Read the steps and annotations; durations are filled in from the features."""
    with steps.open(encoding="utf-8") as file:
        names = {row["step"]: row["name"] for row in csv.DictReader(file)}
    index_of = {step: index for index, step in enumerate(names)}
    with truth.open(encoding="utf-8") as file:
        annotations = tuple(
            Annotation(row["video"], index_of[row["step"]], float(row["start"]), float(row["end"]))
            for row in csv.DictReader(file)
        )
    videos = sorted({a.video for a in annotations})
    return Truth("footage", tuple(names.values()), annotations, dict.fromkeys(videos))


def narrated(truth: Truth, title: str, share: float, lag: float, seed: int) -> tuple[Task, Script]:
    """Simulate a narration; return the task, and the true steps with their mentions."""
    rng = np.random.default_rng((seed, round(100 * share), round(10 * lag)))
    mentions: list[list[Mention]] = [[] for _ in truth.steps]
    videos = []
    for video, annotations in truth.by_video.items():
        captions = []
        for a in annotations:
            if rng.random() >= share:
                continue
            start = max(a.start - lag + SPREAD * rng.normal(), 0.0)
            name = truth.steps[a.step]
            captions.append(Caption(start, start + LASTS, f"now {name}."))
            verb, *_, noun = name.split()
            mentions[a.step].append(Mention(video, verb, noun, name, start, start + LASTS))
        captions.sort(key=lambda caption: caption.start)
        videos.append(Video(video, tuple(captions), duration=truth.durations[video]))
    steps = zip(truth.steps, mentions, strict=True)
    return Task(title, tuple(videos)), Script(tuple(Step(n, tuple(m)) for n, m in steps))


def found_script(task: Task, steps: int) -> tuple[Task, Script]:
    """Return the task with its mentions, and the script that is discovered in it."""
    narrated_task = extract_relations(task)
    return narrated_task, discover(narrated_task, steps=steps)


def ways_of(seen: dict[str, Features], truth: Truth, *, paper: bool) -> Iterator[tuple[str, Way]]:
    """Yield the name and function of every method."""
    yield "uniform", lambda task, script: spread_evenly(task, script, {}, truth)
    yield "mention + 2 s", lambda task, script: after_mentions(task, script, {}, truth)
    yield "captions only", lambda task, script: localise(task, script).localisations
    for kind, features in seen.items():
        yield f"default, {kind}", by(localise, features)
        if paper:
            yield f"paper, {kind}", by(cluster_task, features)
        yield f"apply, {kind}", partial_apply(features)
        yield f"apply with captions, {kind}", partial_apply(features, captions=True)
        yield "supervised" if len(seen) == 1 else f"supervised, {kind}", taught(features, truth)


def by(method: Callable[..., Any], features: Features) -> Way:
    """Return the default method or the paper's on these features."""
    return lambda task, script: method(task, script, features).localisations


def partial_apply(features: Features, *, captions: bool = False) -> Way:
    """Return a method that localises each video by a model of the others."""

    def way(task: Task, script: Script) -> Found:
        found: list[Localisation] = []
        for left_out in task.videos:
            others = tuple(video for video in task.videos if video != left_out)
            steps = tuple(
                replace(step, mentions=tuple(m for m in step.mentions if m.video != left_out.id))
                for step in script.steps
            )
            learnt = localise(Task(task.name, others), Script(steps), features)
            mentions = None
            if captions:
                own = [(m, k, 1.0) for k, step in enumerate(script.steps) for m in step.mentions]
                mentions = spoken_by_video(Task(task.name, (left_out,)), own)
            located = learnt.model.localise([features[left_out.id]], mentions=mentions)
            found += located.in_seconds([left_out.id], SECONDS)
        return tuple(found)

    return way


def taught(features: Features, truth: Truth) -> Way:
    """Return the same classifiers and order model, trained on the true intervals of the others."""

    @cache
    def places() -> Found:
        kind, names = FEATURE_KINDS["sight"], list(features)
        x = tuple(kind.prepare(features[name], SECONDS) for name in names)
        grid = kind.coarsening(SECONDS)
        labels = []
        for name, rows in zip(names, x, strict=True):
            middles = (np.arange(len(rows)) + 0.5) * grid * SECONDS
            label = np.zeros((len(rows), len(truth.steps)))
            for a in truth.by_video[name]:
                label[(a.start <= middles) & (middles <= a.end), a.step] = 1.0
            labels.append(label)
        lasting = np.median([a.end - a.start for a in truth.annotations])
        nothing = [np.empty((0, 4)) for _ in names]
        lengths = [len(rows) for rows in x]
        prior = SegmentPrior(nothing, lengths, len(truth.steps), grid * SECONDS, **kind.known)
        prior = replace(prior, separation=TAUGHT, duration=float(lasting))
        scores = [standardised(s) for s in LeaveOneOut(x, REGULARISATION).scores(labels)]
        located = decide(
            prior.measure(scores),
            scores,
            kind,
            coarsening=grid,
            lengths=[len(features[name]) for name in names],
            absent=False,
        )
        return located.in_seconds(names, SECONDS)

    return lambda task, script: places()


if __name__ == "__main__":
    main()
