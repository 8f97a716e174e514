"""The methods of the paper and its baselines, for :func:`howsteps.evaluate.compare`.

The hidden Markov model (Malmaud et al., 2015) aligns a transcript to known steps. The hidden state
after each mention is the step that the narrator has reached; it never decreases. A mention is
either about that step, and drawn from its relations, or background, drawn from all relations:

    P(mention | step k) = β·P(relation | k),   P(mention, background) = (1 − β)·P(relation)
    P(k → k + j) = (1 − stay)·2^−j for j ≥ 1,  stay for j = 0

The Viterbi algorithm finds the best path. A step is placed at its first mention, and steps without
a mention are spread evenly between (:func:`howsteps.localise.order.place_aligned`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from howsteps.datasets.annotations import GRID
from howsteps.errors import HowstepsError
from howsteps.evaluate import methods as evaluated
from howsteps.evaluate.methods import Method, Sample
from howsteps.evaluate.protocols import Prediction
from howsteps.evaluate.statistics import find_order, sequences_of
from howsteps.localise.features import Floats, Mask, Places
from howsteps.localise.order import LEAD, cheapest_placement, place_aligned
from howsteps.paper.clustering import Clustering, ClusteringMode, cluster
from howsteps.paper.localise import localise
from howsteps.paper.script import discover, narrations
from howsteps.paper.windows import mention_windows
from howsteps.task import Mode, Script
from howsteps.vision.features import signed_roots

LAMBDAS = (1e-4, 1e-3, 1e-2, 1e-1)
BAG_SIZE = 200  # relations in the bag of ``video+bow``


def bag_of_relations(
    mentions: Mask, relations: NDArray[np.integer], vocabulary: int
) -> NDArray[np.float32]:
    """Return the histogram of the relations around each interval, Hellinger-normalised; T_n×D.

    ``mentions`` are S_n×T_n windows, ``relations`` the S_n indices of their relations, and
    ``vocabulary`` is D.
    """
    counts = np.zeros((mentions.shape[1], vocabulary), np.float32)
    for window, relation in zip(mentions, relations, strict=True):
        counts[window, relation] += 1
    return signed_roots(counts)


def correct_places(places: Places, truth: Sequence[Mask]) -> int:
    """Return the number of places (N×K) that are inside a true interval of the step."""
    return sum(
        int(window[row, np.arange(len(row))].sum())
        for row, window in zip(places, truth, strict=True)
    )


def supervised(
    features: Sequence[NDArray[np.floating]],
    truth: Sequence[Mask],
    *,
    folds: int = 5,
    inner_folds: int = 4,
    seed: int = 0,
) -> Places:
    """Learn W from the ground truth of some videos, and place the steps in the others in order.

    ``features`` are T_n×d per video, ``truth`` the T_n×K true intervals of each step. λ is chosen
    by ``inner_folds`` inside each training set. Returns the places in held-out videos, N×K.
    """
    if len(features) < max(folds, inner_folds + 1):
        raise HowstepsError(f"{len(features)} videos are too few for {folds} folds")
    rng = np.random.default_rng(seed)
    places = np.full((len(features), truth[0].shape[1]), -1)
    for test in np.array_split(rng.permutation(len(features)), folds):
        train = np.setdiff1d(np.arange(len(features)), test)
        inner = np.array_split(rng.permutation(train), inner_folds)
        correct = {
            value: sum(
                correct_places(
                    _fit_predict(features, truth, np.setdiff1d(train, held_out), held_out, value),
                    [truth[n] for n in held_out],
                )
                for held_out in inner
            )
            for value in LAMBDAS
        }
        best = max(LAMBDAS, key=lambda value: correct[value])
        places[test] = _fit_predict(features, truth, train, test, best)
    return places


def _fit_predict(
    features: Sequence[NDArray[np.floating]],
    truth: Sequence[Mask],
    train: Places,
    test: Places,
    regularisation: float,
) -> Places:
    """Train on some videos, and return the placements in others."""
    windows = [np.where(truth[n].any(axis=0), truth[n], True) for n in train]
    learnt = cluster(
        [features[n] for n in train],
        windows,
        steps=truth[0].shape[1],
        regularisation=regularisation,
        solver="descent",
        starts=1,
    )
    costs: list[Floats] = [-learnt.weights.scores(features[n]) for n in test]
    return np.array([cheapest_placement(cost) for cost in costs])


def align_transcript(
    relations: NDArray[np.integer],
    step_relations: Floats,
    relation_counts: Floats,
) -> Places:
    """Return the step of every mention of one video, −1 for background; S.

    ``relations`` are the S indices of the relations of the mentions in order of time,
    ``step_relations`` (K×D) and ``relation_counts`` (D) count relations among the mentions of each
    step and in the task. β and the probability to stay are one half.
    """
    states = np.arange(len(step_relations) + 1)  # steps reached: 0 is none
    none = np.zeros_like(relation_counts)
    jump = states[None, :] - states[:, None]
    with np.errstate(divide="ignore"):
        transition = np.log(np.where(jump < 0, 0.0, 0.5 * 0.5 ** np.maximum(jump, 0)))
        emission = np.log(0.5 * _normalised(np.vstack([none, step_relations])))[:, relations].T
        best = np.log(states == 0)  # log-probability of the best path to each state
    background = np.log(0.5 * _normalised(relation_counts[None] + 1.0))[0, relations]
    is_about = np.zeros((len(relations), len(states)), np.bool_)
    came_from = np.zeros((len(relations), len(states)), np.int64)
    for s, background_s in enumerate(background):
        candidates = best[:, None] + transition + emission[s]
        if_about_step, if_background = candidates.max(axis=0), best + background_s
        is_about[s] = if_about_step > if_background
        came_from[s] = np.where(is_about[s], candidates.argmax(axis=0), states)
        best = np.maximum(if_about_step, if_background)
    state = int(best.argmax())
    aligned = np.full(len(relations), -1)
    for s in range(len(relations) - 1, -1, -1):
        if is_about[s, state]:
            aligned[s] = state - 1
        state = int(came_from[s, state])
    return aligned


def _normalised(counts: Floats) -> Floats:
    """Return rows that sum to one; a row of zeros is unchanged."""
    total = counts.sum(axis=1, keepdims=True)
    return counts / np.where(total > 0, total, 1.0)


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
            match=sample.labelled.matches,
        )

    script = sample.once((mode, steps, seed), found)
    if not script.steps:
        raise HowstepsError(f"no script: too many relations tie for at most {steps} steps")
    return script


def _video_only(sample: Sample, steps: int, seed: int) -> Prediction:
    """Cluster the features under the order constraint, without windows."""
    clustering = cluster(sample.features, steps=steps, seed=seed)
    return _from_clustering(sample, clustering)


def _video_and_words(sample: Sample, steps: int, seed: int) -> Prediction:
    """Cluster the features concatenated with a bag of relations, in a single stage."""
    found = narrations(sample.narrated("paper"))
    counts = Counter(d for row in found.sequences for d in row)
    column = {d: k for k, (d, _) in enumerate(counts.most_common(BAG_SIZE))}
    words = []
    for row, of_row, x in zip(found.mentions, found.sequences, sample.features, strict=True):
        in_bag = [(m, column[d]) for m, d in zip(row, of_row, strict=True) if d in column]
        windows = mention_windows([(m.start, m.end) for m, _ in in_bag], len(x), GRID)
        columns = np.array([k for _, k in in_bag], np.int64)
        words.append(bag_of_relations(windows, columns, len(column)))
    joint = [np.hstack([x, bag]) for x, bag in zip(sample.features, words, strict=True)]
    clustering = cluster(joint, steps=steps, seed=seed)
    return _from_clustering(sample, clustering)


def _transcript(sample: Sample, steps: int, seed: int) -> Prediction:
    """Align every transcript to the paper's script by a hidden Markov model."""
    script = _script(sample, steps, seed)
    mentions, relations, rows = narrations(sample.narrated("paper"))
    index = {relation: i for i, relation in enumerate(relations)}
    sequences = [np.array(row, dtype=np.int64) for row in rows]
    step_relations = np.zeros((len(script.steps), len(relations)))
    for k, step in enumerate(script.steps):
        for relation, count in step.relations:
            step_relations[k, index[relation]] = count
    counts = np.bincount(np.concatenate(sequences), minlength=len(relations)).astype(np.float64)
    aligned = [align_transcript(row, step_relations, counts) for row in sequences]
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
    """Learn classifiers from the truth of other videos; the steps and their order are known.

    It is done once for all K.
    """
    return sample.once(("supervised", seed), lambda: _known_steps(sample.annotated, seed))


