import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from howsteps.localise.oracle import cheapest_placement, indicator, placement_value
from tests.localise import naive

sizes = st.tuples(st.integers(1, 7), st.integers(1, 4))


@st.composite
def problems(draw):
    shape = draw(sizes)
    cost = draw(hnp.arrays(np.float64, shape, elements=st.floats(-5, 5).map(lambda x: round(x, 2))))
    allowed = draw(hnp.arrays(np.bool_, shape))
    absence = draw(hnp.arrays(np.float64, shape[1], elements=st.sampled_from([-1.0, 0.5, np.inf])))
    return cost, allowed, absence


@given(problems())
def test_no_placement_is_cheaper(problem):
    cost, allowed, _ = problem
    found = cheapest_placement(cost, allowed)
    feasible = [p for p in naive.placements(*cost.shape) if naive.is_allowed(p, allowed)]
    if found is None:
        assert not feasible
    else:
        assert naive.is_allowed(found, allowed)
        assert (np.diff(found) > 0).all()
        best = min(naive.value(cost, p) for p in feasible)
        assert placement_value(cost, found) == pytest.approx(best, abs=1e-12)


@given(problems())
def test_no_placement_with_absent_steps_is_cheaper(problem):
    cost, allowed, absence = problem
    found = cheapest_placement(cost, allowed, absence)
    values = [
        naive.value(cost, p, absence)
        for p in naive.placements_with_absence(*cost.shape)
        if naive.is_allowed(p, allowed)
    ]
    if found is None:
        assert min(values) == np.inf
    else:
        assert naive.is_allowed(found, allowed)
        assert (np.diff(found[found >= 0]) > 0).all()
        assert placement_value(cost, found, absence) == pytest.approx(min(values), abs=1e-12)


@given(problems())
def test_all_true_windows_are_no_constraint(problem):
    cost, _, _ = problem
    free = cheapest_placement(cost, np.ones(cost.shape, bool))
    np.testing.assert_array_equal(cheapest_placement(cost), free)


def test_too_few_intervals_are_infeasible():
    assert cheapest_placement(np.zeros((2, 3))) is None


def test_windows_against_the_order_are_infeasible():
    allowed = np.array([[0, 1], [1, 0]], bool)
    assert cheapest_placement(np.zeros((2, 2)), allowed) is None


def test_ties_go_to_the_latest_placement_and_to_presence():
    np.testing.assert_array_equal(cheapest_placement(np.ones((8, 3))), [5, 6, 7])
    np.testing.assert_array_equal(cheapest_placement(np.ones((4, 2)), absence=np.ones(2)), [2, 3])


def test_a_step_is_absent_when_that_is_cheaper():
    cost = np.full((5, 3), 2.0)
    cost[1, 0] = cost[3, 2] = 0.0
    np.testing.assert_array_equal(cheapest_placement(cost, absence=np.ones(3)), [1, -1, 3])


def test_the_indicator_has_one_entry_per_present_step():
    z = indicator(np.array([2, -1, 4]), 5)
    assert z.sum() == 2
    assert z[2, 0] == z[4, 2] == 1


def test_placements_agree_with_the_authors_program(golden):
    for case in golden["dp"]:
        cost = np.array(case["cost"], float).T
        found = cheapest_placement(cost)
        if len(cost) < cost.shape[1]:
            assert found is None, case["name"]  # theirs returns fewer steps and no error
            continue
        np.testing.assert_array_equal(found, np.array(case["time"]) - 1, err_msg=case["name"])
        assert placement_value(cost, found) == pytest.approx(case["value"], abs=1e-12)
