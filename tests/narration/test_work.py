"""Work is told from talk by how it is said."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.narration import parser
from howsteps.narration.mentions import video_acts
from howsteps.narration.signs import place_signs
from howsteps.narration.work import Weights, neighbours, probabilities, shipped
from howsteps.task import Video, Word

FLAT = Weights(bias=0.0, signs={"doing": 2.0, "talking": -2.0}, pull=0.0, reach=8.0)


def work(text: str, at: float = 100.0, duration: float = 300.0) -> float:
    """How likely the last act of a text is work, said in the middle of a video."""
    words = [Word(word, at + n / 2, at + n / 2 + 0.5) for n, word in enumerate(text.split())]
    [passages] = parser.parse_narrations(parser.load_parser(), [words])
    return video_acts(Video("v", duration=duration), passages).mentions[-1].work


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


def test_a_sign_moves_the_odds() -> None:
    assert probabilities([{"doing"}, {"talking"}, set()], [0, 50, 99], FLAT) == pytest.approx(
        [0.8808, 0.1192, 0.5], abs=1e-4
    )


def test_signs_that_were_never_weighed_say_nothing() -> None:
    assert probabilities([{"verb=frobnicate"}], [0.0], FLAT) == [0.5]


def test_nothing_said_nothing_weighed() -> None:
    assert probabilities([], []) == []


def test_neighbours_pull_along() -> None:
    pulled = replace(FLAT, pull=1.0)
    near = probabilities([{"doing"}, set(), {"doing"}], [0, 1, 2], pulled)[1]
    far = probabilities([{"doing"}, set(), {"doing"}], [0, 1000, 2000], pulled)[1]
    assert near > 0.6
    assert far == pytest.approx(0.5)


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(0, 60)), min_size=1, max_size=12))
def test_neighbours_are_the_weighted_mean_of_the_others(acts: list[tuple[float, float]]) -> None:
    starts = np.sort([start for _, start in acts])
    odds = np.array([value for value, _ in acts])
    found = neighbours(odds, starts, 8.0)
    for n in range(len(acts)):
        near = np.exp(-np.abs(starts - starts[n]) / 8.0)
        near[n] = 0
        naive = (near @ np.clip(odds, -3, 3)) / (near.sum() + 0.5)
        assert found[n] == pytest.approx(naive)


def test_the_edges_of_a_video_are_told() -> None:
    assert set(place_signs(1.0, 2.0, 300.0)) == {"at=0", "opening", "greeting"}
    assert set(place_signs(150.0, 151.0, 300.0)) == {"at=5"}
    assert set(place_signs(298.0, 299.0, 300.0)) == {"at=9", "ending", "goodbye"}
    assert set(place_signs(0.0, 0.0, 0.0)) == {"at=0", "opening", "greeting", "goodbye"}


def test_what_ships_is_small_and_whole() -> None:
    weights = shipped()
    assert 1000 < len(weights.signs) < 20_000
    assert all(abs(weight) < 10 for weight in weights.signs.values())
