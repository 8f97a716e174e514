"""One order of the steps from the orders in which videos name them."""

from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from howsteps.script.rank_aggregation import (
    PRIOR_SCALE,
    PRIOR_WEIGHT,
    aggregate,
    kemeny_score,
    precedence,
)

MIDDLE = 0.5


def gains(before: np.ndarray, positions: np.ndarray) -> np.ndarray:
    return (
        before
        - before.T
        + PRIOR_WEIGHT * np.tanh((positions[None, :] - positions[:, None]) / PRIOR_SCALE)
    )


def test_a_video_votes_with_its_share_of_pairs() -> None:
    # Video 0 names step 0 at 1 s and 9 s and step 1 at 5 s; video 1 only step 1.
    videos, times = np.array([0, 0, 0, 1]), np.array([1.0, 9.0, 5.0, 2.0])
    before = precedence([np.array([0, 1]), np.array([2, 3])], videos, times)
    assert before.tolist() == [[0.0, 0.5], [0.5, 0.0]]


def test_mentions_at_the_same_time_are_half_a_vote_each() -> None:
    before = precedence([np.array([0]), np.array([1])], np.array([0, 0]), np.array([3.0, 3.0]))
    assert before[0, 1] == before[1, 0] == 0.5


@settings(max_examples=40, deadline=None)
@given(
    arrays(np.float64, (5, 5), elements=st.floats(0, 9)),
    arrays(np.float64, 5, elements=st.floats(0, 1)),
)
def test_up_to_fifteen_steps_no_order_is_better(before: np.ndarray, positions: np.ndarray) -> None:
    np.fill_diagonal(before, 0)
    gain = gains(before, positions)
    order = aggregate(before, positions)
    assert sorted(order) == list(range(5))
    best = max(kemeny_score(other, gain) for other in permutations(range(5)))
    assert np.isclose(kemeny_score(order, gain), best)


def test_many_steps_are_put_in_the_order_that_all_videos_agree_on() -> None:
    hidden = np.random.default_rng(0).permutation(20)
    rank = np.argsort(hidden)
    before = (rank[:, None] < rank[None, :]) * 4.0
    assert aggregate(before, np.full(20, MIDDLE)) == hidden.tolist()


def test_steps_that_nobody_names_together_go_by_their_place_in_the_videos() -> None:
    assert aggregate(np.zeros((3, 3)), np.array([0.9, 0.1, 0.5])) == [1, 2, 0]


def test_no_steps_have_no_order() -> None:
    assert aggregate(np.zeros((0, 0)), np.zeros(0)) == []
