"""Baselines of clustering under text constraints."""

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
    """Spread the steps evenly over every video: step k at ⌊(k + ½)·T_n/K⌋; N×K."""
    for video, length in enumerate(lengths):
        if length < steps:
            raise too_short(video, length, steps)
    middles = np.arange(steps) + 0.5
    places: Places = np.floor(np.outer(np.asarray(lengths), middles) / steps).astype(np.int64)
    return places


def video_only(
    features: Sequence[NDArray[np.floating]], *, steps: int, **options: Any
) -> Clustering:
    """Cluster the features under the order alone, without windows."""
    return cluster(features, None, steps=steps, **options)


def video_and_words(
    features: Sequence[NDArray[np.floating]],
    words: Sequence[NDArray[np.floating]],
    *,
    steps: int,
    **options: Any,
) -> Clustering:
    """Cluster the features beside a bag of the narration's relations, in a single stage.

    Parameters
    ----------
    features
        T_n×d a video.
    words
        T_n×D a video, from :func:`bag_of_relations`.
    steps
        K.
    options
        Of :func:`~howsteps.localise.cluster`.
    """
    joined = [
        np.hstack([x, text.astype(np.float32)]) for x, text in zip(features, words, strict=True)
    ]
    return cluster(joined, None, steps=steps, **options)


def bag_of_relations(
    mentions: Mask, relations: NDArray[np.integer], vocabulary: int
) -> NDArray[np.float32]:
    """Histogram of the relations whose windows hold each interval, T_n×D, Hellinger-normalised.

    Parameters
    ----------
    mentions
        S_n×T_n windows, from :func:`~howsteps.localise.mention_windows`.
    relations
        S_n: the relation of every mention, below ``vocabulary``.
    vocabulary
        D.
    """
    counts = np.zeros((mentions.shape[1], vocabulary), np.float32)
    for window, relation in zip(mentions, relations, strict=True):
        counts[window, relation] += 1
    total = counts.sum(axis=1, keepdims=True)
    histogram: NDArray[np.float32] = np.sqrt(counts / np.maximum(total, 1.0))
    return histogram


def known_step_f1(places: Places, truth: Sequence[Mask]) -> float:
    """F1 of steps that are known by number: correct when inside a true interval of the step.

    precision = correct/(steps placed), recall = correct/((video, step) pairs that exist).
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
    """Predictions on the videos left out of training, and the λ and the score of every fold."""

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
    """Learn W from windows of the ground truth; predict on the videos left out, in order.

    Parameters
    ----------
    features
        T_n×d a video.
    truth
        T_n×K a video: where each step truly is; a step without any interval is not in the video.
    folds, inner_folds
        Of the evaluation, and of the choice of λ inside each training set.
    regularisations
        The λ to choose from.
    score
        What to choose by; higher is better.
    seed
        Of the folds.
    """
    if len(features) < max(folds, inner_folds + 1):
        raise LocaliseError(f"{len(features)} videos are too few for {folds} folds")
    rng = np.random.default_rng(seed)
    parts = np.array_split(rng.permutation(len(features)), folds)
    steps = truth[0].shape[1]
    places = np.full((len(features), steps), -1)
    chosen, scores = [], []
    for part in parts:
        train = np.setdiff1d(np.arange(len(features)), part)
        inner = np.array_split(rng.permutation(train), inner_folds)

        def validation(value: float, train: Places = train, inner: list[Places] = inner) -> float:
            return sum(
                score(
                    _leave_out(features, truth, np.setdiff1d(train, left_out), left_out, value),
                    [truth[n] for n in left_out],
                )
                for left_out in inner
            )

        best = max(regularisations, key=validation)
        places[part] = _leave_out(features, truth, train, part, best)
        chosen.append(best)
        scores.append(score(places[part], [truth[n] for n in part]))
    return Supervised(places, tuple(chosen), tuple(scores))


def _leave_out(
    features: Sequence[NDArray[np.floating]],
    truth: Sequence[Mask],
    train: Places,
    test: Places,
    regularisation: float,
) -> Places:
    """Train on some videos, place the steps in others."""
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
