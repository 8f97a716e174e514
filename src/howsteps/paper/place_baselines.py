"""Baselines of localisation: uniform, video only, joint features, supervised, and the HMM.

The hidden Markov model (Malmaud et al., 2015) aligns a transcript to known steps. The hidden state
after each mention is the step that the narrator has reached; it never decreases. A mention is
either about that step, and drawn from its relations, or background, drawn from all relations:

    P(mention | step k) = β·P(relation | k),   P(mention, background) = (1 − β)·P(relation)
    P(k → k + j) = (1 − stay)·2^−j for j ≥ 1,  stay for j = 0

The Viterbi algorithm finds the best path. A step is placed at its first mention, and steps without
a mention are spread evenly between (:func:`howsteps.localise.order.place_aligned`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.localise.features import Floats, LocaliseError, Mask, Places
from howsteps.localise.order import cheapest_placement
from howsteps.paper.clustering import Clustering, cluster

LAMBDAS = (1e-4, 1e-3, 1e-2, 1e-1)
Validation = Callable[[Places, Sequence[Mask]], float]


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
        Options of :func:`~howsteps.paper.cluster`.
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
        S_n×T_n windows, from :func:`~howsteps.localise.word_evidence.mention_windows`.
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


def align_transcript(
    relations: NDArray[np.integer],
    step_relations: Floats,
    relation_counts: Floats,
    *,
    about_step: float = 0.5,
    stay: float = 0.5,
) -> Places:
    """Return the step of every mention of one video, −1 for background; S.

    Parameters
    ----------
    relations
        S: index of the relation of every mention, in order of time.
    step_relations
        K×D: count of each relation among the mentions of each step.
    relation_counts
        D: count of each relation in the task.
    about_step
        β: probability that a mention is about the current step.
    stay
        Probability that the next mention is about the same step.
    """
    steps = len(step_relations)
    if not len(relations):
        return np.empty(0, np.int64)
    with np.errstate(divide="ignore"):
        emission = np.log(about_step * _normalised(step_relations))[:, relations].T
    background = np.log((1 - about_step) * _normalised(relation_counts[None] + 1.0))[0, relations]
    jump = np.arange(steps)[None, :] - np.arange(-1, steps)[:, None]  # −1: no step reached yet
    with np.errstate(divide="ignore"):
        transition = np.where(jump > 0, np.log((1 - stay) * 0.5 ** np.maximum(jump, 1)), -np.inf)
    transition[jump == 0] = np.log(stay)
    # best[k + 1]: log-probability of the best path that has reached step k; best[0]: no step yet.
    best = np.full(steps + 1, -np.inf)
    best[0] = 0.0
    came_from = np.zeros((len(relations), steps + 1), np.int64)
    for s, background_s in enumerate(background):
        candidates = best[:, None] + transition + emission[s]
        origin = candidates.argmax(axis=0)
        if_about_step = candidates[origin, np.arange(steps)]
        if_background = best + background_s
        came_from[s] = -1  # background keeps the state
        better = np.concatenate([[False], if_about_step > if_background[1:]])
        came_from[s, better] = origin[better[1:]]
        best = np.where(better, np.concatenate([[-np.inf], if_about_step]), if_background)
    state = int(best.argmax())
    aligned = np.full(len(relations), -1)
    for s in range(len(relations) - 1, -1, -1):
        if came_from[s, state] >= 0:
            aligned[s] = state - 1
            state = int(came_from[s, state])
    return aligned


def _normalised(counts: Floats) -> Floats:
    """Return rows that sum to one; a row of zeros is unchanged."""
    total = counts.sum(axis=1, keepdims=True)
    return counts / np.where(total > 0, total, 1.0)
