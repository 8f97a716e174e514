"""The tie rule, the vocabulary, keep-last and "broad", compared with the authors' program."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.datasets import authors
from howsteps.script import selection

FOLDER = Path(__file__).parents[1] / "golden"
GOLDEN = json.loads((FOLDER / "golden.json").read_text())
WORDS = GOLDEN["narration"]
RELEASE = authors.read_release(FOLDER / "data", "small")
INDEX = {relation: i for i, relation in enumerate(RELEASE.relations)}
ROWS = [[INDEX[mention.relation] for mention in v.mentions] for v in RELEASE.task.videos]


@pytest.mark.parametrize("case", GOLDEN["tie_rule"], ids=str)
def test_the_tie_rule(case: dict[str, Any]) -> None:
    kept = selection.keep(case["support"], case["K"])
    assert selection.threshold(case["support"], case["K"]) == case["threshold"]
    assert kept == np.flatnonzero(case["kept"]).tolist()


def test_a_support_above_thirty_is_allowed() -> None:
    # The authors' program only tries thresholds up to 30.
    assert selection.keep([80, 40, 40, 3], 1) == [0]


@given(st.lists(st.integers(0, 6)), st.integers(1, 8))
def test_the_threshold_is_the_smallest_that_leaves_enough_out(support: list, steps: int) -> None:
    def left(least: int) -> int:
        return sum(count >= least for count in support)

    least = selection.threshold(support, steps)
    assert left(least) <= steps
    assert least == 1 or left(least - 1) > steps


def test_the_vocabulary_and_the_last_occurrences() -> None:
    kept = selection.most_frequent(ROWS, WORDS["maxWord"])
    for row, words, last in zip(ROWS, WORDS["word_1based"], WORDS["keep"], strict=True):
        used = [word for word in row if word in kept]
        assert [word + 1 for word in used] == words
        assert selection.last_occurrences(used) == np.flatnonzero(last).tolist()


@pytest.mark.parametrize("case", GOLDEN["selection"], ids=lambda case: case["name"])
def test_steps_from_slots(case: dict[str, Any]) -> None:
    grid = np.array(case["cG"])
    slots = [np.flatnonzero(row).tolist() for row in grid]
    supports = selection.support(slots)
    assert supports.tolist() == case["support"]
    kept = selection.keep(supports, case["K"])
    assert [slot + 1 for slot in kept] == case["kept_slots_1based"]
    step_of = []
    for row, slots_of_row in zip(ROWS, slots, strict=True):
        steps = [-1] * len(row)
        for i, slot in zip(selection.last_occurrences(row), slots_of_row, strict=True):
            steps[i] = kept.index(slot) if slot in kept else -1
        step_of.append(steps)
    if case["broad"]:
        step_of = selection.broaden(ROWS, step_of, RELEASE.similarity, len(kept))
    for steps, golden in zip(step_of, case["R"], strict=True):
        expected = [row.index(1) if 1 in row else -1 for row in golden]
        assert steps == (expected or [-1] * len(steps))
