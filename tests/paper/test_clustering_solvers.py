import numpy as np
import pytest

from howsteps.paper.clustering_problem import (
    PAPER_BIAS,
    ClusteringCost,
    ClusteringProblem,
)
from howsteps.paper.clustering_solvers import (
    IncrementalWeights,
    descent,
    frank_wolfe,
    mean_of_random_corners,
)
from howsteps.paper.windows import relax
from tests.localise import naive


def small_problem(seed, *, lengths=(5, 6, 4), steps=2, filled=1.0, width=3):
    rng = np.random.default_rng(seed)
    videos = tuple(
        (rng.random((t, width)) * (rng.random((t, width)) < filled)).astype(np.float32)
        for t in lengths
    )
    windows, _ = relax([rng.random((t, steps)) < 0.8 for t in lengths])
    return videos, ClusteringProblem(ClusteringCost(videos, 0.1, PAPER_BIAS), windows)


def all_objectives(videos, problem):
    """All placements with their objectives: the integer problem by brute force."""
    b = naive.cost_matrix(np.vstack(videos), 0.1, 0.01)
    choices = [
        [p for p in naive.placements(len(w), problem.steps) if naive.is_allowed(p, w)]
        for w in problem.windows
    ]
    objectives = []
    for index in np.ndindex(*map(len, choices)):
        places = np.array([choice[i] for choice, i in zip(choices, index, strict=True)])
        objectives.append((naive.objective(b, problem.indicator(places)), places))
    return objectives


@pytest.mark.parametrize("seed", range(4))
def test_descent_with_restarts_finds_the_optimum_of_small_problems(seed):
    videos, problem = small_problem(seed)
    best = min(value for value, _ in all_objectives(videos, problem))
    found = min(descent(problem, np.random.default_rng(s))[0] for s in range(20))
    assert found == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("filled", [1.0, 0.1])
def test_descent_never_rises_and_ends_where_no_video_can_improve(filled):
    _, problem = small_problem(1, lengths=(12, 15, 9, 14), steps=3, filled=filled, width=20)
    start = problem.random_placement(np.random.default_rng(0))
    objective, places = descent(problem, np.random.default_rng(0))
    assert objective <= problem.objective(start) + 1e-12
    for n, window in enumerate(problem.windows):
        for p in naive.placements(len(window), 3):
            if naive.is_allowed(p, window):
                trial = places.copy()
                trial[n] = p
                assert problem.objective(trial) >= objective - 1e-12


def test_incremental_weights_agree_with_the_exact_ones():
    _, problem = small_problem(2)
    rng = np.random.default_rng(0)
    current = IncrementalWeights(problem, problem.random_placement(rng))
    for _ in range(5):
        new = problem.random_placement(rng)
        for n in range(problem.videos):
            current.update(n, new[n])
    exact = problem.cost.weights(problem.indicator(current.places))
    np.testing.assert_allclose(current.weights.matrix, exact.matrix, atol=1e-10)
    np.testing.assert_allclose(current.weights.bias, exact.bias, atol=1e-10)
    without = problem.indicator(current.places)
    without[problem.rows(1)] = 0
    left_out = problem.cost.scores(without)[problem.rows(1)]
    np.testing.assert_allclose(current.scores_without(1), left_out, atol=1e-10)


def test_frank_wolfe_descends_and_its_gap_bounds_every_placement():
    videos, problem = small_problem(5)
    start = mean_of_random_corners(problem, np.random.default_rng(2))
    run = frank_wolfe(problem, start, 60)
    assert (np.diff([value for value, _ in run.trace]) <= 1e-15).all()
    relaxed = frank_wolfe(problem, start, 2000).objective
    for value, gap in run.trace:
        assert value - gap <= relaxed + 1e-12
    assert relaxed <= min(value for value, _ in all_objectives(videos, problem))
    best = run.roundings[run.chosen][0]
    assert best == min(value for value, _ in run.roundings)
