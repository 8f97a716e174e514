"""What the benchmark of certainty counts, and what is fitted for it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.certainty import Case, Judged, absence, calibration, judged, read_cases
from howsteps.localise.certainty import SIGNS, Table
from howsteps.result import text_of
from howsteps.task import Annotation, Localisation, Result, Script, Step, Task, Truth, Video
from training.certainty import fitted, left_out, with_threshold


def test_calibration_is_the_mean_distance_of_what_is_said_from_what_is():
    confidence = np.array([0.1, 0.1, 0.9, 0.9])
    error, bins = calibration(confidence, np.array([0.0, 0.0, 1.0, 0.0]))
    assert error == pytest.approx(0.5 * 0.1 + 0.5 * 0.4)
    assert bins == ["0.10 → 0.00 (2)", "0.90 → 0.50 (2)"]


def job(confidence=0.5):
    """Two steps in two videos: of the second step, one place is wrong, one is said to be absent."""
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
    case, places = job()
    found = judged(case, None, places)
    assert found.right.tolist() == [[True, False], [True, False]]
    assert found.kept.tolist() == [[True, True], [True, False]]
    assert found.f1() == pytest.approx(2 * 2 / (3 + 4))
    assert found.ious.tolist() == [1.0, 0.5]
    assert absence(found, found.kept)[1] == 0.75


def test_jobs_are_read_with_their_spans(tmp_path: Path):
    case, places = job()
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


def drawn(seed: int, videos: int = 40, steps: int = 5) -> Judged:
    """A job in which a step is there, and its place right, the likelier the higher one sign."""
    rng = np.random.default_rng(seed)
    signs = rng.normal(size=(videos, steps, len(SIGNS)))
    high = signs[..., SIGNS.index("presence")]
    present = rng.random(high.shape) < 1 / (1 + np.exp(-1 - 2 * high))
    right = present & (rng.random(high.shape) < 0.6)
    every = np.ones_like(present)
    return Judged(
        signs,
        np.zeros(high.shape),
        present,
        right,
        every,
        every,
        int(present.sum()),
        np.array([1.0]),
    )


def test_what_is_fitted_is_calibrated_on_a_job_that_was_left_out():
    jobs = {f"spoken: {n}": [drawn(n)] for n in range(6)}
    results = [one for own in left_out(jobs).values() for one in own]
    confidence = np.concatenate([one.confidence.ravel() for one in results])
    right = np.concatenate([one.right.ravel() for one in results])
    assert calibration(confidence, right.astype(float))[0] < 0.04


def test_the_threshold_keeps_what_is_there_and_leaves_out_much_that_is_not():
    jobs = {f"spoken: {n}": [drawn(n)] for n in range(6)}
    table = Table.of(with_threshold(jobs))
    new = drawn(99)
    presence = table.presence.probability(table.standard(new.signs))
    said, kept = absence(replace(new), presence >= table.least)
    assert kept > 0.8
    assert said > 0.5
    assert table.least <= 0.5
    assert fitted(jobs)["least"] == 0.0
