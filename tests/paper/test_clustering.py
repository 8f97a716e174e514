import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from howsteps.errors import HowstepsError
from howsteps.localise.decision import extents
from howsteps.paper.clustering import Clustering, cluster


@pytest.mark.parametrize("solver", ["descent", "frank-wolfe"])
def test_every_solver_finds_distinct_steps(task, solver):
    videos, truth = task
    iterations = 30 if solver == "frank-wolfe" else None
    runs = [
        cluster(videos, steps=3, solver=solver, iterations=iterations, seed=seed)
        for seed in range(4)
    ]
    result = min(runs, key=lambda run: run.objective)
    # Nothing fixes which step is which, so a few videos may end in another local optimum.
    assert (result.intervals == truth).mean() >= 0.8
    assert result.objective > 0


def test_frank_wolfe_has_a_gap_and_roundings_and_a_descent_a_lower_objective(task):
    videos, truth = task
    corners, descended = cluster(videos, steps=3), cluster(videos, steps=3, solver="descent")
    assert isinstance(corners, Clustering)
    assert corners.intervals.shape == truth.shape
    assert corners.weights.matrix.shape == (8, 3)
    assert corners.relaxed_objective - corners.duality_gap <= descended.objective
    assert len(corners.roundings) > 100
    assert descended.objective <= corners.objective
    assert (descended.relaxed_objective, descended.duality_gap) == (None, None)
    assert descended.roundings == ()


def test_windows_are_respected_and_contradictions_reported(task):
    videos, _ = task
    windows = [np.ones((len(x), 3), bool) for x in videos]
    windows[0][:, 1] = np.arange(len(videos[0])) == 4
    windows[1][:, 0] = np.arange(len(videos[1])) == 9
    windows[1][:, 2] = np.arange(len(videos[1])) == 3
    support = np.ones((6, 3))
    support[1, 2] = 5
    result = cluster(videos, windows, steps=3, support=support)
    assert result.intervals[0, 1] == 4
    assert result.intervals[1, 2] == 3
    assert result.relaxed_windows == ((1, 0),)


@given(st.integers(0, 10_000))
def test_extents_never_overlap(seed):
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(12, 4, replace=False))
    places[rng.random(4) < 0.3] = -1
    first, last = extents(places, rng.random((12, 4)))
    present = places >= 0
    assert (first[present] <= places[present]).all()
    assert (places[present] <= last[present]).all()
    assert (last[present][:-1] < first[present][1:]).all()
    assert (first[~present] == -1).all()


GOOD = np.random.default_rng(0).random((9, 4)).astype(np.float32)


def corrupted(value):
    x = GOOD.copy()
    x[5, 2] = value
    return x


@pytest.mark.parametrize(
    ("videos", "message"),
    [
        ([], "no video"),
        ([GOOD, corrupted(np.nan)], "video 1 .* not finite in interval 5"),
        ([corrupted(np.inf)], "video 0 .* not finite in interval 5"),
        ([GOOD, GOOD[:2]], "video 1 has 2 intervals"),
        ([GOOD, GOOD[:, :3]], "video 1 has 3 features per interval, video 0 has 4"),
        ([GOOD[0]], "video 0"),
        ([[[0.0, 1.0], [1.0]]], "video 0: features have rows of different lengths"),
        ([[["a", "b"]] * 4], "video 0: features are numbers"),
        ([GOOD[:, :0]], "video 0"),
    ],
)
def test_features_that_cannot_be_used_are_named(videos, message):
    with pytest.raises(HowstepsError, match=message):
        cluster(videos, steps=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"windows": [np.ones((9, 3), bool)]}, "2 videos have features, 1 have windows"),
        ({"windows": [np.ones((9, 3), bool), np.ones((9, 2), bool)]}, "video 1: windows of shape"),
        ({"mode": "other"}, "unknown mode 'other': choose one of paper, authors"),
        ({"solver": "block"}, "unknown solver 'block': choose one of frank-wolfe, descent"),
        ({"regularisation": 0.0}, "positive"),
        ({"steps": 0}, "at least one step"),
    ],
)
def test_options_that_cannot_be_used_are_named(options, message):
    with pytest.raises(HowstepsError, match=message):
        cluster([GOOD, GOOD], **{"steps": 3, **options})


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    videos=st.integers(1, 3),
    width=st.sampled_from([1, 3, 40]),
    kind=st.sampled_from(["random", "duplicates", "zeros"]),
)
def test_degenerate_features_are_accepted(seed, videos, width, kind):
    """One video, more features than intervals, duplicate rows, no information at all."""
    rng = np.random.default_rng(seed)
    features = [rng.random((rng.integers(3, 8), width)) for _ in range(videos)]
    if kind == "duplicates":
        features = [np.repeat(x[:1], len(x), axis=0) for x in features]
    if kind == "zeros":
        features = [np.zeros_like(x) for x in features]
    windows = [rng.random((len(x), 3)) < 0.6 for x in features]
    result = cluster(features, windows, steps=3, seed=seed)
    assert (np.diff(result.intervals, axis=1) > 0).all()
    opened = set(result.relaxed_windows)
    for n, row in enumerate(result.intervals):
        assert all(windows[n][t, k] or (n, k) in opened for k, t in enumerate(row))
    assert result.relaxed_objective - result.duality_gap <= result.objective + 1e-9
