import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.ndimage import gaussian_filter1d

from howsteps.localise.decision import apart, around, decide, usual_extents
from howsteps.localise.mention_prior import WindowPrior
from howsteps.localise.self_training import LEARNING, blurred, centred, coarser, learn
from howsteps.task import BETWEEN, LIKE_SEEN, SAID


def collection(named, videos=6, length=80, seed=0):
    """Three steps with a look of their own for four intervals; ``named`` says who names which."""
    rng = np.random.default_rng(seed)
    features, windows, truth = [], [], []
    for n in range(videos):
        x = 0.3 * rng.random((length, 8)).astype(np.float32)
        places = np.array([15, 40, 65]) + rng.integers(-8, 9, 3)
        window = np.zeros((length, 3), bool)
        for k, t in enumerate(places):
            x[t : t + 4, k] += 1.0
            if named(n, k):
                window[t - 4 : t + 7, k] = True
        features.append(centred(x))
        windows.append(window)
        truth.append(places)
    return features, windows, np.array(truth)


def place(features, windows, **options):
    how = LEARNING["sight"]
    prior = WindowPrior(windows, how.log_prior, 1.0)
    learnt = learn(features, prior, how, seconds=1.0)
    lengths = [len(x) for x in features]
    return decide(
        learnt.scores, prior.log_odds(), how, seconds=1.0, grid=1, lengths=lengths, **options
    )


def test_a_step_is_found_in_the_videos_that_do_not_name_it():
    features, windows, truth = collection(lambda n, k: (n + k) % 2 == 0)
    located = place(features, windows, absent=False)
    assert ((located.intervals >= truth) & (located.intervals < truth + 4)).all()
    named = np.array([window.any(axis=0) for window in windows])
    assert set(located.evidence[named]) == {SAID}
    assert set(located.evidence[~named]) <= {LIKE_SEEN, BETWEEN}


def test_a_swap_is_followed():
    features, windows, truth = collection(lambda n, k: True)
    swapped = features[0].copy()
    first, second = slice(truth[0, 0], truth[0, 0] + 4), slice(truth[0, 1], truth[0, 1] + 4)
    swapped[first], swapped[second] = features[0][second], features[0][first]
    windows[0][:] = False
    located = place([swapped, *features[1:]], windows)
    assert located.intervals[0, 0] > located.intervals[0, 1]


def test_extents_hold_the_place_and_do_not_overlap():
    features, windows, _ = collection(lambda n, k: (n + k) % 2 == 0)
    located = place(features, windows)
    assert (located.first <= located.intervals).all()
    assert (located.intervals <= located.last).all()
    assert (located.last[:, :-1] < located.first[:, 1:]).all()


@given(st.integers(1, 12), st.integers(1, 40), st.data())
def test_a_place_is_in_the_middle_of_its_coarse_interval(grid, length, data):
    coarse = -(-length // grid)
    at = data.draw(st.integers(0, coarse - 1))
    scores = np.zeros((coarse, 1))
    scores[at] = 9.0
    located = decide(
        [scores],
        [0.0 * scores],
        LEARNING["sight"],
        seconds=1.0,
        grid=grid,
        lengths=[length],
        absent=False,
    )
    assert located.intervals[0, 0] == min(at * grid + grid // 2, length - 1)
    assert located.first[0, 0] == at * grid
    assert located.last[0, 0] == min(at * grid + grid, length) - 1


def test_a_guess_claims_no_more_room_than_its_confidence_speaks_of():
    flat = np.zeros((100, 2))
    located = decide(
        [flat], [0.0 * flat], LEARNING["sight"], seconds=0.5, grid=3, lengths=[300], absent=False
    )
    assert set(located.evidence[0]) == {BETWEEN}
    assert (located.last - located.first <= 2 * 5 * 3).all()


def test_a_step_that_is_neither_said_nor_alike_is_less_likely_there():
    features, windows, truth = collection(lambda n, k: n > 0)
    whole = place(features, windows, absent=False)
    features[0][truth[0, 1] : truth[0, 1] + 4] = features[0][:4]
    without = place(features, windows, absent=False)
    assert without.presence[0, 1] < whole.presence[0, 1]
    assert without.confidence[0, 1] < whole.confidence[0, 1]
    assert (without.confidence <= without.presence).all()


def test_an_absent_step_has_no_place_and_no_evidence():
    scores, said = np.full((60, 2), -3.0), np.zeros((60, 2))
    said[20:24, 0], scores[20:24, 0] = 4.0, 6.0
    few = np.array([0.3, 0.1])
    located = decide(
        [scores], [said], LEARNING["words"], seconds=1.0, grid=1, lengths=[60], support=few
    )
    assert located.intervals[0, 0] in range(18, 27)
    assert located.evidence[0].tolist() == [SAID, ""]
    assert [x[0, 1] for x in (located.intervals, located.first, located.last)] == [-1, -1, -1]
    assert located.confidence[0, 1] == 0.0
    assert 0.0 < located.presence[0, 1] < located.presence[0, 0]


@given(st.lists(st.integers(-1, 99), min_size=1, max_size=8, unique=True))
def test_usual_extents_hold_the_place_and_leave_room_for_the_neighbours(places):
    places = np.sort(np.array(places))
    first, last = usual_extents(places, (2.0, 3.0), 2.0, 100)
    there = places >= 0
    assert (first[there] >= 0).all()
    assert (first[there] <= places[there]).all()
    assert (places[there] <= last[there]).all()
    assert (last[there] < 100).all()
    assert (last[there][:-1] < first[there][1:]).all()
    assert (places[there] - first[there] <= 4).all()
    assert (last[there] - places[there] <= 6).all()


@given(st.lists(st.integers(0, 29), min_size=1, max_size=30))
def test_no_two_steps_share_a_place(places):
    out = apart(np.array(places), 30)
    assert len(set(out.tolist())) == len(places)
    assert out.min() >= 0
    assert out.max() < 30
    order = np.argsort(places, kind="stable")
    assert (np.diff(out[order]) > 0).all()


@given(st.integers(1, 12), st.integers(0, 4))
def test_the_sum_around_a_place_is_that_of_its_neighbours(length, reach):
    values = np.random.default_rng(length).random((length, 2))
    naive = [values[max(t - reach, 0) : t + reach + 1].sum(axis=0) for t in range(length)]
    np.testing.assert_allclose(around(values, reach), naive)


def test_rows_are_averaged_and_the_last_has_what_is_left():
    x = np.arange(10.0).reshape(5, 2)
    np.testing.assert_allclose(coarser(x, 2), [[1, 2], [5, 6], [8, 9]])


def test_what_all_rows_share_is_taken_off():
    x = np.random.default_rng(0).random((6, 3))
    np.testing.assert_allclose(centred(x + 100.0), centred(x), atol=1e-5)
    assert not centred(np.ones((4, 3))).any()


@given(
    hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.floats(-9, 9)),
    st.floats(0.3, 6.0),
    st.sampled_from([("edge", "nearest"), ("constant", "constant")]),
)
def test_a_blur_is_that_of_scipy(x, deviation, beyond) -> None:
    ours, theirs = beyond
    expected = gaussian_filter1d(x, deviation, axis=0, mode=theirs)
    np.testing.assert_allclose(blurred(x, deviation, ours), expected, atol=1e-12)
