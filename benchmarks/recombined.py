"""Recordings pieced together from footage: ``python -m benchmarks.recombined VIDEOS …``.

VIDEOS are folders of video files, as for :mod:`benchmarks.footage`, or the videos of the demo.
(Features that are cached already: ``--features VIDEOS.npz``, one array per video, three rows per
second.) The recordings are cut and mixed from footage of another job, and no kitchen; but they are
hard where kitchens are hard:

* five people; 15 to 25 steps of 1 to 20 seconds, one in eight missing, some swapped;
* for half of the time no step is done: pieces of other steps, in no order;
* some steps are of the same kind (*cut the carrot*, *cut the leek*) and look nearly alike;
* something else is in the picture all the time (``CLUTTER`` is its share);
* half of the steps are named in each video, some 0 to 4 seconds before they begin.

Prints F1 by identity; the share right of the steps that are in a video and named there, of those
under two seconds among them, and of those that are not named; the share of the absent steps that
are left out, and of the present ones that are kept; and the number of places with a confidence of
``HIGH`` or more, with the share of them that are right.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.footage import (
    KINDS,
    SECONDS,
    by,
    narrated,
    partial_apply,
    read_truth,
    taught,
)
from benchmarks.places import after_mentions, spread_evenly
from howsteps.demo import job as demo
from howsteps.io.cache import Cache
from howsteps.localise import localise
from howsteps.pipeline.context import Context
from howsteps.pipeline.executor import LocalExecutor, cores
from howsteps.pipeline.features import features_of
from howsteps.task import Annotation, Localisation, Script, Task, Truth, Video

DRAWS, PEOPLE = 4, 5
STEPS, LASTS, IDLE = (15, 25), (1.0, 20.0), 0.55
MISSING, SWAPPED = 0.12, 0.12
ALIKE = 0.75  # share of its kind in the look of a step; the rest is of another kind
CLUTTER = 0.35
NAMED, LAG = 0.5, (0.0, 4.0)
NARRATIONS = ((0.6, 0.0), (0.9, 2.0))  # of footage: share of the steps, seconds before
SHORT = 2.0  # seconds
HIGH = 0.7
VERBS = "cut pour stir open wash take peel crack spread grate mix fry rinse".split()
HEADINGS = ("F1", "named", "short", "unnamed", "absent", "kept", "≥ .7", "right")

Rows = NDArray[np.float32]
Pieces = Mapping[int, Sequence[Rows]]  # by kind of step
Found = Sequence[Localisation]


@dataclass(frozen=True)
class Job:
    """Features with intervals of ``seconds``, the truth, and narrations of the true steps."""

    features: Mapping[str, Rows]
    truth: Truth
    seconds: float
    narrations: Sequence[tuple[Task, Script]]


def main() -> None:
    """Print a table for each folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("videos", type=Path, nargs="+")
    parser.add_argument("--features", type=Path, nargs="*", default=[], metavar="VIDEOS.npz")
    parser.add_argument("--cache", type=Path, default=Path("build/footage"))
    parser.add_argument("--draws", type=int, default=DRAWS)
    chosen = parser.parse_args()
    known = {path.stem: path for path in chosen.features}
    for folder in chosen.videos:
        job = filmed(folder, known.get(folder.name), chosen.cache)
        drawn = [recombined(job, seed) for seed in range(chosen.draws)]
        print(f"\n| {folder.name} | {' | '.join(HEADINGS)} |\n|---|{'---|' * len(HEADINGS)}")
        for name, way in ways().items():
            rows = [
                judge(way(one)(*words), words[1], one.truth)
                for one in drawn
                for words in one.narrations
            ]
            totals = np.sum(rows, axis=0)
            shares = totals[:, 0] / np.where(totals[:, 1], totals[:, 1], np.nan)
            cells = [f"{x:.2f}" for x in shares]
            cells.insert(-1, f"{totals[-1, 1]:.0f}")
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


def ways() -> dict[str, Callable[[Job], Callable[[Task, Script], Found]]]:
    """Return the methods that are compared."""
    return {
        "evenly": lambda one: lambda task, script: spread_evenly(task, script, {}, one.truth),
        "mention + 2 s": lambda one: (
            lambda task, script: after_mentions(task, script, {}, one.truth)
        ),
        "captions only": lambda _: lambda task, script: localise(task, script).localisations,
        "default": lambda one: by(localise, dict(one.features)),
        "… every step placed": lambda one: (
            lambda task, script: localise(task, script, one.features, absent=False).localisations
        ),
        "apply": lambda one: partial_apply(dict(one.features)),
        "supervised": lambda one: taught(dict(one.features), one.truth),
    }


def judge(found: Found, script: Script, truth: Truth) -> list[tuple[float, float]]:
    """Return numerator and denominator of each figure, but the number of sure places."""
    named = {(m.video, k) for k, step in enumerate(script.steps) for m in step.mentions}
    present = {(a.video, a.step) for a in truth.annotations}
    short = {(a.video, a.step) for a in truth.annotations if a.end - a.start < SHORT}
    placed = {(at.video, at.step): at for at in found if at.time is not None}
    right = {
        (a.video, a.step)
        for a in truth.annotations
        if (at := placed.get((a.video, a.step))) and a.start <= (at.time or 0.0) <= a.end
    }
    high = {key for key, at in placed.items() if at.confidence >= HIGH}
    absent = {(at.video, at.step) for at in found} - present
    pairs = [(right, present & named), (right, present & named & short), (right, present - named)]
    pairs += [(absent - placed.keys(), absent), (placed.keys() & present, present), (right, high)]
    total = len(placed) + len(present)
    return [(2.0 * len(right), total), *((len(hit & of), len(of)) for hit, of in pairs)]


