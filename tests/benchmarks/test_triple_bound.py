"""Bounds are never above the optimum, and three sequences reach it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.triple_bound import triple_bound
from howsteps.paper.alignment import pair_bound
from howsteps.paper.alignment_problem import make_problem
from tests.paper import naive


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 100_000), st.sampled_from([0.0, 0.15, 0.5]), st.integers(2, 5))
def test_every_bound_is_below_the_optimum(seed: int, alike: float, n_sequences: int) -> None:
    sequences, match = naive.random_instance(
        seed, sequences=n_sequences, longest=4, relations=4, alike=alike
    )
    problem, best = make_problem(sequences, match), naive.optimum(sequences, match)
    assert pair_bound(problem) <= triple_bound(problem, seconds=0.05, objective=best) <= best


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
