"""Protocols by name: scores agree with the functions, and missing scores have a reason."""

import pytest

from howsteps.errors import HowstepsError
from howsteps.evaluate import predicted_frames
from howsteps.evaluate.protocols import PROTOCOLS, Prediction, Reference
from howsteps.task import Localisation, Mention, Rule, Script, Step
from tests.evaluate.test_worked_example import FOUND, TRUTH
from tests.evaluate.truths import placed, truth

WORKED = Prediction(3, tuple(FOUND), known_steps=True)


def test_every_protocol_has_the_numbers_of_the_worked_example():
    reference = Reference(TRUTH)
    f1 = {
        name: round(PROTOCOLS[name](WORKED, reference).f1, 3)
        for name in PROTOCOLS
        if not name.startswith("script")
    }
    # The example has the same frame scores at three labels per second as at one.
    assert f1 == {
        "paper-f1": 0.727,
        "paper-f1-made": 0.727,
        "paper-f1-authors": 0.727,
        "kukleva": pytest.approx(0.545, abs=0.02),
        "per-video": 0.752,
        "per-video-background": 0.682,
        "crosstask-recall": 0.727,
        "frame-f1": 0.667,
    }


def test_error_bars_are_over_the_solutions_that_were_visited():
    seen = truth({"u": [(0, 0, 1), (1, 2, 3)]}, steps=2)
    right, half, wrong = (tuple(placed({"u": times})) for times in ([0.5, 2.5], [0.5, 9], [8, 9]))
    score = PROTOCOLS["paper-f1"](Prediction(2, half, roundings=(right, wrong)), Reference(seen))
    assert (score.f1, score.low, score.high) == (0.5, 0, 1)
    alone = PROTOCOLS["paper-f1"](Prediction(2, half), Reference(seen))
    assert (alone.low, alone.high) == (None, None)


def script(*relations: str) -> Script:
    """A script whose steps are each named once, in order."""
    return Script(
        tuple(
            Step(label, (Mention("u", *label.split(), label, float(at), at + 0.5),))
            for at, label in enumerate(relations)
        )
    )


def test_a_script_is_judged_by_the_global_order():
    # The source lists the steps the other way round.
    rows = [(1, 0, 1), (0, 2, 3)]
    seen = truth({"u": rows, "v": rows}, steps=2)
    rules = {
        "step 0": [Rule(frozenset({"stir"}), frozenset({"tea"}))],
        "step 1": [Rule(frozenset({"boil"}), frozenset({"water"}))],
    }
    reference = Reference(seen, rules)
    assert reference.order == (1, 0)
    found = script("boil water", "stir tea")
    score = PROTOCOLS["script-judged"](Prediction(2, script=found), reference)
    assert (score.precision, score.recall) == (1, 1)


@pytest.mark.parametrize(
    ("protocol", "found", "reason"),
    [
        ("script", Prediction(2), "without a script to compare"),
        ("script-judged", Prediction(2, script=script("boil water")), "no file of judged"),
        ("paper-f1", Prediction(2), "localises no steps"),
        (
            "frame-f1",
            Prediction(1, tuple(placed({"u": [1.0]}))),
            "length of video 'u' is not known",
        ),
        ("crosstask-recall", Prediction(1, tuple(placed({"u": [1.0]}))), "needs known steps"),
    ],
)
def test_a_missing_score_has_a_reason(protocol, found, reason):
    reference = Reference(truth({"u": [(0, 0, 1)]}, steps=1))
    with pytest.raises(HowstepsError, match=reason):
        PROTOCOLS[protocol](found, reference)


def test_a_localisation_without_extent_extends_halfway_to_its_neighbours():
    job = truth({"u": []}, 4, {"u": 20.0})
    found = [
        Localisation("u", 1, 8.0),
        Localisation("u", 0, 2.0),
        Localisation("u", 2, 12.0, 11.0, 13.0),
        Localisation("u", 3, None),
    ]
    [labels] = predicted_frames(found, job, rate=1.0)
    assert labels.tolist() == [0] * 5 + [1] * 5 + [-1] + [2] * 2 + [-1] * 7
