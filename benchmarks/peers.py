"""Unsupervised peers beside howsteps: ``python -m benchmarks.peers [VIDEOS …]``.

VIDEOS are folders of video files, as for :mod:`benchmarks.recombined`, used whole and recombined;
features that are cached already can be given as ``--features VIDEOS.npz``. Without VIDEOS, or with
``--recordings``, on synthetic recordings. All methods get the same features and the true number of
steps. Those with words get the true steps too, with narrations that are simulated (60 % of the
steps mentioned as they begin, and 90 % two seconds before; half of them where recombined).

``paper-F1``: one place for each step and video, in the middle of its longest segment. ``MoF``: the
share of the frames of steps that are right, one matching for all videos. ``frame-F1``: the same
with background. ``MoF by video``: each video matched by itself, the protocol of TW-FINCH.

TW-FINCH is shown if its ``twfinch.py`` can be imported; its licence is for academic use.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from benchmarks.recombined import Job, filmed, recombined
from benchmarks.recordings import SETTINGS, recordings
from howsteps.evaluate import frame_f1, kukleva, paper_f1, per_video
from howsteps.evaluate.frame_protocols import LABEL_RATE, label_frames, true_frames
from howsteps.localise import localise
from howsteps.localise.features import Floats
from howsteps.localise.segments import equal_segments, filled, find_steps, transport
from howsteps.localise.self_training import KINDS
from howsteps.paper.clustering import cluster
from howsteps.paper.localise import localise as cluster_task
from howsteps.task import Localisation

SEEDS = 3
ROUNDS = 12  # of prototypes and transport
COMPONENTS, TIME_WEIGHT = 30, 3.0  # of k-means: dimensions, and time in standard deviations
HEADINGS = ("paper-F1", "MoF", "frame-F1", "MoF by video", "s")

Labels = NDArray[np.int64]
Places = tuple[Localisation, ...]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("videos", type=Path, nargs="*")
    parser.add_argument("--features", type=Path, nargs="*", default=[], metavar="VIDEOS.npz")
    parser.add_argument("--recordings", action="store_true", help="synthetic recordings too")
    parser.add_argument("--cache", type=Path, default=Path("build/footage"))
    chosen = parser.parse_args()
    known = {path.stem: path for path in chosen.features}
    for folder in chosen.videos:
        job = filmed(folder, known.get(folder.name), chosen.cache)
        table(folder.name, [job])
        pieced = [recombined(job, seed) for seed in range(SEEDS)]
        table(f"{folder.name}, recombined", pieced)
    if chosen.recordings or not chosen.videos:
        for name, setting in SETTINGS.items():
            table(f"synthetic, {name}", [synthetic(setting, seed) for seed in range(SEEDS)])


def synthetic(setting: object, seed: int) -> Job:
    """Return a synthetic recording."""
    drawn = recordings(setting, seed=seed)  # type: ignore[arg-type]
    return Job(drawn.features, drawn.truth, 1.0, [(drawn.task, drawn.script)])


def table(title: str, jobs: Sequence[Job]) -> None:
    """Print one row for each method."""
    print(f"\n| {title} | {' | '.join(HEADINGS)} |\n|---|{'---|' * len(HEADINGS)}")
    for name, ways in methods():
        rows = []
        for job in jobs:
            started = time.process_time()
            found = list(ways(job))
            spent = (time.process_time() - started) / len(found)
            rows += [[*scores(each, job), spent] for each in found]
        means = np.mean(rows, axis=0)
        cells = [f"{x:.3f}" if x else "–" for x in means[:-1]]  # places without extents: no frames
        print(f"| {name} | {' | '.join(cells)} | {means[-1]:.1f} |", flush=True)


Found = tuple[Places, Mapping[str, Labels]]  # places, and the label of every interval


def methods() -> Iterator[tuple[str, Callable[[Job], Iterable[Found]]]]:
    """Yield the name and the function of every method."""
    yield "equal segments", by_labels(equal)
    if find_spec("twfinch"):
        yield "TW-FINCH", by_labels(tw_finch)
    yield "transport to means", by_labels(transported)
    yield "k-means with time, Viterbi", by_labels(in_order)
    yield "the paper's clustering", lambda job: [labelled(clustered(job), job)]
    yield "howsteps by sight", lambda job: [labelled(by_sight(job), job)]
    yield "… filled", lambda job: [labelled(fill(by_sight(job), job), job)]
    yield (
        "with words: the paper's",
        lambda job: [
            labelled(cluster_task(*words, job.features, seconds=job.seconds).localisations, job)
            for words in job.narrations
        ],
    )
    yield "with words: default", partial(with_words, absent=True)
    yield "… every step placed", partial(with_words, absent=False)
    yield "… filled", partial(with_words, absent=True, full=True)


def scores(found: Found, job: Job) -> tuple[float, float, float, float]:
    """Return the scores of a prediction, in the order of the table."""
    places, labels = found
    steps, true = len(job.truth.steps), true_frames(job.truth)
    predicted = [
        labels[video][
            np.minimum(
                ((np.arange(len(of)) + 0.5) / LABEL_RATE / job.seconds).astype(np.int64),
                len(labels[video]) - 1,
            )
        ]
        for video, of in zip(job.truth.durations, true, strict=True)
    ]
    return (
        paper_f1(places, job.truth, steps=steps).f1,
        kukleva(predicted, true, steps).frames or 0.0,
        frame_f1(predicted, true).f1,
        per_video(predicted, true).frames or 0.0,
    )


def labelled(places: Places, job: Job) -> Found:
    """Return places with the labels of their extents."""
    return places, {
        video: label_frames([p for p in places if p.video == video], len(x), 1 / job.seconds)
        for video, x in job.features.items()
    }


def by_labels(method: Callable[[list[Floats], int], list[Labels]]) -> Callable[[Job], list[Found]]:
    """Return a method that labels intervals, on the grid of the default method."""

    def ways(job: Job) -> list[Found]:
        kind = KINDS["sight"]
        factor = kind.coarsening(job.seconds)
        x = [np.asarray(kind.prepare(x, job.seconds), float) for x in job.features.values()]
        found = method(x, len(job.truth.steps))
        places, labels = [], {}
        for (video, fine), coarse in zip(job.features.items(), found, strict=True):
            labels[video] = np.repeat(coarse, factor)[: len(fine)]
            places += longest_runs(video, coarse, factor * job.seconds)
        return [(tuple(places), labels)]

    return ways


def longest_runs(video: str, labels: Labels, seconds: float) -> list[Localisation]:
    """Return the middle of the longest run of every label."""
    cuts = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), len(labels)]
    runs: dict[int, tuple[int, float]] = {}
    for start, end in pairwise(cuts):
        step = int(labels[start])
        runs[step] = max(runs.get(step, (0, 0.0)), (end - start, (start + end) / 2 * seconds))
    return [Localisation(video, step, time) for step, (_, time) in sorted(runs.items())]


def equal(videos: list[Floats], steps: int) -> list[Labels]:
    """Cut every video into K equal segments."""
    return [equal_segments(len(x), steps).argmax(axis=1) for x in videos]


def tw_finch(videos: list[Floats], steps: int) -> list[Labels]:
    """Cluster each video by itself, and number its clusters by their mean time."""
    finch = import_module("twfinch").FINCH
    found = []
    for x in videos:
        *_, labels = finch(x, req_clust=steps, verbose=False, tw_finch=True)
        means = [np.flatnonzero(labels == k).mean() for k in range(labels.max() + 1)]
        found.append(np.argsort(np.argsort(means))[labels])
    return found


def transported(videos: list[Floats], steps: int) -> list[Labels]:
    """Decode by transport to the mean of every step, the idea of ASOT without its network."""
    shares = [equal_segments(len(x), steps) for x in videos]
    for _ in range(ROUNDS):
        means = sum(x.T @ share for x, share in zip(videos, shares, strict=True))
        means = means / np.maximum(np.linalg.norm(means, axis=0), 1e-12)
        cosines = [x @ means for x in videos]
        deviation = np.concatenate(cosines).std(axis=0)
        mean = np.concatenate(cosines).mean(axis=0)
        shares = [transport((each - mean) / deviation) for each in cosines]
    return [share.argmax(axis=1) for share in shares]


def in_order(videos: list[Floats], steps: int) -> list[Labels]:
    """k-means of features and relative time, decoded by Viterbi in the order of mean time.

    The idea of Kukleva et al. (2019), with principal components in place of a learnt embedding.
    """
    rows = np.concatenate(videos)
    _, _, axes = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    seen = (rows - rows.mean(axis=0)) @ axes[:COMPONENTS].T
    seen /= np.sqrt((seen**2).sum(axis=1).mean())
    times = np.concatenate([(np.arange(len(x)) + 0.5) / len(x) for x in videos])
    points = np.column_stack([seen, TIME_WEIGHT * times])
    start = np.array([points[(times * steps).astype(int) == k].mean(axis=0) for k in range(steps)])
    centres, _ = kmeans2(points, start, minit="matrix")
    centres = centres[np.argsort(centres[:, -1])]
    cost = ((points[:, None] - centres) ** 2).sum(axis=2)
    borders = np.cumsum([len(x) for x in videos])[:-1]
    return [contiguous(part) for part in np.split(cost, borders)]


def contiguous(cost: Floats) -> Labels:
    """Return the cheapest labels that pass through all steps in order."""
    length, steps = cost.shape
    best = np.full((length, steps), np.inf)
    best[0, 0] = cost[0, 0]
    for t in range(1, length):
        moved = np.concatenate([[np.inf], best[t - 1, :-1]])
        best[t] = np.minimum(best[t - 1], moved) + cost[t]
    labels = np.empty(length, np.int64)
    k = steps - 1
    for t in range(length - 1, -1, -1):
        labels[t] = k
        if t and k and best[t - 1, k - 1] <= best[t - 1, k]:
            k -= 1
    return labels


def clustered(job: Job) -> Places:
    """The paper's clustering by the order alone; a place is one interval."""
    found = cluster(list(job.features.values()), steps=len(job.truth.steps))
    return tuple(
        Localisation(video, k, (int(t) + 0.5) * job.seconds)
        for video, row in zip(job.features, found.intervals, strict=True)
        for k, t in enumerate(row)
    )


def by_sight(job: Job) -> Places:
    """What ``howsteps run`` finds in silent videos."""
    return find_steps(job.features, len(job.truth.steps), seconds=job.seconds)


def fill(places: Places, job: Job) -> Places:
    """Widen extents to the whole video."""
    lengths = {video: len(x) * job.seconds for video, x in job.features.items()}
    return filled(places, lengths, job.features, seconds=job.seconds)


def with_words(job: Job, *, absent: bool, full: bool = False) -> Iterator[Found]:
    """The default method with the true steps and a simulated narration."""
    for words in job.narrations:
        found = localise(*words, job.features, seconds=job.seconds, absent=absent).localisations
        yield labelled(fill(found, job) if full else found, job)


if __name__ == "__main__":
    main()
