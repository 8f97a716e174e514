import numpy as np
import pytest

from howsteps.localise.order import cheapest_placement
from howsteps.paper.clustering import cluster
from howsteps.paper.clustering_problem import (
    AUTHORS_BIAS,
    ClusteringCost,
    ClusteringProblem,
)
from howsteps.paper.clustering_solvers import frank_wolfe
from howsteps.paper.windows import FORBIDDEN, permitted


@pytest.fixture(scope="module")
def diffrac(golden):
    return golden["diffrac"]


@pytest.fixture(scope="module")
def problem(diffrac):
    x = np.array(diffrac["X"])
    videos = tuple(np.split(x, np.cumsum(diffrac["clips"])[:-1]))
    windows = tuple(np.array(window, bool) for window in diffrac["constrs"])
    cost = ClusteringCost(videos, diffrac["lambda"], AUTHORS_BIAS)
    return ClusteringProblem(cost, windows, scale=2.0, forbidden=FORBIDDEN)


def test_filter_and_placement_are_those_of_the_program(golden):
    for case in golden["filter"]:
        cost, allowed = np.array(case["cost"], float).T, np.array(case["allowed"], bool)
        filtered = np.where(permitted(allowed), cost, FORBIDDEN)
        np.testing.assert_array_equal(filtered, np.array(case["filtered"]).T, err_msg=case["name"])
        places = cheapest_placement(filtered)
        np.testing.assert_array_equal(places, np.array(case["time"]) - 1, err_msg=case["name"])


def test_cost_gradient_and_weights_are_those_of_the_program(diffrac, problem):
    z, other = np.array(diffrac["Zrand"]), np.array(diffrac["Zrand2"])
    cost = problem.cost
    assert 2 * cost.objective(z) == pytest.approx(diffrac["obj_Zrand"], rel=1e-12)
    np.testing.assert_allclose(2 * cost.gradient(z).T, diffrac["grad_Zrand"], atol=1e-14)
    np.testing.assert_allclose(cost.weights(z).matrix, diffrac["W_Zrand"], rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(cost.weights(z).bias, diffrac["b_Zrand"], rtol=1e-10)
    cross = float(np.vdot(other, cost.gradient(z)))
    assert cross == pytest.approx(diffrac["obj_cross"], rel=1e-10)


def test_every_iteration_is_that_of_the_program(diffrac, problem):
    for step in diffrac["iters"]:
        z = np.array(step["Z"], float)
        np.testing.assert_allclose(2 * problem.cost.gradient(z).T, step["grad"], atol=1e-14)
        corner = problem.indicator(problem.place_all(problem.cost.gradient(z)))
        np.testing.assert_array_equal(corner, step["corner"])
        run = frank_wolfe(problem, z, 2)
        assert run.trace[0][1] == pytest.approx(step["gap"], rel=1e-10)
        np.testing.assert_allclose(run.z, step["Z_next"], atol=1e-12)
        np.testing.assert_allclose(run.scores, step["scores"], atol=1e-12)
        assert run.objective == pytest.approx(step["f_next"], rel=1e-10)
        value, places = run.roundings[1]
        np.testing.assert_array_equal(problem.indicator(places), step["rounded"])
        assert value == pytest.approx(step["f_rounded"], rel=1e-10)


def test_a_complete_run_is_that_of_the_program(diffrac, problem):
    start = np.mean(
        [problem.indicator(problem.place_all(np.array(c).T)) for c in diffrac["init_costs"]], axis=0
    )
    np.testing.assert_allclose(start, diffrac["Z0"], atol=1e-15)
    expected = diffrac["run"]
    run = frank_wolfe(problem, start, expected["niter"])
    np.testing.assert_allclose([value for value, _ in run.trace], expected["f"], rtol=1e-10)
    np.testing.assert_allclose([gap for _, gap in run.trace][:-1], expected["gap"], rtol=1e-8)
    np.testing.assert_allclose([v for v, _ in run.roundings], expected["f_ccr"], rtol=1e-10)
    assert run.roundings[run.chosen][0] == pytest.approx(expected["best_f_ccr"], rel=1e-12)
    best = problem.indicator(run.roundings[run.chosen][1])
    np.testing.assert_array_equal(best, expected["best_Z"])


def test_mode_authors_of_cluster(diffrac, problem):
    x = np.array(diffrac["X"])
    videos = np.split(x, np.cumsum(diffrac["clips"])[:-1])
    result = cluster(videos, problem.windows, steps=3, mode="authors", iterations=20)
    assert result.objective == pytest.approx(problem.objective(result.intervals), rel=1e-10)
