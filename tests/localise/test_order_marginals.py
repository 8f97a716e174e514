from itertools import pairwise, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from howsteps.localise.order_marginals import context, marginals, posterior


def every_placement(evidence, gap):
    """Posterior of each place, by enumerating all ordered placements."""
    length, steps = evidence.shape
    total = np.zeros_like(evidence)
    for places in product(range(length), repeat=steps):
        if all(b - a >= gap for a, b in pairwise(places)):
            total[places, range(steps)] += np.exp(evidence[places, range(steps)].sum())
    return total / total.sum(axis=0)


@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(0, 2))
def test_the_posterior_adds_up_all_ordered_placements(seed, steps, gap):
    evidence = np.random.default_rng(seed).normal(size=(7, steps))
    np.testing.assert_allclose(
        posterior(evidence, gap, order=1.0), every_placement(evidence, gap), atol=1e-9
    )


@given(st.integers(0, 10_000), st.floats(0.0, 1.0))
def test_probabilities_add_up_to_one(seed, order):
    evidence = 20 * np.random.default_rng(seed).normal(size=(9, 4))
    np.testing.assert_allclose(posterior(evidence, 1, order).sum(axis=0), 1.0)


def test_without_order_each_step_goes_by_its_own_evidence():
    evidence = np.random.default_rng(0).normal(size=(9, 3))
    alone = np.exp(evidence) / np.exp(evidence).sum(axis=0)
    np.testing.assert_allclose(posterior(evidence, 2, order=0.0), alone)


def test_strong_evidence_overrules_the_order():
    evidence = np.zeros((20, 2))
    evidence[15, 0] = evidence[5, 1] = 30.0
    assert posterior(evidence).argmax(axis=0).tolist() == [15, 5]
    evidence[[15, 5], [0, 1]] = 3.0
    evidence[4, 0] = evidence[16, 1] = 2.5
    assert posterior(evidence).argmax(axis=0).tolist() == [4, 16]


def test_a_video_too_short_for_the_gap_has_an_answer():
    assert np.isfinite(context(np.zeros((2, 5)), gap=3)).all()
    assert posterior(np.zeros((1, 3)), gap=3).tolist() == [[1.0, 1.0, 1.0]]


def every_placement_with_absence(evidence, gap, log_odds):
    """Posterior of places and of presence, by enumerating placements with absent steps too."""
    length, steps = evidence.shape
    by_place, by_step, total = np.zeros_like(evidence), np.zeros(steps), 0.0
    for places in product(range(-1, length), repeat=steps):
        present = [(k, t) for k, t in enumerate(places) if t >= 0]
        if any(b - a < gap for (_, a), (_, b) in pairwise(present)):
            continue
        absence = (steps - len(present)) * (log_odds + np.log(length))
        weight = np.exp(absence + sum(evidence[t, k] for k, t in present))
        total += weight
        for k, t in present:
            by_place[t, k] += weight
            by_step[k] += weight
    return by_place / by_place.sum(axis=0), by_step / total


@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(0, 2), st.floats(-2.0, 2.0))
def test_the_marginals_add_up_all_placements_with_steps_left_out(seed, steps, gap, log_odds):
    evidence = np.random.default_rng(seed).normal(size=(7, steps))
    places, presence = marginals(evidence, gap, 1.0, log_odds)
    expected_places, expected_presence = every_placement_with_absence(evidence, gap, log_odds)
    np.testing.assert_allclose(places, expected_places, atol=1e-9)
    np.testing.assert_allclose(presence, expected_presence, atol=1e-9)


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
