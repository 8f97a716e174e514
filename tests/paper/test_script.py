"""The script by alignment: compared with the authors' program, and its parts."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.datasets import authors
from howsteps.errors import HowstepsError
from howsteps.paper import script
from howsteps.paper.alignment import FrankWolfe
from howsteps.paper.script import (
    ScriptOptions,
    discover,
)
from howsteps.task import Relation, Script, Sentence, Task, Word
from tests.script import spoken

FOLDER = Path(__file__).parents[1] / "golden"
GOLDEN = json.loads((FOLDER / "golden.json").read_text())
WORDS = GOLDEN["narration"]
RELEASE = authors.read_release(FOLDER / "data", "small")
INDEX = {relation: i for i, relation in enumerate(RELEASE.relations)}
ROWS = [[INDEX[mention.relation] for mention in v.mentions] for v in RELEASE.task.videos]


@pytest.mark.parametrize("case", GOLDEN["tie_rule"], ids=str)
def test_the_tie_rule(case: dict[str, Any]) -> None:
    kept = script.keep(case["support"], case["K"])
    assert script.threshold(case["support"], case["K"]) == case["threshold"]
    assert kept == np.flatnonzero(case["kept"]).tolist()


# The authors' program only tries thresholds up to 30.
@given(st.lists(st.integers(0, 6) | st.integers(30, 80)), st.integers(1, 8))
def test_the_threshold_is_the_smallest_that_leaves_enough_out(support: list, steps: int) -> None:
    def left(least: int) -> int:
        return sum(count >= least for count in support)

    least = script.threshold(support, steps)
    assert left(least) <= steps
    assert least == 1 or left(least - 1) > steps


def test_the_vocabulary_and_the_last_occurrences() -> None:
    options = script.ScriptOptions(vocabulary=WORDS["maxWord"])
    frequent = script.aligned_indices(ROWS, options)
    used = [[row[i] for i in kept] for row, kept in zip(ROWS, frequent, strict=True)]
    assert [[word + 1 for word in row] for row in used] == WORDS["word_1based"]
    last = script.aligned_indices(used, script.ScriptOptions(keep_last=True))
    assert last == [np.flatnonzero(row).tolist() for row in WORDS["keep"]]
    assert script.aligned_indices(ROWS, replace(options, keep_last=True)) == [
        [kept[i] for i in rows] for kept, rows in zip(frequent, last, strict=True)
    ]


@pytest.mark.parametrize("case", GOLDEN["selection"], ids=lambda case: case["name"])
def test_steps_from_slots(case: dict[str, Any]) -> None:
    grid = np.array(case["cG"])
    slots = [np.flatnonzero(row).tolist() for row in grid]
    supports = np.bincount([slot for row in slots for slot in row])
    assert supports.tolist() == case["support"]
    kept = script.keep(supports, case["K"])
    assert [slot + 1 for slot in kept] == case["kept_slots_1based"]
    step_of = []
    last = script.aligned_indices(ROWS, script.ScriptOptions(keep_last=True))
    for row, kept_last, slots_of_row in zip(ROWS, last, slots, strict=True):
        steps = [-1] * len(row)
        for i, slot in zip(kept_last, slots_of_row, strict=True):
            steps[i] = kept.index(slot) if slot in kept else -1
        step_of.append(steps)
    if case["broad"]:
        step_of = script.broaden(ROWS, step_of, RELEASE.similarity, len(kept))
    for steps, golden in zip(step_of, case["R"], strict=True):
        expected = [row.index(1) if 1 in row else -1 for row in golden]
        assert steps == (expected or [-1] * len(steps))


WASH = (
    "fill tub; catch cat; rub in soap; rinse cat; dry cat",
    "fill tub; catch cat; rub in soap; dry off cat",
    "catch cat; fill tub; rub in soap; rinse cat; dry off cat",
    "fill tub; rub in soap; rinse cat; dry off cat; feed dog",
)


def same_words(relations: Sequence[Relation]) -> np.ndarray:
    return np.eye(len(relations), dtype=bool)


def labels(script: Script) -> list[str]:
    return [step.label for step in script.steps]


@pytest.mark.parametrize("steps", [5, 50])  # a relation of one video is never a step
def test_the_steps_come_in_order_with_their_support(steps: int) -> None:
    script = discover(spoken.task(*WASH), steps=steps, match=same_words)
    assert [(step.label, step.support) for step in script.steps] == [
        ("fill the tub", 4),
        ("catch the cat", 2),  # the third video catches the cat first
        ("rub in the soap", 4),
        ("rinse the cat", 3),
        ("dry off the cat", 4),
    ]
    assert script.objective >= script.bound
    assert script.objective_per_token < -2


def test_a_step_is_named_by_its_most_common_phrase_and_lists_all_its_relations() -> None:
    def synonyms(relations: Sequence[Relation]) -> np.ndarray:
        return np.array([[a.noun == b.noun for a in relations] for b in relations])

    task = spoken.task("lift up car", "jack up car", "jack up car", "jack car", "raise car")
    [step] = discover(task, steps=3, match=synonyms).steps
    assert step.label == "jack up the car"
    assert step.relations[0] == (Relation("jack", "car"), 3)
    assert {relation.verb for relation, _ in step.relations} == {"jack", "lift", "raise"}
    assert step.support == 5


def test_examples_that_name_the_object_come_first() -> None:
    task = spoken.task(*["dry cat"] * 3)
    said = (
        "dry it",
        "the cat is dried",
        "now at the very end you dry the cat with a soft old towel",
    )
    videos = tuple(
        replace(
            video,
            sentences=(Sentence(tuple(Word(word, 0.0, 2.0) for word in text.split())),),
            mentions=(replace(video.mentions[0], resolved=n == 0, passive=n == 1),),
        )
        for n, (video, text) in enumerate(zip(task.videos, said, strict=True))
    )
    [step] = discover(replace(task, videos=videos), steps=1, match=same_words).steps
    assert step.examples == (said[2], said[1], said[0])


def test_ties_are_never_split() -> None:
    script = discover(spoken.task(*["fill tub; dry cat"] * 3), steps=1, match=same_words)
    assert script.steps == ()


@pytest.mark.parametrize("steps", [5, None])
def test_silent_videos_do_no_harm(steps: int | None) -> None:
    with_silence = discover(spoken.task(*WASH, "", ""), steps=steps, match=same_words)
    assert with_silence.steps == discover(spoken.task(*WASH), steps=steps, match=same_words).steps
    assert len(with_silence.steps) >= 4


def test_no_mention_at_all() -> None:
    for task in (spoken.task("", ""), Task("nothing", ())):
        with pytest.raises(HowstepsError, match="no video has a mention"):
            discover(task, match=same_words)


@pytest.mark.parametrize("steps", [0, -3])
def test_a_script_has_a_step(steps: int) -> None:
    with pytest.raises(HowstepsError, match="at least one step"):
        discover(spoken.task(*WASH), steps=steps, match=same_words)


def test_an_unknown_mode() -> None:
    with pytest.raises(HowstepsError, match="unknown mode 'best'"):
        discover(spoken.task(*WASH), mode="best", match=same_words)


def test_the_solver_of_the_paper_is_an_option_in_any_mode() -> None:
    paper = FrankWolfe(rounding="last-corner")
    script = discover(
        spoken.task(*WASH), steps=5, match=same_words, options=ScriptOptions(solver=paper)
    )
    best = discover(spoken.task(*WASH), steps=5, match=same_words)
    assert script.objective >= best.objective


def test_a_vocabulary_leaves_rare_relations_out() -> None:
    script = discover(
        spoken.task(*WASH), steps=9, match=same_words, options=ScriptOptions(vocabulary=2)
    )
    assert labels(script) == ["fill the tub", "dry off the cat"]


def test_keep_last_aligns_the_recap_and_broad_lets_the_rest_join() -> None:
    task = spoken.task("dry cat; fill tub; dry cat", "fill tub; dry cat")
    last = discover(task, steps=2, match=same_words, options=ScriptOptions(keep_last=True))
    assert [len(step.mentions) for step in last.steps] == [2, 2]
    broad = discover(
        task, steps=2, match=same_words, options=ScriptOptions(keep_last=True, broad=True)
    )
    assert [len(step.mentions) for step in broad.steps] == [2, 3]
    assert [step.support for step in broad.steps] == [2, 2]


def test_wordnet_is_the_default_match() -> None:
    script = discover(spoken.task("raise car", "lift car", "lift car"), steps=1)
    assert script.steps[0].support == 3


LONG = "; ".join(f"move part{n}" for n in range(14))
LONGER = "; ".join(f"move part{n}" for n in range(20))


@pytest.mark.parametrize("videos", [1, 2, 3, 9])
@pytest.mark.parametrize(("said", "steps"), [(LONG, 14), (LONGER, 20)])
def test_ten_steps_are_more_if_more_tie_and_never_none(said: str, steps: int, videos: int) -> None:
    found = discover(spoken.task(*[said] * videos), match=same_words).steps
    assert [step.label for step in found] == [f"move the part{n}" for n in range(steps)]


def test_nobody_asked_for_more_than_ten_steps() -> None:
    most = "; ".join(f"move part{n}" for n in range(10))
    task = spoken.task(LONGER, LONGER, most)  # 10 slots of support 3, 10 of support 2
    assert len(discover(task, match=same_words).steps) == 10
