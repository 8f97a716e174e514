from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from howsteps.localise.decision import decide, separate
from howsteps.localise.evidence import SegmentPrior
from howsteps.localise.order import Marginals
from howsteps.localise.self_training import KINDS, average_rows, centre_and_scale, learn
from howsteps.task import BETWEEN, LIKE_SEEN, SAID


def collection(named, videos=6, length=80, seed=0):
    """Three steps, each visible for four intervals; ``named(n, k)``: video n names step k."""
    rng = np.random.default_rng(seed)
    features, mentions, truth = [], [], []
    for n in range(videos):
        x = 0.3 * rng.random((length, 8)).astype(np.float32)
        places = np.array([15, 40, 65]) + rng.integers(-8, 9, 3)
        for k, t in enumerate(places):
            x[t : t + 4, k] += 1.0
        features.append(centre_and_scale(x))
        said = [(t - 2.0, t - 1.0, k, 1.0) for k, t in enumerate(places) if named(n, k)]
        mentions.append(np.array(said, float).reshape(-1, 4))
        truth.append(places)
    return features, mentions, np.array(truth)


def place(features, mentions, **options):
    lengths = [len(x) for x in features]
    kind = KINDS["sight"]
    learnt = learn(features, SegmentPrior(mentions, lengths, 3, 1.0), seen=kind.seen)
    return decide(learnt.prior, learnt.scores, kind, coarsening=1, lengths=lengths, **options)


def test_a_step_is_found_in_the_videos_that_do_not_name_it():
    features, mentions, truth = collection(lambda n, k: (n + k) % 2 == 0)
    located = place(features, mentions, absent=False)
    assert ((located.intervals >= truth) & (located.intervals < truth + 4)).all()
    named = np.array([np.isin(range(3), rows[:, 2]) for rows in mentions])
    assert set(located.evidence[named]) == {SAID}
    assert set(located.evidence[~named]) <= {LIKE_SEEN, BETWEEN}


def test_swapped_steps_are_found_against_the_order():
    features, mentions, truth = collection(lambda n, k: True)
    swapped = features[0].copy()
    first, second = slice(truth[0, 0], truth[0, 0] + 4), slice(truth[0, 1], truth[0, 1] + 4)
    swapped[first], swapped[second] = features[0][second], features[0][first]
    mentions[0] = mentions[0][:0]
    located = place([swapped, *features[1:]], mentions)
    assert located.intervals[0, 0] > located.intervals[0, 1]


def test_extents_contain_the_place_and_do_not_overlap():
    features, mentions, _ = collection(lambda n, k: (n + k) % 2 == 0)
    located = place(features, mentions)
    assert (located.first <= located.intervals).all()
    assert (located.intervals <= located.last).all()
    assert (located.last[:, :-1] < located.first[:, 1:]).all()


@given(st.integers(1, 12), st.integers(1, 40), st.data())
def test_a_place_is_in_the_middle_of_its_coarse_interval(coarsening, length, data):
    coarse = -(-length // coarsening)
    doing = np.zeros((coarse, 1))
    doing[data.draw(st.integers(0, coarse - 1))] = 1.0
    located = decide_by_video(doing, coarsening=coarsening, lengths=[length])
    at = int(doing.argmax())
    assert located.intervals[0, 0] == min(at * coarsening + coarsening // 2, length - 1)
    assert located.first[0, 0] == at * coarsening
    assert located.last[0, 0] == min(at * coarsening + coarsening, length) - 1


@dataclass(frozen=True)
class Known(SegmentPrior):
    """A prior that knows when each step is being done."""

    doing: Any = None

    def located(self, video, scores):
        return Marginals(self.doing, np.full(self.steps, 0.5))


def decide_by_video(doing, **options):
    prior = Known([np.empty((0, 4))], [len(doing)], doing.shape[1], 1.0, doing=doing)
    prior = replace(prior, seconds=float(options["coarsening"]))
    return decide(prior, [np.zeros_like(doing)], KINDS["sight"], absent=False, **options)


def test_the_extent_of_a_guess_is_limited_to_the_tolerance_of_its_confidence():
    located = decide_by_video(np.full((100, 2), 0.02), coarsening=3, lengths=[300])
    assert set(located.evidence[0]) == {BETWEEN}
    assert (located.last - located.first <= 2 * 2 * 3).all()


def test_a_step_that_is_neither_named_nor_seen_is_less_likely_present():
    features, mentions, truth = collection(lambda n, k: n > 0)
    complete = place(features, mentions, absent=False)
    features[0][truth[0, 1] : truth[0, 1] + 4] = features[0][:4]
    without = place(features, mentions, absent=False)
    assert without.presence[0, 1] < complete.presence[0, 1]
    assert without.confidence[0, 1] < complete.confidence[0, 1]
    assert (without.confidence <= without.presence).all()


def test_an_absent_step_has_no_place_and_no_evidence():
    score = np.full((60, 2), -0.2)
    score[20:24, 0] = 3.0
    kind = KINDS["words"]
    said = [np.array([[20.0, 21.0, 0.0, 1.0]])]
    prior = SegmentPrior(said, [60], 2, 1.0, **kind.known).measure([score])
    located = decide(
        prior, [score], kind, coarsening=1, lengths=[60], support=np.array([[0.3, 0.0]])
    )
    assert located.intervals[0, 0] in range(18, 27)
    assert located.evidence[0].tolist() == [SAID, ""]
    assert [x[0, 1] for x in (located.intervals, located.first, located.last)] == [-1, -1, -1]
    assert located.confidence[0, 1] == 0.0
    assert 0.0 < located.presence[0, 1] < located.presence[0, 0]


@given(st.lists(st.integers(0, 29), min_size=1, max_size=30))
def test_no_two_steps_share_a_place(places):
    out = separate(np.array(places), 30)
    assert len(set(out.tolist())) == len(places)
    assert out.min() >= 0
    assert out.max() < 30
    order = np.argsort(places, kind="stable")
    assert (np.diff(out[order]) > 0).all()


def test_rows_are_averaged_and_the_last_group_may_be_smaller():
    x = np.arange(10.0).reshape(5, 2)
    np.testing.assert_allclose(average_rows(x, 2), [[1, 2], [5, 6], [8, 9]])


def test_an_offset_common_to_all_rows_is_removed():
    x = np.random.default_rng(0).random((6, 3))
    np.testing.assert_allclose(centre_and_scale(x + 100.0), centre_and_scale(x), atol=1e-5)
    assert not centre_and_scale(np.ones((4, 3))).any()
