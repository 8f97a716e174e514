"""Statistics of a data set: worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.evaluate import statistics
from howsteps.evaluate.statistics import agreement, find_order, sequences_of
from tests.evaluate.truths import truth


def in_order(*videos: str):
    """A truth in which letters are steps, one after the other, two seconds each."""
    rows = {
        f"v{n}": [(ord(letter) - ord("a"), 2.0 * t, 2.0 * t + 2) for t, letter in enumerate(text)]
        for n, text in enumerate(videos)
    }
    return truth(rows, 3, {f"v{n}": 2.0 * len(text) + 2 for n, text in enumerate(videos)})


def test_worked_example():
    # video   g  u  l with order a b c
    # abc     3  3  3
    # ba      2  2  1
    # aabbc   5  3  3
    # cac     3  2  2 (a c)
    # Σg = 13, Σu = 10, Σl = 9, K·N = 12.
    found = statistics(in_order("abc", "ba", "aabbc", "cac"))
    assert (found.videos, found.steps, found.annotated) == (4, 3, 13)
    assert found.order == (0, 1, 2)
    assert found.order_error == pytest.approx(1 - 9 / 10)
    assert found.missing == pytest.approx(1 - 10 / 12)
    assert found.repetition == pytest.approx(1 - 10 / 13)


def test_a_video_without_annotations_misses_every_step():
    assert statistics(in_order("abc", "")).missing == pytest.approx(1 / 2)


@given(st.lists(st.text("abc", max_size=6), min_size=1, max_size=4))
def test_all_are_shares_and_no_order_has_a_smaller_error(videos):
    job = in_order(*videos)
    found = statistics(job)
    shares = found.order_error, found.missing, found.repetition
    assert all(0 <= share <= 1 for share in shares)
    in_found_order, in_another = (
        sum(agreement(order, sequences_of(job))) for order in (found.order, (1, 2, 0))
    )
    assert in_found_order >= in_another


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
def test_no_move_of_a_step_agrees_better(found):
    order = find_order(found, 5)
    assert sorted(order) == list(range(5))
    for step in order:
        rest = [other for other in order if other != step]
        for i in range(5):
            moved = [*rest[:i], step, *rest[i:]]
            assert sum(agreement(moved, found)) <= sum(agreement(order, found))


@pytest.mark.parametrize("steps", [12, 15])
def test_finds_the_order_of_videos_with_swaps_and_omissions(steps):
    # Every video leaves out one step and swaps two neighbours: l = u − 1 for the true order.
    videos = []
    for n in range(2 * steps):
        video = [k for k in range(steps) if k != n % steps]
        at = (5 * n) % (steps - 2)
        video[at], video[at + 1] = video[at + 1], video[at]
        videos.append(video)
    assert find_order(videos, steps) == tuple(range(steps))


def test_many_steps_are_ordered_without_a_search():
    videos = [list(range(1000)), list(range(999))]
    assert find_order(videos, 1000) == tuple(range(1000))


def test_no_videos_and_no_steps_are_accepted():
    assert find_order([], 3) == (0, 1, 2)
    assert find_order([[]], 0) == ()
