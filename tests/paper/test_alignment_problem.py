"""Frank-Wolfe, compared with the numbers of the authors' program."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from howsteps.paper.alignment_problem import (
    AlignmentProblem,
    corner_matrix,
    frank_wolfe,
    iterate,
    make_problem,
    oracle,
    random_start,
    step_size,
)
from tests.paper import naive

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())
ALIGN = GOLDEN["align"]


def golden_problem() -> AlignmentProblem:
    tokens = np.array(ALIGN["token_word_1based"]) - 1
    b = np.array(ALIGN["B"])
    match = np.eye(tokens.max() + 1, dtype=bool)
    match[np.ix_(tokens, tokens)] = False
    for s, t in np.argwhere(b == -1):
        match[tokens[s], tokens[t]] = True
    sequences = [[word - 1 for word in words] for words in ALIGN["seq_words_1based"]]
    return make_problem(sequences, match)


@pytest.mark.parametrize("case", GOLDEN["dp"], ids=lambda case: case["name"])
def test_the_oracle_breaks_ties_like_the_authors(case: dict[str, Any]) -> None:
    cost = np.array(case["cost"])
    first = np.array([0, len(cost)])
    if len(cost) > cost.shape[1]:
        with pytest.raises(match="does not fit"):
            oracle(cost, first)
    else:
        slots = oracle(cost, first)
        assert (slots + 1).tolist() == case["time"]
        assert cost[np.arange(len(cost)), slots].sum() == pytest.approx(case["value"])


def test_the_cost_of_pairs_of_tokens() -> None:
    problem = golden_problem()
    assert (problem.costs[np.ix_(problem.tokens, problem.tokens)] == ALIGN["B"]).all()


def test_the_random_start() -> None:
    corner = oracle(np.array(ALIGN["init_cost"]).T, golden_problem().first)
    assert (ALIGN["U0"] == corner_matrix(corner, ALIGN["L"]).T).all()


@pytest.mark.parametrize("family", ["iters", "iters_fractional"])
def test_every_iteration_from_the_given_point(family: str) -> None:
    problem = golden_problem()
    s = len(problem.tokens)
    for golden in ALIGN[family]:
        now = iterate(problem, np.array(golden["u"], dtype=float).T)
        assert (now.gradient.T * golden["u"]).sum() / 2 / s == pytest.approx(golden["f_before"])
        assert now.gradient.T / s == pytest.approx(np.array(golden["grad"]))
        assert (golden["corner"] == corner_matrix(now.corner, ALIGN["L"]).T).all()
        assert now.gap / s == pytest.approx(golden["gap"], abs=1e-9)
        assert now.step == pytest.approx(golden["gamma"])
        assert problem.objective(now.corner) / s == pytest.approx(golden["f_corner"])
        assert problem.objective(now.projection) / s == pytest.approx(golden["f_l2"])
        assert (golden["l2_round"] == corner_matrix(now.projection, ALIGN["L"]).T).all()


def test_the_full_run() -> None:
    problem = golden_problem()
    start = np.array(ALIGN["U0"], dtype=float).T
    corner, _ = frank_wolfe(problem, start, ALIGN["niter"])
    assert problem.objective(corner) / len(problem.tokens) == pytest.approx(ALIGN["final_f_fw"])
    rows = np.zeros((len(problem.lengths), ALIGN["L"]), dtype=int)
    rows[problem.sequence, corner] = problem.tokens + 1
    assert rows.tolist() == ALIGN["cG"]


@pytest.mark.parametrize("case", ALIGN["stepsize"], ids=lambda case: case["name"])
def test_the_line_search(case: dict[str, Any]) -> None:
    z, a, b = (np.array(case[key], dtype=float) for key in ("z", "a", "B"))
    direction = a - z
    slope, curvature = np.trace(direction @ b @ z.T), np.trace(direction @ b @ direction.T)
    assert step_size(slope, curvature) == pytest.approx(case["gamma"])


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(0, 3))
def test_the_oracle_is_exact(seed: int, tokens: int, spare: int) -> None:
    cost = np.random.default_rng(seed).integers(-3, 4, size=(tokens, tokens + spare)).astype(float)
    slots = oracle(cost, np.array([0, tokens]))
    assert (np.diff(slots) > 0).all()
    assert cost[np.arange(tokens), slots].sum() == naive.cheapest_placement(cost)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 200))
def test_a_run_ends_only_when_nothing_changes(seed: int) -> None:
    problem = make_problem(*naive.random_instance(seed, sequences=4, longest=4, relations=3))
    u = random_start(problem, 6, np.random.default_rng(seed))
    corner, _ = frank_wolfe(problem, u, 30)
    seen = []
    for _ in range(30):
        now = iterate(problem, u)
        seen += [problem.objective(now.corner), problem.objective(now.projection)]
        u = now.following
    assert problem.objective(corner) == min(seen)


def test_a_run_goes_on_at_gap_zero_if_the_curvature_is_negative() -> None:
    problem = make_problem([[0], [0]], [[1]])
    separate = corner_matrix(np.array([0, 1]), 2)
    now = iterate(problem, separate)
    assert (now.gap, now.step) == (0, 1)
    corner, _ = frank_wolfe(problem, separate, 5)
    assert problem.objective(corner) == -4