def _known_steps(sample: Sample, seed: int) -> Prediction:
    truth = sample.truth
    order = find_order(sequences_of(truth), len(truth.steps))
    column = {step: k for k, step in enumerate(order)}
    masks = []
    for video, x in zip(sample.videos, sample.features, strict=True):
        middles = (np.arange(len(x)) + 0.5) * GRID
        mask = np.zeros((len(x), len(order)), np.bool_)
        for a in truth.by_video[video]:
            mask[(a.start <= middles) & (middles <= a.end), column[a.step]] = True
        masks.append(mask)
    places = supervised(sample.features, masks, seed=seed)
    localisations = tuple(replace(at, step=order[at.step]) for at in sample.in_seconds(places))
    return Prediction(len(order), localisations, known_steps=True)


def _mode(mode: ClusteringMode) -> Method:
    """Return the method of a mode: its script and its localisations."""

    def method(sample: Sample, steps: int, seed: int) -> Prediction:
        script = _script(sample, steps, seed, mode)
        result = localise(
            sample.narrated("paper"),
            script,
            sample.labelled.features,
            seconds=GRID,
            mode=mode,
            requested_steps=steps,
            seed=seed,
        )
        return Prediction(
            len(script.steps),
            result.localisations,
            tuple(sample.in_seconds(rounding) for rounding in result.roundings),
            script,
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
ALL_METHODS: Mapping[str, Method] = {**evaluated.METHODS, **METHODS}


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
