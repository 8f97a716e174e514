"""Which clusters become steps, and how many."""

import numpy as np
import pytest

from howsteps.script.act_table import Act, ActTable
from howsteps.script.step_selection import FEWEST, MOST, SHARE, USUAL, select


def told(videos: list[int], narrators: int) -> ActTable:
    """Acts that so many of the narrators say, each once."""
    acts = tuple(Act(f"verb{n}", "", f"noun{n}") for n in range(len(videos)))
    said = [(act, video) for act, many in enumerate(videos) for video in range(many)]
    act, video = (np.array(column, dtype=np.int64) for column in zip(*said, strict=True))
    time = act.astype(np.float64)
    return ActTable(acts, act, video, time, time / 100, np.full(narrators, 100.0))


def chosen(
    worth: list[float], videos: list[int], narrators: int = 40, most: int | None = None
) -> list[int]:
    clusters = [[act] for act in range(len(worth))]
    table = told(videos, narrators)
    return select(table, clusters, np.eye(len(worth)), np.array(worth), most)


def test_the_longer_the_script_the_more_a_step_must_be_worth() -> None:
    videos = [40] + [5] * 22
    assert len(chosen([1.0] * 3 + [SHARE * 1.01] * 20, videos)) == USUAL
    assert len(chosen([1.0] * 23, videos)) == MOST
    assert len(chosen([1.0] * 3 + [0.01] * 20, videos)) == FEWEST


@pytest.mark.parametrize(("many", "taken"), [(21, True), (20, False)])
def test_what_most_narrators_say_is_never_left_out(many: int, taken: bool) -> None:
    worth = [1.0] * FEWEST + [0.001]
    assert (FEWEST in chosen(worth, [40] * FEWEST + [many])) == taken


def test_a_number_of_steps_that_is_asked_for_is_given() -> None:
    worth = [1.0] * 3 + [0.01] * 20
    assert len(chosen(worth, [5] * 23, most=12)) == 12
    assert len(chosen([1.0] * 30, [5] * 30, most=20)) == 20


def test_what_one_narrator_says_is_no_step() -> None:
    assert chosen([1.0, 2.0], [2, 1]) == [0]
    assert chosen([1.0, 2.0], [1, 1], narrators=1) == [1, 0]


def test_a_cluster_like_a_step_that_is_taken_is_worth_less() -> None:
    similarity = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    clusters = [[0], [1], [2]]
    worth = np.array([3.0, 2.0, 1.0])
    assert select(told([5] * 3, 9), clusters, similarity, worth, most=2) == [0, 2]
