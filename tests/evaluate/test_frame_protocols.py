"""``frame-f1``, ``kukleva`` and ``per-video``: examples worked by hand, and common properties."""

import numpy as np
import pytest
from hypothesis import given

from howsteps.evaluate import frame_f1, kukleva, label_frames, per_video, true_frames
from tests.evaluate.truths import labelled_videos, labels, truth


def test_frames_are_labelled_at_their_middle_and_the_later_start_wins():
    job = truth({"u": [(0, 0.0, 4.0), (1, 2.0, 3.0), (0, 6.0, 6.4)]}, 2, {"u": 7.0})
    # At one frame a second, the middles are 0.5, 1.5 …: step 1 has 2.5; 6.5 is after 6.4.
    assert true_frames(job, rate=1.0)["u"].tolist() == labels("aaba...").tolist()
    assert label_frames(job.annotations, 4, rate=0.5).tolist() == labels("aa..").tolist()


def test_frame_f1_worked_example():
    # true       a a a a . . b b      predicted  b b b . . b a .
    # b with a: 3 frames, a with b: 1, b with b: 0  ->  b→a, a→b: 4 correct frames
    # 5 frames are predicted to be in a step (b b b b a), 6 truly are.
    score = frame_f1([labels("bbb..ba.")], [labels("aaaa..bb")])
    assert score.matching == (1, 0)
    assert score.precision == pytest.approx(4 / 5)
    assert score.recall == pytest.approx(4 / 6)
    assert score.f1 == pytest.approx(8 / 11)


def test_frame_f1_has_one_matching_for_all_videos():
    # In u, a is a; in v, a is b: one of the two must be wrong.
    score = frame_f1([labels("aaa"), labels("aa")], [labels("aaa"), labels("bb")])
    assert score.precision == score.recall == pytest.approx(3 / 5)


def test_kukleva_worked_example():
    # true       . a a b b .      predicted  a a a a b b      (matching a→a, b→b)
    # Without background 4 frames remain: a a | b b, predicted a a | a b.
    # Segment a is fully correct, segment b half: MoF = 3/4.
    # On average c = 1 + ½; N·K_pred = 1·3, 2 segments: P = ½, R = ¾ on average.
    score = kukleva([labels("aaaabb")], [labels(".aabb.")], steps=3, repeats=4000)
    assert score.frames == pytest.approx(3 / 4)
    assert score.precision == pytest.approx(1.5 / 3, abs=0.01)
    assert score.recall == pytest.approx(1.5 / 2, abs=0.01)
    # F1 = 2c/(3+2) is linear in c, so its mean is 2·1.5/5.
    assert score.f1 == pytest.approx(0.6, abs=0.01)
    assert score.low < score.f1 < score.high


def test_kukleva_is_exact_if_segments_are_all_correct_or_all_wrong():
    # Segments a (correct), b (wrong), a (correct): c = 2 in every draw; P = 2/(1·2), R = 2/3.
    score = kukleva([labels("aa..aa")], [labels("aabbaa")], steps=2)
    assert score.precision == 1
    assert score.recall == pytest.approx(2 / 3)
    assert score.low == score.high == pytest.approx(score.f1) == pytest.approx(0.8)


def test_kukleva_precision_can_exceed_1_if_steps_are_repeated():
    # One step in 3 segments of one video, K_pred = 1: c = 3 of N·K_pred = 1.
    score = kukleva([labels("a.a.a")], [labels("ababa")], steps=1)
    assert score.precision == 3


def test_per_video_worked_example_without_background():
    # true       a a b b .      predicted  b b a . a       (without the last frame)
    # b→a: 2 of 2 and 2; a→b: 1 of 1 and 2.
    # a: P 1, R 1, F1 1.  b: P 1, R ½, F1 2·1/(1+2) = ⅔.  3 of 4 frames are correct.
    score = per_video([labels("bba.a")], [labels("aabb.")], background=False)
    assert score.precision == 1
    assert score.recall == pytest.approx(3 / 4)
    assert score.f1 == pytest.approx((1 + 2 / 3) / 2)
    assert score.frames == pytest.approx(3 / 4)


def test_per_video_worked_example_with_background():
    # The same with three labels on each side: predicted b b a . a, true a a b b .
    #        a  b  .  (true)
    #   b    2  0  0        The best matching is b→a (2), a→b or a→. (1 each), .→b (1):
    #   a    0  1  1        b→a, a→., .→b gives 4; b→a, a→b, .→. gives 3.
    #   .    0  1  0
    # a: F1 1.  b with '.': 2·1/(1+2) = ⅔, P 1, R ½.  '.' with a: 2·1/(2+1) = ⅔, P ½, R 1.
    score = per_video([labels("bba.a")], [labels("aabb.")], background=True)
    assert score.frames == pytest.approx(4 / 5)
    assert score.f1 == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)
    assert score.precision == pytest.approx((1 + 1 + 1 / 2) / 3)
    assert score.recall == pytest.approx((1 + 1 / 2 + 1) / 3)


def test_per_video_leaves_out_videos_without_true_labels():
    videos = [labels("ab"), labels("aa")], [labels("ab"), labels("..")]
    assert per_video(*videos, background=False).f1 == 1
    assert per_video([labels("a")], [labels(".")], background=False).f1 == 0


@pytest.mark.parametrize(
    "protocol",
    [
        frame_f1,
        lambda p, t: kukleva(p, t, steps=4),
        lambda p, t: per_video(p, t, background=True),
        lambda p, t: per_video(p, t, background=False),
    ],
    ids=["frame-f1", "kukleva", "per-video with background", "per-video without"],
)
class TestEveryProtocol:
    @given(videos=labelled_videos())
    def test_scores_are_shares(self, protocol, videos):
        score = protocol(*videos)
        for share in (score.recall, score.frames or 0):
            assert 0 <= share <= 1 + 1e-12

    @given(videos=labelled_videos())
    def test_is_invariant_to_the_numbering_of_discovered_steps(self, protocol, videos):
        predicted, true = videos
        names = np.array([2, 0, 3, 1, -1])
        renamed, score = protocol([names[p] for p in predicted], true), protocol(predicted, true)
        # Equally good matchings may differ in F1 where it is a mean over steps, never in frames.
        if score.frames is None:
            assert renamed.f1 == pytest.approx(score.f1)
        else:
            assert renamed.frames == pytest.approx(score.frames)

    @given(videos=labelled_videos())
    def test_a_perfect_prediction_has_every_frame_correct(self, protocol, videos):
        _, true = videos
        score = protocol(true, true)
        if any((t >= 0).any() for t in true):
            assert score.recall == pytest.approx(1)
            assert score.frames in (None, pytest.approx(1))
