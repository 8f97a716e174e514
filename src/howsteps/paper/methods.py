"""The methods of the paper and its baselines, for :func:`howsteps.evaluate.compare`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from howsteps.datasets.annotations import GRID
from howsteps.evaluate import methods as evaluated
from howsteps.evaluate.methods import Method, Sample
from howsteps.evaluate.protocols import NotMeasured, Prediction
from howsteps.evaluate.script_protocols import mention_times
from howsteps.evaluate.statistics import find_order
from howsteps.localise.method import LEAD
from howsteps.localise.order import place_aligned
from howsteps.localise.word_evidence import mention_windows
from howsteps.paper import place_baselines as baselines
from howsteps.paper.clustering import Clustering, ClusteringMode
from howsteps.paper.localise import localise
from howsteps.paper.script import discover
from howsteps.task import Mention, Mode, Script

# The paper's solver, whose roundings give the error bars.
SOLVER = "frank-wolfe"
BAG_SIZE = 200  # relations in the bag of ``video+bow``


def _script(sample: Sample, steps: int, seed: int, mode: Mode = "paper") -> Script:
    """Return the script of a mode, discovered once for all methods.

    The relations are those of the paper in both modes: the authors' program has the same.
    """

    def found() -> Script:
        return discover(
            sample.narrated("paper"),
            steps=steps,
            mode=mode,
            seed=seed,
            seconds=sample.search_seconds,
            match=sample.labelled.matches,
        )

    script = sample.once((mode, steps, seed), found)
    if not script.steps:
        raise NotMeasured(f"no script: too many relations tie for at most {steps} steps")
    return script


def _mentions(sample: Sample) -> list[list[Mention]]:
    """Return the mentions of every video, in order of time."""
    return [
        sorted(video.mentions, key=lambda m: (m.start, m.end))
        for video in sample.narrated("paper").videos
    ]


def _video_only(sample: Sample, steps: int, seed: int) -> Prediction:
    """Cluster the features under the order constraint, without windows."""
    clustering = baselines.video_only(sample.features, steps=steps, seed=seed, solver=SOLVER)
    return _from_clustering(sample, clustering)


def _video_and_words(sample: Sample, steps: int, seed: int) -> Prediction:
    """Cluster the features concatenated with a bag of relations, in a single stage."""
    mentions = _mentions(sample)
    counts = Counter(m.relation for row in mentions for m in row)
    kept = sorted(counts, key=lambda relation: (-counts[relation], relation))[:BAG_SIZE]
    index = {relation: i for i, relation in enumerate(kept)}
    words = []
    for row, length in zip(mentions, map(len, sample.features), strict=True):
        in_bag = [m for m in row if m.relation in index]
        times = np.array([(m.start, m.end) for m in in_bag]).reshape(-1, 2)
        relations = np.array([index[m.relation] for m in in_bag], dtype=np.int64)
        windows = mention_windows(times, length, GRID)
        words.append(baselines.bag_of_relations(windows, relations, len(kept)))
    clustering = baselines.video_and_words(
        sample.features, words, steps=steps, seed=seed, solver=SOLVER
    )
    return _from_clustering(sample, clustering)


def _transcript(sample: Sample, steps: int, seed: int) -> Prediction:
    """Align every transcript to the paper's script by a hidden Markov model."""
    script = _script(sample, steps, seed)
    mentions = _mentions(sample)
    relations = sorted({m.relation for row in mentions for m in row})
    index = {relation: i for i, relation in enumerate(relations)}
    sequences = [np.array([index[m.relation] for m in row], dtype=np.int64) for row in mentions]
    step_relations = np.zeros((len(script.steps), len(relations)))
    for k, step in enumerate(script.steps):
        for relation, count in step.relations:
            step_relations[k, index[relation]] = count
    counts = np.bincount(np.concatenate(sequences), minlength=len(relations)).astype(np.float64)
    aligned = [baselines.align_transcript(row, step_relations, counts) for row in sequences]
    times = [np.array([m.start for m in row]) for row in mentions]
    return _from_mentions(sample, aligned, times, len(script.steps))


