import json
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from howsteps.errors import HowstepsError
from howsteps.localise.order import (
    ORDER,
    Marginals,
    cheapest_placement,
    segment_marginals,
    uniform,
)
from tests.localise import naive

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())

sizes = st.tuples(st.integers(1, 7), st.integers(1, 4))


@st.composite
def problems(draw):
    shape = draw(sizes)
    cost = draw(hnp.arrays(np.float64, shape, elements=st.floats(-5, 5).map(lambda x: round(x, 2))))
    return cost, draw(hnp.arrays(np.bool_, shape))


@given(problems())
def test_no_placement_is_cheaper(problem):
    cost, allowed = problem
    found = cheapest_placement(cost, allowed)
    feasible = [p for p in naive.placements(*cost.shape) if naive.is_allowed(p, allowed)]
    if found is None:
        assert not feasible
    else:
        assert naive.is_allowed(found, allowed)
        assert (np.diff(found) > 0).all()
        best = min(naive.value(cost, p) for p in feasible)
        assert naive.value(cost, found) == pytest.approx(best, abs=1e-12)


@given(problems())
def test_all_true_windows_are_no_constraint(problem):
    cost, _ = problem
    free = cheapest_placement(cost, np.ones(cost.shape, bool))
    np.testing.assert_array_equal(cheapest_placement(cost), free)


def test_too_few_intervals_are_infeasible():
    assert cheapest_placement(np.zeros((2, 3))) is None


def test_windows_against_the_order_are_infeasible():
    allowed = np.array([[0, 1], [1, 0]], bool)
    assert cheapest_placement(np.zeros((2, 2)), allowed) is None


def test_ties_go_to_the_latest_placement():
    np.testing.assert_array_equal(cheapest_placement(np.ones((8, 3))), [5, 6, 7])


def test_placements_agree_with_the_authors_program():
    for case in GOLDEN["dp"]:
        cost = np.array(case["cost"], float).T
        found = cheapest_placement(cost)
        if len(cost) < cost.shape[1]:
            assert found is None, case["name"]  # theirs returns fewer steps and no error
            continue
        np.testing.assert_array_equal(found, np.array(case["time"]) - 1, err_msg=case["name"])
        assert naive.value(cost, found) == pytest.approx(case["value"], abs=1e-12)


def test_uniform_spreads_the_steps():
    np.testing.assert_array_equal(uniform([10, 3], 3), [[1, 5, 8], [0, 1, 2]])
    with pytest.raises(HowstepsError, match="video 1"):
        uniform([5, 2], 3)


def marginals(evidence, gap=0, order=ORDER):
    """The posterior of places and presence of steps that all last ``gap`` intervals."""
    found = segment_marginals(evidence[None], np.array([gap]), order)
    return Marginals(found.places[0], found.presence)


@given(st.integers(0, 10_000), st.floats(0.0, 1.0))
def test_probabilities_add_up_to_one(seed, order):
    evidence = 20 * np.random.default_rng(seed).normal(size=(9, 4))
    np.testing.assert_allclose(marginals(evidence, 1, order).places.sum(axis=0), 1.0)


def test_without_order_each_step_goes_by_its_own_evidence():
    evidence = np.random.default_rng(0).normal(size=(9, 3))
    alone = np.exp(evidence) / np.exp(evidence).sum(axis=0)
    np.testing.assert_allclose(marginals(evidence, 2, order=0.0).places, alone)


def test_strong_evidence_overrules_the_order():
    evidence = np.zeros((20, 2))
    evidence[15, 0] = evidence[5, 1] = 30.0
    assert marginals(evidence).places.argmax(axis=0).tolist() == [15, 5]
    evidence[[15, 5], [0, 1]] = 3.0
    evidence[4, 0] = evidence[16, 1] = 2.9
    assert marginals(evidence).places.argmax(axis=0).tolist() == [4, 16]


def every_placement(evidence, gap):
    """Posterior of places and of presence, by enumerating placements with absent steps too."""
    length, steps = evidence.shape
    by_place, by_step, total = np.zeros_like(evidence), np.zeros(steps), 0.0
    for places in product(range(-1, length), repeat=steps):
        present = [(k, t) for k, t in enumerate(places) if t >= 0]
        if any(b - a < gap for (_, a), (_, b) in pairwise(present)):
            continue
        absence = (steps - len(present)) * np.log(length)
        weight = np.exp(absence + sum(evidence[t, k] for k, t in present))
        total += weight
        for k, t in present:
            by_place[t, k] += weight
            by_step[k] += weight
    return by_place / by_place.sum(axis=0), by_step / total


@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(0, 2))
def test_the_marginals_add_up_all_placements_with_steps_left_out(seed, steps, gap):
    evidence = np.random.default_rng(seed).normal(size=(7, steps))
    places, presence = marginals(evidence, gap, 1.0)
    expected_places, expected_presence = every_placement(evidence, gap)
    np.testing.assert_allclose(places, expected_places, atol=1e-9)
    np.testing.assert_allclose(presence, expected_presence, atol=1e-9)


@given(st.integers(0, 10_000), st.integers(1, 3))
def test_segments_never_overlap(seed, steps):
    durations, length = np.array([1, 3]), 5
    evidence = np.random.default_rng(seed).normal(size=(2, length, steps))
    evidence[1, 3:] = -np.inf  # three intervals would not end in the video
    by_segment, by_step, total = np.zeros_like(evidence), np.zeros(steps), 0.0
    for chosen in product([None, *product(range(2), range(length))], repeat=steps):
        present = [(d, s, k) for k, one in enumerate(chosen) if one for d, s in [one]]
        if any(s + durations[d] > later for (d, s, _), (_, later, _) in pairwise(present)):
            continue
        absence = (steps - len(present)) * np.log(length)
        weight = np.exp(absence + sum(evidence[one] for one in present))
        total += weight
        for one in present:
            by_segment[one] += weight
            by_step[one[2]] += weight
    segments, presence = segment_marginals(evidence, durations, 1.0)
    np.testing.assert_allclose(segments, by_segment / by_segment.sum(axis=(0, 1)), atol=1e-9)
    np.testing.assert_allclose(presence, by_step / total, atol=1e-9)


def test_evidence_for_a_place_raises_the_presence():
    evidence = np.zeros((40, 3))
    evidence[20, 1] = 6.0
    presence = marginals(evidence, 3).presence
    assert presence[1] > presence[0]
    assert presence[1] > presence[2]


def test_presence_has_finite_log_odds_however_strong_the_evidence():
    evidence = np.zeros((2000, 2))
    evidence[10, 0], evidence[:, 1] = 1e6, -1e6
    presence = marginals(evidence).presence
    assert 0 < presence[1] < 0.5 < presence[0] < 1
