"""``frame-f1``, ``kukleva`` and ``per-video``: examples worked by hand, and common properties."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given

from howsteps.evaluate import frame_f1, kukleva, label_frames, per_video, true_frames
from tests.evaluate.truths import labelled_videos, labels, truth


def test_frames_are_labelled_at_their_middle_and_the_later_start_wins():
    job = truth({"u": [(0, 0.0, 4.0), (1, 2.0, 3.0), (0, 6.0, 6.4)]}, 2, {"u": 7.0})
    # At one frame a second, the middles are 0.5, 1.5 …: step 1 has 2.5; 6.5 is after 6.4.
    assert true_frames(job, rate=1.0)[0].tolist() == labels("aaba...").tolist()
    assert label_frames(job.annotations, 4, rate=0.5).tolist() == labels("aa..").tolist()


WORKED = {
    # true       a a a a . . b b      predicted  b b b . . b a .
    # b with a: 3 frames, a with b: 1, b with b: 0  ->  b→a, a→b: 4 correct frames
    # 5 frames are predicted to be in a step (b b b b a), 6 truly are.
    "frame-f1": (frame_f1, ["bbb..ba."], ["aaaa..bb"], (4 / 5, 4 / 6, 8 / 11, None)),
    # In u, a is a; in v, a is b: one of the two must be wrong.
    "one matching for all videos": (
        *(frame_f1, ["aaa", "aa"], ["aaa", "bb"]),
        (3 / 5, 3 / 5, 3 / 5, None),
    ),
    # Segments a (correct), b (wrong), a (correct): c = 2 in every draw; P = 2/(1·2), R = 2/3.
    "kukleva, all correct or all wrong": (
        *(partial(kukleva, steps=2), ["aa..aa"], ["aabbaa"]),
        (1, 2 / 3, 0.8, 4 / 6),
    ),
    # One step in 3 segments of one video, K_pred = 1: c = 3 of N·K_pred = 1.
    "kukleva, a repeated step": (
        *(partial(kukleva, steps=1), ["a.a.a"], ["ababa"]),
        (3, 3 / 5, 2 * 3 / (1 + 5), 3 / 5),
    ),
    # true       a a b b .      predicted  b b a . a       (without the last frame)
    # b→a: 2 of 2 and 2; a→b: 1 of 1 and 2.
    # a: P 1, R 1, F1 1.  b: P 1, R ½, F1 2·1/(1+2) = ⅔.  3 of 4 frames are correct.
    "per-video": (per_video, ["bba.a"], ["aabb."], (1, 3 / 4, (1 + 2 / 3) / 2, 3 / 4)),
    # The same with three labels on each side: predicted b b a . a, true a a b b .
    #        a  b  .  (true)
    #   b    2  0  0        The best matching is b→a (2), a→b or a→. (1 each), .→b (1):
    #   a    0  1  1        b→a, a→., .→b gives 4; b→a, a→b, .→. gives 3.
    #   .    0  1  0
    # a: F1 1.  b with '.': 2·1/(1+2) = ⅔, P 1, R ½.  '.' with a: 2·1/(2+1) = ⅔, P ½, R 1.
    "per-video with background": (
        *(partial(per_video, background=True), ["bba.a"], ["aabb."]),
        ((1 + 1 + 1 / 2) / 3, (1 + 1 / 2 + 1) / 3, (1 + 2 / 3 + 2 / 3) / 3, 4 / 5),
    ),
}


@pytest.mark.parametrize("name", WORKED)
def test_worked_examples(name):
    protocol, predicted, true, (precision, recall, f1, frames) = WORKED[name]
    score = protocol([labels(text) for text in predicted], [labels(text) for text in true])
    assert (score.precision, score.recall, score.f1) == pytest.approx((precision, recall, f1))
    assert score.frames == (frames if frames is None else pytest.approx(frames))
    assert name != "frame-f1" or score.matching == (1, 0)


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
