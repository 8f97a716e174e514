"""Average linkage of acts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from howsteps.script.clusters import average_linkage, linkage_between

N_ACTS = 6
NOTHING = np.zeros((3, 3), dtype=np.bool_)
CHAIN = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.8], [0.0, 0.8, 1.0]])


def test_acts_are_merged_by_mean_similarity() -> None:
    assert average_linkage(CHAIN, np.ones(3), NOTHING, 0.5) == [[0, 1], [2]]
    assert average_linkage(CHAIN, np.ones(3), NOTHING, 0.3) == [[0, 1, 2]]


def test_frequent_acts_count_more() -> None:
    # Beside the frequent act 1, the dissimilar act 0 has little weight.
    assert average_linkage(CHAIN, np.array([1.0, 9.0, 1.0]), NOTHING, 0.5) == [[0, 1, 2]]


def test_opposites_stay_apart_also_through_a_third_act() -> None:
    forbidden = NOTHING.copy()
    forbidden[0, 2] = forbidden[2, 0] = True
    assert average_linkage(np.ones((3, 3)), np.ones(3), forbidden, 0.5) == [[0, 1], [2]]


@given(arrays(np.float64, (N_ACTS, N_ACTS), elements=st.floats(0, 1)), st.floats(0.1, 0.9))
def test_every_act_is_in_one_cluster_and_no_two_clusters_can_be_merged(
    raw: np.ndarray, threshold: float
) -> None:
    similarity, weights = (raw + raw.T) / 2, np.arange(1.0, N_ACTS + 1)
    found = average_linkage(similarity, weights, np.zeros((N_ACTS, N_ACTS), np.bool_), threshold)
    assert sorted(act for cluster in found for act in cluster) == list(range(N_ACTS))
    for one in range(len(found)):
        for two in range(one):
            assert linkage_between(similarity, weights, found[one], found[two]) < threshold + 1e-9


def test_no_acts_have_no_clusters() -> None:
    empty = np.zeros((0, 0))
    assert average_linkage(empty, np.zeros(0), empty.astype(np.bool_), 0.5) == []
