"""The benchmark of certainty, and the training of its models."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.certainty import Case, Outcomes, absence_rates, calibration, judge, read_cases
from howsteps.localise.certainty import CUES, CertaintyModel
from howsteps.store import text_of
from howsteps.task import Annotation, Localisation, Result, Script, Step, Task, Truth, Video
from training.certainty import fit, fit_with_threshold, leave_one_task_out


def test_calibration_error_is_the_mean_distance_of_confidence_and_accuracy():
    confidence = np.array([0.1, 0.1, 0.9, 0.9])
    error, bins = calibration(confidence, np.array([0.0, 0.0, 1.0, 0.0]))
    assert error == pytest.approx(0.5 * 0.1 + 0.5 * 0.4)
    assert bins == ["0.10 → 0.00 (2)", "0.90 → 0.50 (2)"]


def example(confidence=0.5):
    """Two steps in two videos: of the second step, one place is wrong, one is predicted absent."""
    truth = Truth(
        "tea",
        ("boil", "pour"),
        tuple(Annotation(v, k, 10.0 * k, 10.0 * k + 5) for v in "ab" for k in range(2)),
        dict.fromkeys("ab"),
    )
    places = [
        Localisation("a", 0, 2.0, 0.0, 5.0, confidence),
        Localisation("a", 1, 30.0, 29.0, 31.0, confidence),
        Localisation("b", 0, 4.0, 2.5, 5.0, confidence),
        Localisation("b", 1, None),
    ]
    steps = Script((Step("boil", ()), Step("pour", ())))
    return Case("tea", "seen", Task("tea", (Video("a"), Video("b"))), steps, truth), places


def test_places_are_judged_by_the_best_matching():
    case, places = example()
    outcomes = judge(case, None, places)
    assert outcomes.correct.tolist() == [[True, False], [True, False]]
    assert outcomes.placed.tolist() == [[True, True], [True, False]]
    assert outcomes.f1() == pytest.approx(2 * 2 / (3 + 4))
    assert outcomes.ious.tolist() == [1.0, 0.5]
    assert absence_rates(outcomes, outcomes.placed)[1] == 0.75


def test_tasks_are_read_with_their_spans(tmp_path: Path):
    case, places = example()
    (tmp_path / "results" / "tea").mkdir(parents=True)
    result = Result(case.task, case.script, tuple(places))
    (tmp_path / "results" / "tea" / "result.json").write_text(text_of(result, tmp_path))
    spans = {
        "steps": [{"name": "boil", "rules": []}],
        "spans": {"a": [[1, 2, 5]], "z": [[1, 0, 1]]},
    }
    (tmp_path / "spoken_tea.json").write_text(json.dumps(spans))
    [read] = read_cases(tmp_path / "results", [tmp_path])
    assert (read.kind, read.truth.steps) == ("spoken", ("boil",))
    assert read.truth.annotations == (Annotation("a", 0, 1.0, 6.0),)


def drawn(seed: int, videos: int = 40, steps: int = 5) -> Outcomes:
    """A random task in which the probability of presence rises with one cue."""
    rng = np.random.default_rng(seed)
    cues = rng.normal(size=(videos, steps, len(CUES)))
    cue = cues[..., CUES.index("presence")]
    present = rng.random(cue.shape) < 1 / (1 + np.exp(-1 - 2 * cue))
    correct = present & (rng.random(cue.shape) < 0.6)
    every = np.ones_like(present)
    return Outcomes(
        cues,
        np.zeros(cue.shape),
        present,
        correct,
        every,
        every,
        int(present.sum()),
        np.array([1.0]),
    )


def test_the_models_are_calibrated_on_a_task_that_was_left_out():
    tasks = {f"spoken: {n}": [drawn(n)] for n in range(6)}
    predicted = [one for outcomes in leave_one_task_out(tasks).values() for one in outcomes]
    confidence = np.concatenate([one.confidence.ravel() for one in predicted])
    correct = np.concatenate([one.correct.ravel() for one in predicted])
    assert calibration(confidence, correct.astype(float))[0] < 0.04


def test_the_threshold_keeps_present_steps_and_leaves_out_absent_ones():
    tasks = {f"spoken: {n}": [drawn(n)] for n in range(6)}
    model = CertaintyModel.from_json(fit_with_threshold(tasks))
    new = drawn(99)
    presence = model.presence.probability(model.standardise(new.cues))
    left_out, kept = absence_rates(new, presence >= model.threshold)
    assert kept > 0.8
    assert left_out > 0.5
    assert model.threshold <= 0.5
    assert fit(tasks)["threshold"] == 0.0
