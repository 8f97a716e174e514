"""The matching, compared with the authors' program and with brute force."""

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from howsteps.evaluate.inputs import as_steps, match

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())


@pytest.mark.parametrize("case", GOLDEN["assignment"])
def test_has_the_cost_of_the_authors_assignment(case):
    cost = np.array(case["cost"])
    theirs = [(row, column - 1) for row, column in enumerate(case["assign_1based"]) if column]
    ours = [(row, column) for row, column in enumerate(match(-cost)) if column >= 0]
    assert len(ours) == len(theirs)
    assert sum(cost[pair] for pair in ours) == pytest.approx(sum(cost[pair] for pair in theirs))


@pytest.mark.parametrize("case", GOLDEN["assignment"][1:])
def test_is_the_authors_assignment_if_the_optimum_is_unique(case):
    assert (match(-np.array(case["cost"])) + 1).tolist() == case["assign_1based"]


@given(arrays.arrays(np.int64, st.tuples(*[st.integers(1, 4)] * 2), elements=st.integers(0, 9)))
def test_no_matching_has_a_larger_gain(gain):
    matched = match(gain)
    worth = sum(gain[row, column] for row, column in enumerate(matched) if column >= 0)
    wide = gain if gain.shape[0] <= gain.shape[1] else gain.T
    orders = permutations(range(wide.shape[1]), wide.shape[0])
    assert worth == max(sum(wide[row, c] for row, c in enumerate(order)) for order in orders)
    used = [column for column in matched if column >= 0]
    assert len(used) == len(set(used)) == min(gain.shape)


def test_an_unmatched_row_has_no_step():
    assert as_steps(match(np.array([[3], [5]]))) == (None, 0)
