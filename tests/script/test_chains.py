"""Mentions that follow the order of the script."""

import numpy as np

from howsteps.script.chains import keep_in_order


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


def test_no_steps_keep_nothing() -> None:
    assert keep_in_order([], np.zeros(0, np.int64), np.zeros(0)) == []


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
