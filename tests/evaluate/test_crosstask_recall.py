"""``crosstask-recall``: worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.evaluate import crosstask_recall
from tests.evaluate.truths import placed, truth

JOB = truth({"u": [(0, 10.5, 12.2), (1, 30, 40)], "v": [(1, 5, 6), (1, 8, 9)]}, steps=2)


def test_worked_example():
    # Step 0 of u touches the seconds 10, 11, 12; step 1 of v the seconds 5 and 8.
    # 12.9 is in second 12: correct. 29.9: wrong. 3 in v: the step is not there, wrong.
    # 8.5 in v: correct. 3 pairs exist, 2 are found; 4 predictions were made.
    score = crosstask_recall(placed({"u": [12.9, 29.9], "v": [3, 8.5]}), JOB)
    assert score.recall == pytest.approx(2 / 3)
    assert score.precision == pytest.approx(2 / 4)


def test_a_prediction_for_another_step_is_wrong():
    assert crosstask_recall(placed({"u": [35, 11]}), JOB).recall == 0


def test_an_absent_step_is_not_a_prediction():
    score = crosstask_recall(placed({"u": [11, None]}), JOB)
    assert (score.precision, score.recall) == (1, pytest.approx(1 / 3))


@given(st.lists(st.floats(0, 50), min_size=2, max_size=2))
def test_is_a_share(times):
    score = crosstask_recall(placed({"u": times}), JOB)
    assert 0 <= score.recall <= 1


def test_a_perfect_prediction_has_recall_1():
    assert crosstask_recall(placed({"u": [11, 35], "v": [0, 5]}), JOB).recall == 1


def test_a_long_interval_takes_no_memory():
    job = truth({"u": [(0, 0, 1e15)]}, steps=1)
    assert crosstask_recall(placed({"u": [1e14]}), job).recall == 1
