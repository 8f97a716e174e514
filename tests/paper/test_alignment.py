"""The function align: optimal on small problems, checked input, deterministic for a seed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from howsteps.errors import HowstepsError
from howsteps.paper.alignment import AUTHORS, FrankWolfe, align, pair_bound
from howsteps.paper.alignment_problem import frank_wolfe, make_problem, random_start
from tests.paper import naive

SAME = np.eye(3, dtype=bool)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 100_000), st.sampled_from([0.0, 0.15, 0.5]))
def test_meets_the_optimum_of_four_sequences_of_five(seed: int, alike: float) -> None:
    sequences, match = naive.random_instance(seed, sequences=4, longest=5, relations=4, alike=alike)
    found = align(sequences, match, seed=seed)
    assert found.objective == naive.optimum(sequences, match)
    assert found.objective == naive.objective(sequences, match, found.slots)
    assert found.bound <= found.objective


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 100_000))
def test_an_alignment_is_increasing_and_its_objective_is_what_it_says(seed: int) -> None:
    sequences, match = naive.random_instance(seed, sequences=9, longest=12, relations=15)
    found = align(sequences, match, seconds=0.05)
    assert [len(slots) for slots in found.slots] == [len(row) for row in sequences]
    assert all(naive.increasing(slots) for slots in found.slots)
    assert found.objective == naive.objective(sequences, match, found.slots)
    assert found.objective_per_token * found.tokens == pytest.approx(found.objective)
    used = {slot for slots in found.slots for slot in slots}
    assert used == set(range(len(used)))


@pytest.mark.slow
def test_a_mismatch_pays_off_in_a_large_slot() -> None:
    # 0 and 2 match 1 but not each other: with 150 times 1 in the slot, both still gain there.
    match = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    sequences = [[1]] * 150 + [[0], [2]]
    found = align(sequences, match)
    assert found.objective == -(150**2) - 2 * 2 * 150 + 2 * 100 - 2


@pytest.mark.parametrize(
    ("sequences", "objective"),
    [
        *(([], 0), ([[]], 0), ([[], []], 0)),
        ([[0, 1, 0, 2]], -4),  # a single narration stands alone
        ([[0], [], [1, 2]], -3),  # no relation is shared
        ([[0, 0, 0], [0], [0, 0]], -(3**2) - 2**2 - 1),  # one relation everywhere
    ],
)
def test_little_to_align_is_proved(sequences: list[list[int]], objective: int) -> None:
    found = align(sequences, SAME)
    assert found.objective == found.bound == objective
    assert [len(slots) for slots in found.slots] == [len(row) for row in sequences]
    assert found.objective_per_token * found.tokens == objective


def test_the_solver_of_the_authors_uses_their_template() -> None:
    sequences, match = naive.random_instance(2, sequences=6, longest=6, relations=6)
    found = align(sequences, match, solver=AUTHORS)
    assert max(max(slots, default=0) for slots in found.slots) < 120
    assert found.objective >= align(sequences, match).objective


def test_a_long_sequence_lengthens_the_template_of_a_solver() -> None:
    found = align([[0, 1, 2]], SAME, solver=FrankWolfe(slots=2))
    assert found.slots == ((0, 1, 2),)


@pytest.mark.parametrize("iterations", [1, 2, 5, 40])
def test_the_last_corner_is_what_the_paper_rounds_to(iterations: int) -> None:
    sequences, match = naive.random_instance(9, sequences=5, longest=5, relations=4)
    problem = make_problem(sequences, match)
    start = random_start(problem, 12, np.random.default_rng(0))
    _, corner = frank_wolfe(problem, start, iterations)
    solver = FrankWolfe(slots=12, iterations=iterations, rounding="last-corner")
    found = align(sequences, match, solver=solver)
    assert found.slots == problem.split(corner)
    best = align(sequences, match, solver=replace(solver, rounding="best"))
    assert best.objective <= found.objective


def test_a_negative_seed() -> None:
    with pytest.raises(HowstepsError, match="seed must be a non-negative integer, not -1"):
        align([[0]], SAME, seed=-1)


def test_the_bound_is_that_of_the_longest_common_subsequences() -> None:
    problem = make_problem([[0, 1], [1, 0], [0, 2]], SAME)
    # Two narrations disagree on the order of 0 and 1, so they share at most one of them.
    assert pair_bound(problem) == -6 - 2 * 3


@pytest.mark.parametrize(
    ("sequences", "match", "message"),
    [
        ([[0]], [[1, 0]], "D×D array"),
        ([[0]], [[1, 0], [1, 1]], "symmetric"),
        ([[0]], [[0]], "true on its diagonal"),
        ([[0, 3]], SAME, "sequence 0 has another token"),
        ([[0], [-1]], SAME, "sequence 1 has another token"),
    ],
)
def test_bad_input_is_reported(sequences: list, match: object, message: str) -> None:
    with pytest.raises(HowstepsError, match=message):
        align(sequences, match)


class TestTokens:
    """Tokens may be anything; without a match, equal tokens match."""

    def test_strings_align_as_their_numbers_do(self) -> None:
        sequences, match = naive.random_instance(7, sequences=8, longest=7, relations=6, alike=0.0)
        words = [[f"token {token}" for token in row] for row in sequences]
        assert align(words, seed=1).objective == align(sequences, match, seed=1).objective
        assert align([["boil", "pour", "stir"], ["boil", "stir"]]).slots == ((0, 1, 2), (0, 2))

    def test_tuples_and_arrays_are_tokens_too(self) -> None:
        assert align([[("take", "nut"), ("lift", "car")], [("lift", "car")]]).slots == (
            (0, 1),
            (1,),
        )
        assert align([np.array([3, -7]), np.array([-7])]).slots == ((0, 1), (1,))

    @pytest.mark.parametrize("sequences", ["abc", ["abc"]])
    def test_a_string_is_not_aligned_letter_by_letter(self, sequences: str) -> None:
        with pytest.raises(HowstepsError, match="a string is one token"):
            align(sequences)
