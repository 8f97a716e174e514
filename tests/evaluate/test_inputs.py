"""Every accepted form of predictions, and every invalid prediction and truth."""

import json
import math
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from howsteps.errors import HowstepsError
from howsteps.evaluate import (
    crosstask_recall,
    find_order,
    frame_f1,
    hit_table,
    in_truth,
    kukleva,
    paper_f1,
    per_video,
    predicted_frames,
    statistics,
    true_frames,
)
from howsteps.evaluate.inputs import as_steps, match
from howsteps.task import Annotation, Localisation, Result, Script, Step, Task, Video
from tests.evaluate.truths import placed, truth

ROWS = {"u": [(0, 10, 20), (1, 30, 40)], "v": [(0, 5, 15)]}
JOB = truth(ROWS, steps=2, durations={"u": 50.0, "v": 50.0})
TIMES = {"u": [12.0, 35.0], "v": [7.0, None]}

PREDICTIONS = {
    "times by video": TIMES,
    "localisations": placed(TIMES),
    "a generator": (p for p in placed(TIMES)),
}


@pytest.mark.parametrize("predictions", PREDICTIONS.values(), ids=PREDICTIONS)
def test_every_form_of_predictions_is_accepted(predictions):
    score = paper_f1(predictions, JOB)
    assert (score.precision, score.recall) == (3 / 4, 1)


LOCALISING = {
    "paper-f1": lambda found, job: paper_f1(found, job, steps=2),
    "hit_table": lambda found, job: hit_table(found, job, 2),
    "crosstask-recall": crosstask_recall,
    "frames": predicted_frames,
}


@pytest.mark.parametrize("protocol", LOCALISING.values(), ids=LOCALISING)
@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (Localisation("u", -1, 12.0), r"step -1 in video 'u': steps are the numbers 0 … 1"),
        (Localisation("w", 0, 12.0), r"video 'w' is predicted but not in the truth"),
        (Localisation("u", 0, math.nan), r"step 0 in video 'u' has the time nan"),
    ],
)
def test_a_prediction_that_cannot_be_scored_is_refused(protocol, found, reason):
    with pytest.raises(HowstepsError, match=reason):
        protocol([Localisation("u", 1, 3.0), found], JOB)


@pytest.mark.parametrize("name", ["paper-f1", "hit_table", "crosstask-recall"])
def test_a_step_beyond_the_last_is_refused(name):
    with pytest.raises(HowstepsError, match=r"step 2 in video 'u': steps are the numbers 0 … 1"):
        LOCALISING[name]([Localisation("u", 2, 12.0)], JOB)


@pytest.mark.parametrize("protocol", [paper_f1, crosstask_recall, predicted_frames])
def test_a_step_that_is_predicted_twice_is_refused(protocol):
    with pytest.raises(HowstepsError, match="step 0 is predicted twice in video 'u'"):
        protocol([Localisation("u", 0, 12.0), Localisation("u", 0, 13.0)], JOB)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ((-1, 0, 1), "step -1 in video 'u'"),
        ((0, 2, 1), "2 to 1 is not an interval of time"),
        ((0, math.nan, 1), "nan to 1 is not an interval of time"),
    ],
)
def test_an_invalid_annotation_is_refused(row, reason):
    with pytest.raises(HowstepsError, match=reason):
        paper_f1({"u": [1.0]}, truth({"u": [row]}, steps=1))


def test_a_truth_has_the_videos_and_steps_of_its_annotations():
    for wrong in (Annotation("w", 0, 0, 1), Annotation("u", 2, 0, 1)):
        job = truth({"u": []}, steps=2)
        with pytest.raises(HowstepsError):
            statistics(type(job)(job.task, job.steps, (wrong,), job.durations))


def test_predictions_for_other_videos_are_removed_on_request_only():
    found = [Localisation("u", 0, 12.0), Localisation("w", 0, 12.0)]
    assert in_truth(found, JOB) == (found[0],)


@pytest.mark.parametrize("protocol", [frame_f1, kukleva, per_video])
@pytest.mark.parametrize(
    ("predicted", "true", "reason"),
    [
        ([[0, -2]], [[0, 1]], "video 0 has the label -2"),
        ([[0, 1]], [[0, 0.5]], "labels are integers"),
        ({"u": [0, 1]}, {"u": [0, 1]}, "labels are integers"),
        ([[0, 1]], [[0, 1], [0]], "1 videos have predicted labels, 2 true ones"),
        ([[0, 1]], [[0]], "2 predicted and 1 true labels"),
    ],
)
def test_labels_that_cannot_be_compared_are_refused(protocol, predicted, true, reason):
    with pytest.raises(HowstepsError, match=reason):
        protocol(predicted, true)


def test_localisations_become_labels_if_durations_are_known():
    job = truth({"u": [(0, 0.0, 30.0)]}, 1, {"u": 30.0})
    assert frame_f1(predicted_frames({"u": [15.0]}, job), true_frames(job)).f1 == 1
    with pytest.raises(HowstepsError, match="the length of video 'u' is not known"):
        predicted_frames({"u": [15.0]}, truth({"u": []}, 1))


def test_a_label_beyond_the_number_of_steps_is_refused():
    with pytest.raises(HowstepsError, match="a frame has the label 3"):
        kukleva([[0, 3]], [[0, 1]], steps=2)


def test_unknown_variants_and_invalid_orders_are_refused():
    with pytest.raises(ValueError, match="'mine' is not a valid Variant"):
        paper_f1(TIMES, JOB, variant="mine")
    with pytest.raises(HowstepsError, match="step -1 in sequence 1"):
        find_order([[0, 1], [1, -1]], 2)


def test_a_result_is_scored_in_the_videos_that_are_annotated():
    script = Script((Step("boil", ()), Step("pour", ()), Step("stir", ())))
    task = Task("tea", (Video("u"), Video("v"), Video("w")))
    result = Result(task, script, tuple(placed({**TIMES, "w": [1.0, 2.0, 3.0]})))
    assert paper_f1(result, JOB) == paper_f1(TIMES, JOB, steps=3)
    only = {"u": TIMES["u"]}
    assert paper_f1(result, JOB.of("u")) == paper_f1(only, truth({"u": ROWS["u"]}, 2), steps=3)
    with pytest.raises(HowstepsError, match="no video of the result is in the truth"):
        paper_f1(result, truth({"x": [(0, 1, 2)]}, 1))


GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())


@pytest.mark.parametrize("case", GOLDEN["assignment"])
def test_has_the_cost_of_the_authors_assignment(case):
    cost = np.array(case["cost"])
    theirs = [(row, column - 1) for row, column in enumerate(case["assign_1based"]) if column]
    ours = [(row, column) for row, column in enumerate(match(-cost)) if column >= 0]
    assert len(ours) == len(theirs)
    assert sum(cost[pair] for pair in ours) == pytest.approx(sum(cost[pair] for pair in theirs))


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