def filmed(folder: Path, features: Path | None, cache: Path) -> Job:
    """Return a folder of videos with its truth; compute the features unless they are given."""
    truth = (
        demo.true_steps()
        if folder.name == demo.NAME
        else read_truth(
            folder.with_name(f"{folder.name}.steps.csv"),
            folder.with_name(f"{folder.name}.truth.csv"),
        )
    )
    if features is not None:
        with np.load(features) as arrays:
            seen = dict(arrays)
    else:
        known = {a.video for a in truth.annotations}
        files = [p for p in sorted(folder.iterdir()) if p.stem in known and p.suffix == ".mp4"]
        context = Context(Cache(cache), LocalExecutor(cores()))
        videos = [Video(p.stem, media=p) for p in files]
        seen = dict(features_of(videos, KINDS["pooled"], context).vectors)
    truth = replace(truth, durations={name: len(x) * SECONDS for name, x in seen.items()})
    title = folder.name.replace("_", " ")
    tasks = [narrated(truth, title, share, lag, 0) for share, lag in NARRATIONS]
    return Job(seen, truth, SECONDS, tasks)


def recombined(job: Job, seed: int, *, clutter: float = CLUTTER) -> Job:
    """Draw recordings of five people from the pieces of a job."""
    rng = np.random.default_rng((31, seed))
    kinds = rng.permutation(len(job.truth.steps)).tolist()
    idle, doing = kinds[: len(kinds) // 3], kinds[len(kinds) // 3 :]
    count = int(rng.integers(*STEPS, endpoint=True))
    kind_of = rng.permutation([doing[i % len(doing)] for i in range(count)]).tolist()
    mixed_with = rng.choice(kinds, count).tolist()
    usual = np.exp(rng.uniform(*np.log(LASTS), size=count))
    features, annotations = {}, []
    for video in sorted(rng.permutation(sorted(job.features))[:PEOPLE].tolist()):
        pieces = _pieces(job, video)
        everything = [piece for those in pieces.values() for piece in those]
        resting = [piece for kind in idle for piece in pieces.get(kind, ())] or everything
        done = [k for k in range(count) if rng.random() >= MISSING]
        for i in range(len(done) - 1):
            if rng.random() < SWAPPED:
                done[i : i + 2] = done[i + 1], done[i]
        lasts = [float(np.clip(usual[k] * rng.lognormal(0.0, 0.35), *LASTS)) for k in done]
        pause = sum(lasts) * IDLE / (1.0 - IDLE) / (len(done) + 1)
        rows = [_some(rng, resting, rng.exponential(pause), 6.0)]
        for k, seconds in zip(done, lasts, strict=True):
            start = SECONDS * sum(map(len, rows))
            step = _some(rng, pieces.get(kind_of[k], everything), seconds, seconds)
            other = _some(rng, pieces.get(mixed_with[k], everything), seconds, seconds)
            rows.append(ALIKE * step + (1.0 - ALIKE) * other)
            annotations.append(Annotation(video, k, start, start + SECONDS * len(step)))
            rows.append(_some(rng, resting, rng.exponential(pause), 6.0))
        seen = np.concatenate(rows)
        seen = (1.0 - clutter) * seen + clutter * _some(rng, everything, SECONDS * len(seen), 6.0)
        features[video] = seen.astype(np.float32)
    names = tuple(f"{VERBS[kind % len(VERBS)]} thing{k}" for k, kind in enumerate(kind_of))
    lengths = {video: SECONDS * len(x) for video, x in features.items()}
    truth = Truth("recombined", names, tuple(annotations), lengths)
    words = narrated(truth, "cook a meal", NAMED, float(rng.uniform(*LAG)), seed)
    return Job(features, truth, SECONDS, [words])


def _pieces(job: Job, video: str) -> Pieces:
    """Return the segments of a video by kind of step."""
    pieces: dict[int, list[Rows]] = {}
    for a in job.truth.by_video[video]:
        rows = job.features[video][int(a.start / job.seconds) : int(a.end / job.seconds)]
        if len(rows):
            pieces.setdefault(a.step, []).append(rows)
    return pieces


def _some(rng: np.random.Generator, pieces: Sequence[Rows], seconds: float, longest: float) -> Rows:
    """Return parts of some pieces, none ``longest``, of ``seconds`` in total."""
    left, rows = max(round(seconds / SECONDS), 1), []
    while left > 0:
        piece = pieces[rng.integers(len(pieces))]
        part = max(round(longest * rng.uniform(0.3, 1.0) / SECONDS), 1)
        length = min(left, part, len(piece))
        first = rng.integers(len(piece) - length + 1)
        rows.append(piece[first : first + length])
        left -= length
    return np.concatenate(rows)


if __name__ == "__main__":
    main()
