from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.errors import HowstepsError
from howsteps.localise import segments
from howsteps.localise.features import checked_features
from howsteps.localise.segments import (
    BALANCE,
    NEIGHBOURS,
    POSITION,
    SCORE,
    SHORTEST,
    filled,
    find_steps,
    moving_sum,
    transport,
)
from howsteps.task import (
    BY_HAND,
    LIKE_SEEN,
    Localisation,
)

STEPS, WIDTH = 4, 24


def silent_videos(videos=5, seed=0, pause=8, mixed=False):
    """Videos of four steps (1 s intervals) with unlike pauses between; and where each step is."""
    rng = np.random.default_rng(seed)
    looks = rng.normal(size=(STEPS, WIDTH))
    features, truth = {}, {}
    for n in range(videos):
        rows, spans = [], {}
        order = [1, 0, 2, 3] if mixed and n == 0 else range(STEPS)
        for k in order:
            rows += list(rng.normal(size=(rng.integers(pause // 2, pause + 1), WIDTH)))
            length = int(rng.integers(6, 13))
            spans[k] = len(rows), len(rows) + length
            rows += [looks[k]] * length
        x = np.array(rows) + rng.normal(size=WIDTH) + 0.4 * rng.normal(size=(len(rows), WIDTH))
        features[f"v{n}"] = x.astype(np.float32)
        truth[f"v{n}"] = spans
    return features, truth


def right(places, truth):
    hits = [truth[p.video][p.step][0] <= p.time <= truth[p.video][p.step][1] for p in places]
    return float(np.mean(hits))


def test_steps_are_found_that_silent_videos_share():
    features, truth = silent_videos()
    places = find_steps(features, STEPS, seconds=1.0)
    assert [(p.video, p.step) for p in places] == [(v, k) for v in features for k in range(STEPS)]
    assert right(places, truth) >= 0.9
    assert all(p.start <= p.time <= p.end <= len(features[p.video]) for p in places)


def test_steps_that_are_swapped_in_a_video_are_found():
    features, truth = silent_videos(videos=7, mixed=True)
    places = find_steps(features, STEPS, seconds=1.0)
    swapped = [p for p in places if p.video == "v0"]
    assert right(swapped, truth) >= 0.75


def test_nothing_is_sure_without_a_word():
    features, _ = silent_videos()
    for place in find_steps(features, STEPS, seconds=1.0):
        assert 0 < place.confidence < 1
        assert place.evidence == LIKE_SEEN


def test_the_number_of_steps_is_the_largest_at_which_most_are_distinct():
    features, _ = silent_videos(pause=16)
    most = int(np.median([len(x) for x in features.values()]) / SHORTEST)
    places = find_steps(features, seconds=1.0)
    assert STEPS <= len({place.step for place in places}) < most


def test_short_intervals_are_averaged():
    features, truth = silent_videos()
    fine = {name: np.repeat(x, 3, axis=0) for name, x in features.items()}
    assert right(find_steps(fine, STEPS, seconds=1 / 3), truth) >= 0.9


def test_a_large_collection_has_a_coarser_grid(monkeypatch):
    features, truth = silent_videos()
    monkeypatch.setattr(segments, "FACTOR_MEMORY", 2 * sum(len(x) ** 2 for x in features.values()))
    places = find_steps(features, STEPS, seconds=1.0)
    assert all(place.time % 2 == 1 for place in places)  # the middle of intervals of two seconds
    assert right(places, truth) >= 0.8


def test_a_video_that_is_too_short_is_left_out():
    features, _ = silent_videos()
    features["clip"] = features["v0"][:2]
    assert "clip" not in {place.video for place in find_steps(features, STEPS, seconds=1.0)}


def test_videos_that_are_all_too_short_are_not_called_one() -> None:
    features, _ = silent_videos()
    with pytest.raises(HowstepsError, match="fewer than two videos are long enough for 99 steps"):
        find_steps(features, 99, seconds=1.0)


@pytest.mark.parametrize("videos", [{}, {"a": np.ones((60, 3))}])
def test_one_video_has_no_steps_to_share(videos):
    with pytest.raises(HowstepsError, match=r"two or more videos|fewer than two videos"):
        find_steps({**videos, "short": np.ones((1, 3))}, STEPS, seconds=1.0)


def test_features_that_are_not_numbers_are_refused():
    features, _ = silent_videos()
    features["v0"][3, 3] = np.nan
    with pytest.raises(HowstepsError, match="not finite"):
        find_steps(features, STEPS, seconds=1.0)


def objective(shares, scores):
    """F of the module's docstring, term by term."""
    length, steps = scores.shape
    radius = max(round(0.04 * length), 1)
    value = 0.0
    for t in range(length):
        for k in range(steps):
            around = [u for u in range(t - radius, t + radius + 1) if u != t and 0 <= u < length]
            near = sum(shares[u, k] for u in around) / (2 * radius)
            usual = abs((t + 0.5) / length - (k + 0.5) / steps)
            cost = POSITION * usual - SCORE * scores[t, k] - NEIGHBOURS / 2 * near
            value += shares[t, k] * (cost + np.log(shares[t, k] + 1e-300))
    size = shares.mean(axis=0)
    return value + BALANCE * length * (size * np.log(steps * size + 1e-300)).sum()


def test_transport_descends_the_objective():
    scores = np.random.default_rng(1).normal(size=(40, 3))
    shares = transport(scores)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    uniform = np.full_like(shares, 1 / 3)
    best = objective(shares, scores)
    assert best < objective(uniform, scores)
    for seed in range(5):
        other = shares * np.exp(0.3 * np.random.default_rng(seed).normal(size=shares.shape))
        assert best < objective(other / other.sum(axis=1, keepdims=True), scores)


def lengths(features):
    return {video: float(len(x)) for video, x in features.items()}


@pytest.mark.parametrize("seen", [True, False])
def test_filled_extents_cover_every_video(seen):
    features, truth = silent_videos(pause=2)
    places = find_steps(features, STEPS, seconds=1.0)
    absent = Localisation("v1", 0, None)
    given = [absent if (p.video, p.step) == ("v1", 0) else p for p in places]
    full = filled(given, lengths(features), features if seen else None, seconds=1.0)
    assert [(p.video, p.step, p.time) for p in full] == [(p.video, p.step, p.time) for p in given]
    assert absent in full
    for video, x in features.items():
        spans = sorted((p.start, p.end) for p in full if p.video == video and p.time is not None)
        assert spans[0][0] == 0
        assert spans[-1][1] == len(x)
        assert all(a[1] == b[0] for a, b in pairwise(spans))
    overlap = [
        max(0, min(p.end, truth[p.video][p.step][1]) - max(p.start, truth[p.video][p.step][0]))
        / np.diff(truth[p.video][p.step])[0]
        for p in full
        if p.time is not None
    ]
    assert np.mean(overlap) > 0.85


@pytest.mark.parametrize("times", [(5.0, 5.0, 5.0), (0.1, 900.0, 901.0), (9.0, 4.0, 4.5)])
def test_filled_extents_never_overlap_wherever_places_are(times):
    features, _ = silent_videos()
    places = [Localisation(v, k, time) for v in features for k, time in enumerate(times)]
    for video, x in features.items():
        full = filled(places, lengths(features), features, seconds=1.0)
        spans = sorted((p.start, p.end) for p in full if p.video == video)
        assert (spans[0][0], spans[-1][1]) == (0, len(x))
        assert all(a[1] == b[0] and a[0] <= a[1] for a, b in pairwise(spans))
        inside = [p for p in full if p.video == video and p.time < len(x)]
        assert all(p.start <= p.time <= p.end for p in inside)
        assert all(p.start < p.end for p in inside) or len(set(times)) == 1


def test_filled_steps_meet_where_the_frames_change():
    places = [Localisation("v", 0, 5.0, 3.0, 10.0), Localisation("v", 1, 25.0, 20.0, 28.0)]

    def border(*changes, length=30):
        rows = np.searchsorted(changes, np.arange(length), side="right")
        left, right = filled(places, {"v": 30.0}, {"v": np.eye(3)[rows]}, seconds=1.0)
        assert left.end == right.start
        return left.end

    assert border(17) == 17
    assert border(9) == 9  # the extents that were found are not exact
    assert border(4, 17) == 17  # at a place, no other step begins
    assert border() == border(12, length=2) == 15  # no change, no frames: the middle
    assert filled(places, {"v": 30.0})[0].end == 15


def test_filled_extents_leave_a_place_by_hand_as_it_is():
    features, _ = silent_videos()
    hand = Localisation("v0", 1, 20.0, 19.0, 21.0, evidence=BY_HAND)
    places = find_steps(features, STEPS, seconds=1.0)
    places = [hand if (p.video, p.step) == ("v0", 1) else p for p in places]
    full = filled(places, lengths(features), features, seconds=1.0)
    full = [p for p in full if p.video == "v0"]
    assert hand in full
    assert max(p.end for p in full if p.time < 20) == 19
    assert min(p.start for p in full if p.time > 20) == 21
    wide = replace(hand, start=5.0, end=35.0)
    full = filled([Localisation("v0", 0, 10.0), wide, Localisation("v0", 2, 30.0)], {"v0": 40.0})
    assert [(p.start, p.end) for p in full] == [(0.0, 10.0), (5.0, 35.0), (30.0, 40.0)]


def test_the_features_are_not_changed():
    features, _ = silent_videos()
    before = {name: x.copy() for name, x in features.items()}
    find_steps(features, STEPS, seconds=1.0)
    for old, new in zip(before.values(), checked_features(list(features.values()), 1), strict=True):
        np.testing.assert_array_equal(old, new)


@given(st.integers(1, 12), st.integers(0, 4))
def test_the_moving_sum_agrees_with_a_naive_one(length, radius):
    values = np.random.default_rng(length).random((length, 2))
    naive = [values[max(t - radius, 0) : t + radius + 1].sum(axis=0) for t in range(length)]
    np.testing.assert_allclose(moving_sum(values, radius), naive)
