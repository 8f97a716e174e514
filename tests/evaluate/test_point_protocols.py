"""``paper-f1``: examples worked by hand, the authors' program, and general properties."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.evaluate import Variant, crosstask_recall, hit_table, paper_f1
from tests.evaluate.intervals import interval_hit_table
from tests.evaluate.truths import placed, truth

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())

# Two videos, two true steps. In video v the second step is missing.
JOB = truth({"u": [(0, 10, 20), (1, 30, 40)], "v": [(0, 5, 15)]}, steps=2)


def test_worked_example():
    # Discovered step 0 is at 35 and 50, step 1 at 12 and 15.
    #                     in u (0: 10–20, 1: 30–40)   in v (0: 5–15)
    # discovered 0:       35 hits 1                   50 hits nothing
    # discovered 1:       12 hits 0                   15 hits 0 (its end counts)
    # Matching 0→1, 1→0: 3 correct; the other: 0. N·K_pred = 4, and 3 pairs exist.
    score = paper_f1(placed({"u": [35, 12], "v": [50, 15]}), JOB)
    assert score.matching == (1, 0)
    assert score.precision == pytest.approx(3 / 4)
    assert score.recall == pytest.approx(3 / 3)
    assert score.f1 == pytest.approx(2 * 0.75 / 1.75)


def test_predicting_absence_raises_precision_in_the_variant_made_only():
    # As above, but discovered step 0 is predicted absent from v: 3 predictions, all correct.
    found = placed({"u": [35, 12], "v": [None, 15]})
    assert paper_f1(found, JOB).precision == pytest.approx(3 / 4)
    assert paper_f1(found, JOB, variant="made").precision == pytest.approx(3 / 3)
    assert paper_f1(found, JOB, variant=Variant.made).f1 == 1


@pytest.mark.parametrize(
    ("job", "found", "precision", "recall"),
    [
        # Any true interval of a step counts.
        (truth({"u": [(0, 0, 1), (0, 8, 9)]}, steps=1), {"u": [8.5]}, 1, 1),
        # 3 discovered steps, 1 true one in 1 video: at best 1 of 3 predictions is correct.
        (truth({"u": [(0, 0, 9)]}, steps=1), {"u": [1, 2, 3]}, 1 / 3, 1),
        # Videos without a prediction count.
        (JOB, {"u": [12, 35]}, 2 / 4, 2 / 3),
    ],
)
def test_what_is_counted(job, found, precision, recall):
    score = paper_f1(placed(found), job)
    assert (score.precision, score.recall) == pytest.approx((precision, recall))


@pytest.mark.parametrize("case", GOLDEN["matching"], ids=lambda case: case["name"])
def test_agrees_with_the_authors_program(case):
    cuts = np.cumsum(case["clips"])[:-1]
    predicted, true = (np.split(np.array(case[key]), cuts) for key in ("pred", "gt"))
    table = interval_hit_table(predicted, true)
    videos = len(predicted)
    assert np.allclose(table.hits.sum(axis=0) / videos, case["overlap"])
    assert table.present.sum() == case["n_annot_gt0"]
    assert table.long.sum() == case["n_annot_gt1"]

    score = table.score(Variant.authors)
    matching = [0 if step is None else step + 1 for step in score.matching]
    assert matching == case["mapping_1based"]
    hits = np.zeros((videos, len(true[0][0])))
    for step, matched in enumerate(score.matching):
        if matched is not None:
            hits[:, matched] = table.hits[:, step, matched]
    assert hits.tolist() == case["hits"]
    assert score.precision == pytest.approx(case["precision_display"])
    # Where no pair is long enough, the authors divide by zero; here that is 0.
    assert score.recall == pytest.approx(case["recall_display"] or 0)
    assert score.f1 == pytest.approx(case["F1_display"] or 0, abs=1e-6)
    # Recall as in the text of the paper is the authors' figure inside the loop.
    assert table.score().recall == pytest.approx(case["recall_loop"], abs=1e-6)


bits = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@given(bits, st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_bounds_and_permutation_invariance(rng, videos, discovered, steps):
    times = {f"v{n}": list(rng.uniform(0, 100, discovered)) for n in range(videos)}
    rows = {
        f"v{n}": [(k, s, s + 20) for k, s in enumerate(rng.uniform(0, 80, steps))]
        for n in range(videos)
    }
    job = truth(rows, steps)
    score = paper_f1(placed(times), job, steps=discovered)
    assert 0 <= score.f1 <= max(score.precision, score.recall) <= 1
    order = rng.permutation(discovered)
    moved = {video: [found[k] for k in order] for video, found in times.items()}
    assert paper_f1(placed(moved), job, steps=discovered).f1 == pytest.approx(score.f1)


@given(bits, st.integers(1, 5), st.integers(1, 5))
def test_a_perfect_forced_prediction_reaches_the_ceiling(rng, videos, steps):
    present = rng.random((videos, steps)) < 0.7
    present[0, 0] = True
    rows = {
        f"v{n}": [(k, 10.0 * k, 10.0 * k + 5) for k in range(steps) if present[n, k]]
        for n in range(videos)
    }
    times = {f"v{n}": [10.0 * k + 1 for k in range(steps)] for n in range(videos)}
    table = hit_table(placed(times), truth(rows, steps), steps)
    missing = 1 - present.mean()
    assert table.score().f1 == pytest.approx(2 * (1 - missing) / (2 - missing))
    if present.all():
        assert table.score().f1 == 1


KNOWN = truth({"u": [(0, 10.5, 12.2), (1, 30, 40)], "v": [(1, 5, 6), (1, 8, 9)]}, steps=2)


@pytest.mark.parametrize(
    ("found", "precision", "recall"),
    [
        # Step 0 of u touches the seconds 10, 11, 12; step 1 of v the seconds 5 and 8.
        # 12.9 is in second 12: correct. 29.9: wrong. 3 in v: the step is not there, wrong.
        # 8.5 in v: correct. 3 pairs exist, 2 are found; 4 predictions were made.
        ({"u": [12.9, 29.9], "v": [3, 8.5]}, 2 / 4, 2 / 3),
        ({"u": [35, 11]}, 0, 0),  # a place of another step is wrong
        ({"u": [11, None]}, 1, 1 / 3),  # absence is no prediction
    ],
)
def test_known_steps(found, precision, recall):
    score = crosstask_recall(placed(found), KNOWN)
    assert (score.precision, score.recall) == pytest.approx((precision, recall))
