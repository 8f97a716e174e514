"""Protocols by name: scores agree with the functions, and missing scores have a reason."""

import pytest

from howsteps.evaluate.frame_protocols import with_extents
from howsteps.evaluate.protocols import (
    PROTOCOLS,
    Bars,
    NotMeasured,
    Prediction,
    Reference,
)
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


@pytest.mark.parametrize("name", [n for n in PROTOCOLS if not n.startswith("script")])
def test_a_bootstrap_of_videos_goes_round_the_score(name):
    score = PROTOCOLS[name](WORKED, Reference(TRUTH))
    # With two videos, the ends of the interval are the scores of u and v alone.
    assert score.low <= score.f1 <= score.high
    assert score.low < score.high


def test_the_matching_of_all_videos_is_kept_in_the_bootstrap():
    # In each video alone another matching would be perfect; over both, one of them is correct.
    seen = truth({"u": [(0, 0, 1), (1, 2, 3)], "v": [(1, 0, 1), (0, 2, 3)]}, steps=2)
    found = Prediction(2, tuple(placed({"u": [0.5, 2.5], "v": [0.5, 2.5]})))
    score = PROTOCOLS["paper-f1"](found, Reference(seen))
    assert (score.low, score.f1, score.high) == (0, 0.5, 1)


def test_error_bars_of_the_paper_are_over_later_solutions():
    seen = truth({"u": [(0, 0, 1), (1, 2, 3)]}, steps=2)
    right, half, wrong = (tuple(placed({"u": times})) for times in ([0.5, 2.5], [0.5, 9], [8, 9]))
    reference = Reference(seen, bars=Bars.roundings)
    score = PROTOCOLS["paper-f1"](Prediction(2, half, roundings=(right, wrong)), reference)
    assert (score.f1, score.low, score.high) == (0.5, 0, 1)
    folds = PROTOCOLS["paper-f1"](Prediction(2, half, folds=(0.2, 0.7)), reference)
    assert (folds.f1, folds.low, folds.high) == (0.5, 0.2, 0.7)
    alone = PROTOCOLS["paper-f1"](Prediction(2, half), reference)
    assert (alone.low, alone.high) == (None, None)


@pytest.mark.parametrize("name", [n for n in PROTOCOLS if not n.startswith(("script", "paper"))])
def test_a_score_without_roundings_has_no_error_bar(name):
    score = PROTOCOLS[name](WORKED, Reference(TRUTH, bars=Bars.roundings))
    assert (score.low, score.high) == (None, None)
    assert score.f1 == PROTOCOLS[name](WORKED, Reference(TRUTH)).f1


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
    assert (score.precision, score.recall, score.note) == (1, 1, "judged")


@pytest.mark.parametrize(
    ("protocol", "found", "reason"),
    [
        ("script", Prediction(2), "without a script to compare"),
        ("script-judged", Prediction(2, script=script("boil water")), "no file of judged"),
        ("paper-f1", Prediction(2), "localises no steps"),
        ("frame-f1", Prediction(1, tuple(placed({"u": [1.0]}))), "length of the videos"),
        ("crosstask-recall", Prediction(1, tuple(placed({"u": [1.0]}))), "needs known steps"),
    ],
)
def test_a_missing_score_has_a_reason(protocol, found, reason):
    reference = Reference(truth({"u": [(0, 0, 1)]}, steps=1))
    with pytest.raises(NotMeasured, match=reason):
        PROTOCOLS[protocol](found, reference)


def test_the_text_free_baseline_has_no_words_to_judge():
    reference = Reference(truth({"u": [(0, 0, 1)]}, steps=1), {"step 0": []})
    found = Prediction(1, mention_times=(Localisation("u", 0, 1.0),))
    with pytest.raises(NotMeasured, match="no words to judge"):
        PROTOCOLS["script-judged"](found, reference)


def test_a_localisation_without_extent_extends_halfway_to_its_neighbours():
    found = with_extents(
        [
            Localisation("u", 1, 8.0),
            Localisation("u", 0, 2.0),
            Localisation("u", 2, 12.0, 11.5, 13.0),
            Localisation("u", 3, None),
            Localisation("elsewhere", 0, 1.0),
        ],
        {"u": 20.0, "v": None},
    )
    assert [(p.step, p.start, p.end) for p in found["u"]] == [
        (0, 0.0, 5.0),
        (1, 5.0, 10.0),
        (2, 11.5, 13.0),
    ]
    assert found["v"] == []
