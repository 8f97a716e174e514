"""Average linkage: acts that are alike become one cluster.

The two clusters whose members are most similar on average are joined, as long as that average is
large enough and no pair between them is forbidden. Frequent acts count more in the average.
"""

import numpy as np
from numpy.typing import NDArray


def average_linkage(
    similarity: NDArray[np.float64],
    weights: NDArray[np.float64],
    forbidden: NDArray[np.bool_],
    least: float,
) -> list[list[int]]:
    """Clusters of acts, each sorted, by their first member.

    Parameters
    ----------
    similarity
        n×n, symmetric.
    weights
        How much each act counts.
    forbidden
        Pairs of acts that never come into one cluster (n×n, symmetric): opposites.
    least
        The least average similarity at which clusters are joined.
    """
    many = len(similarity)
    pairs = np.outer(weights, weights)
    total = similarity * pairs
    apart = forbidden.copy()
    gone = np.zeros(many, dtype=np.bool_)
    average = np.where(apart, -np.inf, similarity)
    np.fill_diagonal(average, -np.inf)
    members = [[act] for act in range(many)]
    while many:
        one, two = divmod(int(average.argmax()), many)
        if average[one, two] < least:
            break
        members[one] += members[two]
        gone[two] = True
        for table in (total, pairs):
            table[one] += table[two]
            table[:, one] += table[:, two]
        apart[one] |= apart[two]
        apart[:, one] |= apart[:, two]
        row = np.where(apart[one] | gone, -np.inf, total[one] / pairs[one])
        row[one] = -np.inf
        average[one], average[:, one] = row, row
        average[two], average[:, two] = -np.inf, -np.inf
    return [sorted(own) for act, own in enumerate(members) if not gone[act]]


def linkage_between(
    similarity: NDArray[np.float64], weights: NDArray[np.float64], one: list[int], two: list[int]
) -> float:
    """The average similarity of the acts of two clusters, frequent acts counting more."""
    pairs = np.outer(weights[one], weights[two])
    return float((similarity[np.ix_(one, two)] * pairs).sum() / pairs.sum())
