"""Baselines for localisation: uniform, video only, joint features, and supervised."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.localise.clustering import Clustering, cluster
from howsteps.localise.oracle import Floats, Mask, Places, cheapest_placement
from howsteps.localise.problem import LocaliseError, too_short

LAMBDAS = (1e-4, 1e-3, 1e-2, 1e-1)

Validation = Callable[[Places, Sequence[Mask]], float]


def uniform(lengths: Sequence[int], steps: int) -> Places:
    """Return steps that are spread evenly: step k at ⌊(k + ½)·T_n/K⌋; N×K."""
    for video, length in enumerate(lengths):
        if length < steps:
            raise too_short(video, length, steps)
    middles = np.arange(steps) + 0.5
    places: Places = np.floor(np.outer(np.asarray(lengths), middles) / steps).astype(np.int64)
    return places


def video_only(
    features: Sequence[NDArray[np.floating]], *, steps: int, **options: Any
) -> Clustering:
    """Cluster the features under the order constraint alone, without windows."""
    return cluster(features, None, steps=steps, **options)


def video_and_words(
    features: Sequence[NDArray[np.floating]],
    words: Sequence[NDArray[np.floating]],
    *,
    steps: int,
    **options: Any,
) -> Clustering:
    """Cluster the features concatenated with a bag of relations, in a single stage.

    Parameters
    ----------
    features
        T_n×d per video.
    words
        T_n×D per video, from :func:`bag_of_relations`.
    steps
        K.
    options
        Options of :func:`~howsteps.localise.cluster`.
    """
    concatenated = [
        np.hstack([x, text.astype(np.float32)]) for x, text in zip(features, words, strict=True)
    ]
    return cluster(concatenated, None, steps=steps, **options)


def bag_of_relations(
    mentions: Mask, relations: NDArray[np.integer], vocabulary: int
) -> NDArray[np.float32]:
    """Return the histogram of the relations around each interval, Hellinger-normalised; T_n×D.

    Parameters
    ----------
    mentions
        S_n×T_n windows, from :func:`~howsteps.localise.mention_windows`.
    relations
        S_n: index of the relation of every mention.
    vocabulary
        D, the number of relations.
    """
    counts = np.zeros((mentions.shape[1], vocabulary), np.float32)
    for window, relation in zip(mentions, relations, strict=True):
        counts[window, relation] += 1
    total = counts.sum(axis=1, keepdims=True)
    histogram: NDArray[np.float32] = np.sqrt(counts / np.maximum(total, 1.0))
    return histogram


def known_step_f1(places: Places, truth: Sequence[Mask]) -> float:
    """Return F1 of known steps: a place is correct if it is inside a true interval of the step.

    precision = correct/(steps placed), recall = correct/(true pairs of video and step).
    """
    present = np.array([window.any(axis=0) for window in truth])
    correct = sum(
        bool(window[t, k])
        for row, window in zip(places, truth, strict=True)
        for k, t in enumerate(row)
        if t >= 0
    )
    total = int((places >= 0).sum() + present.sum())
    return 2.0 * correct / total if total else 0.0


@dataclass(frozen=True)
class Supervised:
    """Predictions for held-out videos (N×K), and the λ and the score of every fold."""

    intervals: Places
    regularisations: tuple[float, ...]
    scores: tuple[float, ...]


def supervised(
    features: Sequence[NDArray[np.floating]],
    truth: Sequence[Mask],
    *,
    folds: int = 5,
    inner_folds: int = 4,
    regularisations: Sequence[float] = LAMBDAS,
    score: Validation = known_step_f1,
    seed: int = 0,
) -> Supervised:
    """Learn W from the ground truth of some videos, and place the steps in the others in order.

    Parameters
    ----------
    features
        T_n×d per video.
    truth
        T_n×K per video: the true intervals of each step; none if it is not in the video.
    folds, inner_folds
        Number of folds for the evaluation, and for the choice of λ inside each training set.
    regularisations
        Candidates for λ.
    score
        Validation score; higher is better.
    seed
        Seed of the folds.
    """
    if len(features) < max(folds, inner_folds + 1):
        raise LocaliseError(f"{len(features)} videos are too few for {folds} folds")
    rng = np.random.default_rng(seed)
    parts = np.array_split(rng.permutation(len(features)), folds)
    steps = truth[0].shape[1]
    places = np.full((len(features), steps), -1)
    chosen, scores = [], []
    for test in parts:
        train = np.setdiff1d(np.arange(len(features)), test)
        inner = np.array_split(rng.permutation(train), inner_folds)

        def validation(value: float, train: Places = train, inner: list[Places] = inner) -> float:
            return sum(
                score(
                    _fit_predict(features, truth, np.setdiff1d(train, held_out), held_out, value),
                    [truth[n] for n in held_out],
                )
                for held_out in inner
            )

        best = max(regularisations, key=validation)
        places[test] = _fit_predict(features, truth, train, test, best)
        chosen.append(best)
        scores.append(score(places[test], [truth[n] for n in test]))
    return Supervised(places, tuple(chosen), tuple(scores))


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
    )
    costs: list[Floats] = [-learnt.weights.scores(features[n]) for n in test]
    return np.array([cheapest_placement(cost) for cost in costs])
