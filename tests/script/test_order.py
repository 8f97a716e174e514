"""The order of the steps: rank aggregation, chains and the partial order."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from howsteps.script.order import (
    POSITION_SCALE,
    POSITION_WEIGHT,
    Swap,
    aggregate,
    keep_in_order,
    kemeny_score,
    partial_order,
    precedence,
)
from howsteps.task import Script, Step
from tests.script import spoken

MIDDLE = 0.5


def gains(before: np.ndarray, positions: np.ndarray) -> np.ndarray:
    gaps = positions[None, :] - positions[:, None]
    return before - before.T + POSITION_WEIGHT * np.tanh(gaps / POSITION_SCALE)


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
def test_no_move_of_a_step_gives_a_better_order(before: np.ndarray, positions: np.ndarray) -> None:
    np.fill_diagonal(before, 0)
    gain = gains(before, positions)
    order = aggregate(before, positions)
    assert sorted(order) == list(range(5))
    for step in order:
        rest = [other for other in order if other != step]
        moved = [[*rest[:at], step, *rest[at:]] for at in range(5)]
        best = max(kemeny_score(other, gain) for other in moved)
        assert kemeny_score(order, gain) >= best - 1e-6


def test_many_steps_are_put_in_the_order_that_all_videos_agree_on() -> None:
    hidden = np.random.default_rng(0).permutation(20)
    rank = np.argsort(hidden)
    before = (rank[:, None] < rank[None, :]) * 4.0
    assert aggregate(before, np.full(20, MIDDLE)) == hidden.tolist()


def test_steps_that_nobody_names_together_go_by_their_place_in_the_videos() -> None:
    assert aggregate(np.zeros((3, 3)), np.array([0.9, 0.1, 0.5])) == [1, 2, 0]


def test_no_steps_have_no_order() -> None:
    assert aggregate(np.zeros((0, 0)), np.zeros(0)) == []
    assert keep_in_order([], np.zeros(0, np.int64), np.zeros(0)) == []


def test_a_preview_and_a_recap_are_dropped() -> None:
    # Ten videos say step 0 at .3 and step 1 at .7; the last one also previews and recaps.
    videos = np.array([*range(10), *range(10), 9, 9])
    positions = np.array([0.3] * 10 + [0.7] * 10 + [0.05, 0.95])
    steps = [np.array([*range(10), 21]), np.array([*range(10, 20), 20])]
    kept = keep_in_order(steps, videos, positions)
    assert kept[0].tolist() == list(range(10))
    assert kept[1].tolist() == list(range(10, 20))


def test_a_step_may_be_said_twice_in_a_row() -> None:
    videos, positions = np.zeros(3, dtype=np.int64), np.array([0.2, 0.3, 0.8])
    kept = keep_in_order([np.array([0, 1]), np.array([2])], videos, positions)
    assert [members.tolist() for members in kept] == [[0, 1], [2]]


def test_steps_in_any_order_keep_the_mentions_of_both_orders() -> None:
    videos = np.array([0, 0, 1, 1])
    positions = np.array([0.3, 0.7, 0.7, 0.3])
    steps = [np.array([0, 2]), np.array([1, 3])]
    assert sum(map(len, keep_in_order(steps, videos, positions))) == 3
    kept = keep_in_order(steps, videos, positions, [(0, 1)])
    assert [members.tolist() for members in kept] == [[0, 2], [1, 3]]


def test_of_two_conflicting_mentions_the_more_likely_work_is_kept() -> None:
    videos, positions = np.zeros(3, dtype=np.int64), np.array([0.5, 0.6, 0.5])
    steps = [np.array([1]), np.array([0, 2])]
    for work, kept in (([0.1, 0.9, 0.1], [1]), ([0.9, 0.1, 0.9], [])):
        found = keep_in_order(steps, videos, positions, work=np.array(work))
        assert found[0].tolist() == kept


def test_a_preview_is_no_swap() -> None:
    task = spoken.task(*2 * ["catch cat; fill tub; catch cat; catch cat"])
    groups = [
        tuple(m for video in task.videos for m in video.mentions if (m.verb, m.noun) == act)
        for act in (("fill", "tub"), ("catch", "cat"))
    ]
    script = Script(tuple(Step("", group) for group in groups))
    assert partial_order(task, script).swaps == ()


def test_swaps_have_counts_and_rare_steps_are_listed() -> None:
    task = spoken.task(
        "fill tub; catch cat; dry cat",
        "catch cat; fill tub; dry cat",
        "catch cat; fill tub; dry cat",
        "fill tub; catch cat; dry cat",
    )
    groups = [
        [m for video in task.videos for m in video.mentions if (m.verb, m.noun) == act]
        for act in (("fill", "tub"), ("catch", "cat"), ("dry", "cat"))
    ]
    script = Script(tuple(Step("", tuple(group)) for group in groups))
    assert partial_order(task, script).swaps == (Swap(0, 1, 2, 2),)
    assert partial_order(task, script).rarely_mentioned == ()
    rare = replace(script, steps=(*script.steps, Step("", script.steps[0].mentions[:1])))
    assert partial_order(task, rare).rarely_mentioned == (3,)
