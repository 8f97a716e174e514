"""Clusters of acts, and which of them become steps."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from howsteps.script.acts import Act, ActTable
from howsteps.script.clusters import (
    MAX_STEPS,
    MIN_STEPS,
    SCORE_SHARE,
    USUAL_STEPS,
    average_linkage,
    least_support,
    linkage_between,
    select_clusters,
)

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


def act_table(supports: list[int], n_videos: int) -> ActTable:
    """Acts with the given supports, each mentioned once per video."""
    acts = tuple(Act(f"verb{n}", "", f"noun{n}") for n in range(len(supports)))
    pairs = [(act, video) for act, count in enumerate(supports) for video in range(count)]
    act, video = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    time = act.astype(np.float64)
    return ActTable(acts, act, video, time, time / 100, np.full(n_videos, 100.0))


def chosen(
    scores: list[float], supports: list[int], n_videos: int = 40, max_steps: int | None = None
) -> list[int]:
    clusters = [[act] for act in range(len(scores))]
    table = act_table(supports, n_videos)
    return select_clusters(table, clusters, np.eye(len(scores)), np.array(scores), max_steps)


def test_a_longer_script_needs_higher_scores() -> None:
    supports = [40] + [5] * 22
    assert len(chosen([1.0] * 3 + [SCORE_SHARE * 1.01] * 20, supports)) == USUAL_STEPS
    assert len(chosen([1.0] * 23, supports)) == MAX_STEPS
    assert len(chosen([1.0] * 3 + [0.01] * 20, supports)) == MIN_STEPS


def test_a_given_number_of_steps_is_selected() -> None:
    scores = [1.0] * 3 + [0.01] * 20
    assert len(chosen(scores, [5] * 23, max_steps=12)) == 12
    assert len(chosen([1.0] * 30, [5] * 30, max_steps=20)) == 20


def test_an_act_of_one_narrator_is_not_a_step() -> None:
    assert chosen([1.0, 2.0], [2, 1]) == [0]
    assert chosen([1.0, 2.0], [1, 1], n_videos=1) == [1, 0]


def test_among_many_narrators_two_are_not_enough() -> None:
    assert [least_support(n) for n in (1, 2, 30, 100)] == [1, 2, 2, 7]
    assert chosen([1.0, 2.0, 2.0], [100, 7, 6], n_videos=100) == [1, 0]


def test_a_cluster_similar_to_a_selected_one_is_discounted() -> None:
    similarity = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    clusters = [[0], [1], [2]]
    scores = np.array([3.0, 2.0, 1.0])
    assert select_clusters(act_table([5] * 3, 9), clusters, similarity, scores, max_steps=2) == [
        0,
        2,
    ]
