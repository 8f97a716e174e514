"""Agglomerative clustering of acts with average linkage and cannot-link constraints.

The two clusters with the highest mean similarity are merged, as long as it reaches a threshold and
no pair between them is forbidden. The mean is weighted, so that frequent acts count more.
"""

import numpy as np
from numpy.typing import NDArray


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
