"""The global order, compared with brute force."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.evaluate.statistics import agreement, find_order


def longest_common_subsequence(one, other):
    """The definition, as a recursion."""
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + longest_common_subsequence(one[1:], other[1:])
    return max(
        longest_common_subsequence(one[1:], other), longest_common_subsequence(one, other[1:])
    )


sequences = st.lists(st.lists(st.integers(0, 4), max_size=7), min_size=1, max_size=5)


@given(st.permutations(range(5)), sequences)
def test_agreement_is_the_longest_common_subsequence(order, found):
    assert agreement(order, found) == [longest_common_subsequence(order, s) for s in found]


@given(sequences)
def test_no_order_agrees_better(found):
    order = find_order(found, 5)
    assert order.proved
    assert sorted(order.steps) == list(range(5))
    assert order.agreement == sum(agreement(order.steps, found))
    assert order.agreement == max(sum(agreement(p, found)) for p in permutations(range(5)))


def test_worked_example():
    # c comes before a and b twice, after them once. With c a b: l = 3 + 2 + 2 = 7;
    # with a b c: l = 2 + 2 + 3 = 7 as well; with c b a only 2 + 2 + 1. So 7 of Σu = 8.
    videos = [[2, 0, 1], [2, 0], [0, 1, 2]]
    assert find_order(videos, 3).agreement == 7


@pytest.mark.parametrize("steps", [12, 15])
def test_finds_and_proves_the_order_of_videos_with_swaps_and_omissions(steps):
    # Every video leaves out one step and swaps two neighbours: l = u − 1 for the true order.
    videos = []
    for n in range(2 * steps):
        video = [k for k in range(steps) if k != n % steps]
        at = (5 * n) % (steps - 2)
        video[at], video[at + 1] = video[at + 1], video[at]
        videos.append(video)
    order = find_order(videos, steps)
    assert order.proved
    assert order.steps == tuple(range(steps))
    assert order.agreement == len(videos) * (steps - 2)


def test_says_when_the_best_is_not_proved():
    videos = [[(7 * k + n * k * k) % 11 for k in range(11)] for n in range(1, 9)]
    assert not find_order(videos, 11, most=3).proved


def test_many_steps_are_ordered_without_a_search():
    videos = [list(range(40)), list(range(39))]
    order = find_order(videos, 40)
    assert order.steps == tuple(range(40))
    assert not order.proved


def test_no_videos_and_no_steps_are_accepted():
    assert find_order([], 3).agreement == 0
    assert find_order([[]], 0).steps == ()


@pytest.mark.parametrize("steps", [2, 20_000])
def test_memory_follows_the_number_of_annotations(steps):
    # K×N×T: 10¹⁰ cells with 2 steps, 10¹⁴ with 20,000.
    videos = [[n % steps] for n in range(50_000)] + [[n % steps for n in range(100_000)]]
    order = find_order(videos, steps)
    assert not order.proved
    assert order.agreement == 50_000 + steps
