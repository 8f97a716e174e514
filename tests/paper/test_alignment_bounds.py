"""Bounds are never above the optimum, and three sequences reach it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from howsteps.paper.alignment_bounds import pair_bound, triple_bound
from howsteps.paper.alignment_problem import AlignmentProblem, make_problem
from tests.paper import naive


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 100_000), st.sampled_from([0.0, 0.15, 0.5]), st.integers(2, 5))
def test_every_bound_is_below_the_optimum(seed: int, alike: float, n_sequences: int) -> None:
    sequences, match = naive.random_instance(
        seed, sequences=n_sequences, longest=4, relations=4, alike=alike
    )
    problem, best = make_problem(sequences, match), naive.optimum(sequences, match)
    assert pair_bound(problem) <= triple_bound(problem, seconds=0.05, objective=best) <= best


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 100_000))
def test_bounds_hold_where_mismatches_are_cheap(seed: int) -> None:
    """With four sequences and a mismatch at 1 instead of 100, the optimum may hold conflicts."""
    sequences, match = naive.random_instance(seed, sequences=4, longest=4, relations=3, alike=0.6)
    default = make_problem(sequences, match)
    problem = AlignmentProblem(default.tokens, default.lengths, default.match, mismatch_cost=1)
    best = naive.optimum(sequences, match, mismatch=1)
    assert not problem.conflict_free
    assert triple_bound(problem, seconds=0.05, objective=best) <= best


def test_the_bound_by_pairs_is_that_of_the_longest_common_subsequences() -> None:
    problem = make_problem([[0, 1], [1, 0], [0, 2]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    # Two narrations disagree on the order of 0 and 1, so they share at most one of them.
    assert pair_bound(problem) == -6 - 2 * 3


def test_three_sequences_are_one_triple() -> None:
    sequences, match = naive.random_instance(11, sequences=3, longest=6, relations=3)
    best = naive.optimum(sequences, match)
    assert triple_bound(make_problem(sequences, match), seconds=5, objective=best) == best


def test_a_design_of_triples_covers_the_pairs_of_many_sequences() -> None:
    sequences, match = naive.random_instance(3, sequences=40, longest=4, relations=6)
    problem = make_problem(sequences, match)
    floor = triple_bound(problem, seconds=0.5, objective=-len(problem.tokens))
    assert pair_bound(problem) < floor < -len(problem.tokens)


@pytest.mark.parametrize("sequences", [[[0, 1], [1, 0]], [[0], [1]]])
def test_two_sequences_are_bounded_by_their_pair(sequences: list[list[int]]) -> None:
    problem = make_problem(sequences, [[1, 0], [0, 1]])
    assert triple_bound(problem, seconds=1, objective=-100) == pair_bound(problem)


def test_without_time_there_is_the_bound_by_pairs() -> None:
    sequences, match = naive.random_instance(7, sequences=8, longest=6, relations=5)
    problem = make_problem(sequences, match)
    assert triple_bound(problem, seconds=0, objective=-1) == pair_bound(problem)
