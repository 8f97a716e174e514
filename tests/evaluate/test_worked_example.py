"""The example of docs/guide/evaluate.md: two videos, under every protocol."""

import pytest

from howsteps.evaluate import (
    Variant,
    crosstask_recall,
    frame_f1,
    kukleva,
    paper_f1,
    per_video,
    predicted_frames,
    true_frames,
)
from howsteps.task import Localisation
from tests.evaluate.truths import truth

TRUTH = truth(
    {"u": [(0, 2, 6), (1, 8, 14), (2, 15, 18)], "v": [(0, 1, 5), (2, 10, 16)]},
    steps=3,
    durations={"u": 20.0, "v": 20.0},
)
FOUND = [
    Localisation("u", 0, 4, 3, 6),
    Localisation("u", 1, 10, 9, 12),
    Localisation("u", 2, 19, 17, 20),
    Localisation("v", 0, 3, 1, 4),
    Localisation("v", 1, 7, 6, 8),
    Localisation("v", 2, 12, 9, 14),
]
TRUE = true_frames(TRUTH, rate=1.0)
FRAMES = predicted_frames(FOUND, TRUTH, rate=1.0)


@pytest.mark.parametrize(
    ("score", "precision", "recall", "f1", "frames"),
    [
        (paper_f1(FOUND, TRUTH), 4 / 6, 4 / 5, 8 / 11, None),
        (
            paper_f1([f for f in FOUND if f.time != 7], TRUTH, variant=Variant.made),
            4 / 5,
            4 / 5,
            4 / 5,
            None,
        ),
        (crosstask_recall(FOUND, TRUTH), 4 / 6, 4 / 5, 8 / 11, None),
        (frame_f1(FRAMES, TRUE), 14 / 19, 14 / 23, 2 / 3, None),
        (per_video(FRAMES, TRUE, background=False), 1, 0.618, 0.752, 0.619),
        (per_video(FRAMES, TRUE, background=True), 0.765, 0.640, 0.682, 0.65),
    ],
    ids=["paper-f1", "made", "crosstask-recall", "frame-f1", "without", "with background"],
)
def test_scores_of_the_documentation(score, precision, recall, f1, frames):
    assert score.precision == pytest.approx(precision, abs=5e-4)
    assert score.recall == pytest.approx(recall, abs=5e-4)
    assert score.f1 == pytest.approx(f1, abs=5e-4)
    assert score.frames == (None if frames is None else pytest.approx(frames, abs=5e-4))


def test_scores_of_kukleva():
    # Segments are correct to 3/4, 3/6, 1/3, 3/4 and 4/6: c = 3 on average.
    score = kukleva(FRAMES, TRUE, steps=3, repeats=4000)
    assert score.f1 == pytest.approx(6 / 11, abs=0.005)
    assert score.precision == pytest.approx(3 / 6, abs=0.005)
    assert score.recall == pytest.approx(3 / 5, abs=0.005)
    assert score.frames == pytest.approx(14 / 23)
