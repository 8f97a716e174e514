"""Cluster acts, and select the clusters that become the steps of the script.

Agglomerative clustering with average linkage and cannot-link constraints: the two clusters with the
highest mean similarity are merged, as long as it reaches a threshold and no pair between them is
forbidden. The mean is weighted, so that frequent acts count more. (SciPy's linkage has neither
constraints nor weights.)

The score of a cluster is the number of videos that mention it, each weighted by the probability
that what it mentions is a step, times the mean probability that its mentions are work: what is
done, not what is said most. Clusters that are spread over the whole video are weighted down.
Clusters are selected greedily; after each, the scores of the others are discounted by their
similarity to the selected ones, so that no step is selected twice (as in maximal marginal
relevance). The longer the script, the higher the score that a further step needs.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from howsteps.script.acts import ActTable, Matrix
from howsteps.script.step_model import spread_of

MIN_STEPS, MAX_STEPS = 5, 15
SPREAD_PENALTY = 2.0
REDUNDANCY_POWER = 2.0  # of the discount for being similar to a selected step
# The USUAL_STEPS-th step needs this share of the mean score of the three best.
SCORE_SHARE, USUAL_STEPS = 0.15, 10
MIN_SUPPORT_SHARE = 0.07  # of the narrators


def average_linkage(
    similarity: NDArray[np.float64],
    weights: NDArray[np.float64],
    forbidden: NDArray[np.bool_],
    threshold: float,
) -> list[list[int]]:
    """Clusters of acts, each sorted, in order of their first member.

    Parameters
    ----------
    similarity
        Of all pairs of acts (n×n, symmetric).
    weights
        Of the acts.
    forbidden
        Pairs of acts that must not be in one cluster (n×n, symmetric): opposites.
    threshold
        The mean similarity from which on clusters are merged.
    """
    n_acts = len(similarity)
    pairs = np.outer(weights, weights)
    total = similarity * pairs
    cannot_link = forbidden.copy()
    merged = np.zeros(n_acts, dtype=np.bool_)
    average = np.where(cannot_link, -np.inf, similarity)
    np.fill_diagonal(average, -np.inf)
    members = [[act] for act in range(n_acts)]
    while n_acts:
        one, two = divmod(int(average.argmax()), n_acts)
        if average[one, two] < threshold:
            break
        members[one] += members[two]
        merged[two] = True
        for table in (total, pairs):
            table[one] += table[two]
            table[:, one] += table[:, two]
        cannot_link[one] |= cannot_link[two]
        cannot_link[:, one] |= cannot_link[:, two]
        row = np.where(cannot_link[one] | merged, -np.inf, total[one] / pairs[one])
        row[one] = -np.inf
        average[one], average[:, one] = row, row
        average[two], average[:, two] = -np.inf, -np.inf
    return [sorted(cluster) for act, cluster in enumerate(members) if not merged[act]]


def linkage_between(
    similarity: NDArray[np.float64], weights: NDArray[np.float64], one: list[int], two: list[int]
) -> float:
    """The weighted mean similarity between the acts of two clusters."""
    pairs = np.outer(weights[one], weights[two])
    return float((similarity[np.ix_(one, two)] * pairs).sum() / pairs.sum())


def cluster_scores(
    table: ActTable,
    clusters: Sequence[Sequence[int]],
    is_step: Matrix,
    work: Matrix,
) -> Matrix:
    """The score of each cluster.

    Parameters
    ----------
    clusters
        The acts of each cluster.
    is_step
        The probability that each act is a step.
    work
        The probability that each mention is work, not talk.
    """
    by_video = (table.counts > 0) * is_step[:, None]
    scores = np.zeros(len(clusters))
    for index, cluster in enumerate(clusters):
        members = np.concatenate([table.members[act] for act in cluster])
        spread = spread_of(table.position[members])
        done = by_video[list(cluster)].max(axis=0).sum() * work[members].mean()
        scores[index] = done * np.exp(-SPREAD_PENALTY * spread)
    return scores


def select_clusters(
    table: ActTable,
    clusters: Sequence[list[int]],
    similarity: Matrix,
    scores: Matrix,
    max_steps: int | None = None,
) -> list[int]:
    """Select the clusters that become steps, best first.

    Parameters
    ----------
    similarity
        Of all pairs of acts (n×n).
    scores
        Of :func:`cluster_scores`.
    max_steps
        K, the most steps to select. None: 5 to 15, as long as their scores are high enough.

    Returns
    -------
    Indices into ``clusters``.
    """
    n_videos = table.support(range(len(table.acts)))
    support = [table.support(cluster) for cluster in clusters]
    min_support = least_support(n_videos)
    left = [int(index) for index in np.argsort(-scores, kind="stable")]
    redundancy = dict.fromkeys(left, 0.0)
    selected: list[int] = []
    selected_scores: list[float] = []
    while left and len(selected) < (max_steps or MAX_STEPS):
        discounted = {i: scores[i] * (1.0 - redundancy[i]) ** REDUNDANCY_POWER for i in left}
        if max_steps is None and len(selected) >= MIN_STEPS:
            threshold = _score_share(len(selected) + 1) * np.mean(selected_scores[:3])
            discounted = {i: score for i, score in discounted.items() if score >= threshold}
            if not discounted:
                break
        best = max(discounted, key=lambda i: discounted[i])
        left.remove(best)
        if support[best] < min_support:
            continue
        selected.append(best)
        selected_scores.append(discounted[best])
        for i in left:
            shared = linkage_between(similarity, table.video_counts, clusters[i], clusters[best])
            redundancy[i] = max(redundancy[i], shared)
    return selected


def least_support(narrators: int) -> int:
    """How many of the narrators must mention a step: one is not enough, if there are others."""
    return min(narrators, max(2, round(MIN_SUPPORT_SHARE * narrators)))


def _score_share(number: int) -> float:
    """The score that the step of this number needs, as a share of the mean of the three best."""
    return SCORE_SHARE * (number / USUAL_STEPS) ** 2