def _narration(sample: Sample, steps: int, seed: int) -> Prediction:
    """Place each step of the paper's script two seconds after its mention, others in between."""
    script = _script(sample, steps, seed)
    mentions: dict[str, list[tuple[float, int]]] = {video: [] for video in sample.videos}
    for k, step in enumerate(script.steps):
        for m in step.mentions:
            mentions[m.video].append(((m.start + m.end) / 2 + LEAD, k))
    aligned = [np.array([k for _, k in mentions[v]], dtype=np.int64) for v in sample.videos]
    times = [np.array([time for time, _ in mentions[v]]) for v in sample.videos]
    return _from_mentions(sample, aligned, times, len(script.steps))


def _supervised(sample: Sample, steps: int, seed: int) -> Prediction:
    """Learn classifiers from the truth of other videos; the steps and their order are known."""
    truth = sample.truth
    sequences = [[a.step for a in annotations] for annotations in truth.by_video.values()]
    order = find_order(sequences, len(truth.steps)).steps
    column = {step: k for k, step in enumerate(order)}
    masks = []
    for video, x in zip(sample.videos, sample.features, strict=True):
        middles = (np.arange(len(x)) + 0.5) * GRID
        mask = np.zeros((len(x), len(order)), np.bool_)
        for a in truth.by_video[video]:
            mask[(a.start <= middles) & (middles <= a.end), column[a.step]] = True
        masks.append(mask)
    result = baselines.supervised(sample.features, masks, seed=seed)
    localisations = tuple(
        replace(at, step=order[at.step]) for at in sample.in_seconds(result.intervals)
    )
    return Prediction(len(order), localisations, folds=result.scores, known_steps=True)


def _mode(mode: ClusteringMode) -> Method:
    """Return the method of a mode: its script and its localisations."""

    def method(sample: Sample, steps: int, seed: int) -> Prediction:
        script = _script(sample, steps, seed, mode)
        result = localise(
            sample.narrated("paper"),
            script,
            sample.labelled.features,
            narration=sample.narration,
            seconds=GRID,
            mode=mode,
            requested_steps=steps,
            seed=seed,
        )
        return Prediction(
            len(script.steps),
            result.localisations,
            tuple(sample.in_seconds(rounding) for rounding in result.roundings),
            script=script,
            mention_times=tuple(mention_times(script)),
        )

    return method


METHODS: Mapping[str, Method] = {
    "video-only": _video_only,
    "video+bow": _video_and_words,
    "hmm": _transcript,
    "narration": _narration,
    "supervised": _supervised,
    "paper": _mode("paper"),
    "authors": _mode("authors"),
}
# Those of howsteps too, in the order of the tables.
ALL_METHODS: Mapping[str, Method] = {
    "uniform": evaluated.METHODS["uniform"],
    **METHODS,
    "default": evaluated.METHODS["default"],
}


def _from_clustering(sample: Sample, clustering: Clustering) -> Prediction:
    return Prediction(
        clustering.intervals.shape[1],
        sample.in_seconds(clustering.intervals),
        tuple(sample.in_seconds(rounding) for rounding in clustering.roundings),
    )


def _from_mentions(
    sample: Sample,
    aligned: Sequence[NDArray[np.int64]],
    times: Sequence[NDArray[np.float64]],
    steps: int,
) -> Prediction:
    """Place steps at their mentions, and the others evenly between those.

    ``aligned`` and ``times`` are the step and the time in seconds of every mention, S_n per video.
    """
    intervals = [
        np.clip((seconds / GRID).astype(np.int64), 0, length - 1)
        for seconds, length in zip(times, sample.lengths, strict=True)
    ]
    places = place_aligned(list(aligned), intervals, sample.lengths, steps)
    return Prediction(steps, sample.in_seconds(places))
