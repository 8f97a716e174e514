"""Acts are classified as work or talk."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.narration import parser
from howsteps.narration.mentions import extract_video
from howsteps.narration.work import (
    Weights,
    neighbour_mean,
    position_features,
    probabilities,
    shipped,
)
from howsteps.task import Video, Word

FLAT = Weights(bias=0.0, features={"doing": 2.0, "talking": -2.0}, pull=0.0, reach=8.0)


def work(text: str, at: float = 100.0, duration: float = 300.0) -> float:
    """The probability of work of the last act of a text in the middle of a video."""
    words = [Word(word, at + n / 2, at + n / 2 + 0.5) for n, word in enumerate(text.split())]
    [passages] = parser.parse_narrations(parser.load_parser(), [words])
    return extract_video(Video("v", duration=duration), passages).mentions[-1].work


@pytest.mark.parametrize(
    ("doing", "talking"),
    [
        ("now fold the paper in half", "if you like you could fold the paper"),
        ("we're going to add the sugar", "please subscribe to my channel"),
        ("pour the milk into the bowl", "my mother used to pour the milk"),
        ("loosen the nuts with the wrench", "today i'll show you how to loosen the nuts"),
    ],
)
def test_work_is_likelier_than_talk(doing: str, talking: str) -> None:
    assert work(doing) > work(talking)


def test_features_add_to_the_log_odds() -> None:
    assert probabilities([{"doing"}, {"talking"}, set()], [0, 50, 99], FLAT) == pytest.approx(
        [0.8808, 0.1192, 0.5], abs=1e-4
    )


def test_unknown_features_are_ignored() -> None:
    assert probabilities([{"verb=frobnicate"}], [0.0], FLAT) == [0.5]


def test_log_odds_are_smoothed_over_close_acts() -> None:
    pulled = replace(FLAT, pull=1.0)
    near = probabilities([{"doing"}, set(), {"doing"}], [0, 1, 2], pulled)[1]
    far = probabilities([{"doing"}, set(), {"doing"}], [0, 1000, 2000], pulled)[1]
    assert near > 0.6
    assert far == pytest.approx(0.5)


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(0, 60)), min_size=1, max_size=12))
def test_neighbour_mean_against_a_naive_version(acts: list[tuple[float, float]]) -> None:
    starts = np.sort([start for _, start in acts])
    odds = np.array([value for value, _ in acts])
    found = neighbour_mean(odds, starts, 8.0)
    for n in range(len(acts)):
        near = np.exp(-np.abs(starts - starts[n]) / 8.0)
        near[n] = 0
        naive = (near @ np.clip(odds, -3, 3)) / (near.sum() + 0.5)
        assert found[n] == pytest.approx(naive)


def test_position_features_of_openings_and_endings() -> None:
    assert set(position_features(1.0, 2.0, 300.0)) == {"at=0", "opening", "greeting"}
    assert set(position_features(150.0, 151.0, 300.0)) == {"at=5"}
    assert set(position_features(298.0, 299.0, 300.0)) == {"at=9", "ending", "goodbye"}
    assert set(position_features(0.0, 0.0, 0.0)) == {"at=0", "opening", "greeting", "goodbye"}


def test_the_shipped_weights_are_complete() -> None:
    weights = shipped()
    assert 1000 < len(weights.features) < 20_000
    assert all(abs(weight) < 10 for weight in weights.features.values())


@pytest.mark.parametrize(
    "text", ["it protects the wrist", "they build a nest", "that will kill the roots"]
)
def test_what_things_and_others_do_is_no_work(text: str) -> None:
    assert work(text) == 0.0


@pytest.mark.parametrize(
    "text", ["let it cool the cake", "the nuts are removed", "you wrap the wrist", "wrap the wrist"]
)
def test_what_the_narrator_does_or_lets_happen_may_be_work(text: str) -> None:
    assert work(text) > 0.0
