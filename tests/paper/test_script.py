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
    MIN_VIDEOS,
    STEP_COUNTS,
    SUBSAMPLES,
    USUAL_STEPS,
    ScriptOptions,
    best_step_count,
    choose_step_count,
    common_steps,
    discover,
    with_stability,
)
from howsteps.task import Mention, Relation, Script, Sentence, Step, Task, Video, Word
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


def test_a_support_above_thirty_is_allowed() -> None:
    # The authors' program only tries thresholds up to 30.
    assert script.keep([80, 40, 40, 3], 1) == [0]


@given(st.lists(st.integers(0, 6)), st.integers(1, 8))
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


def test_the_steps_come_in_order_with_their_support() -> None:
    script = discover(spoken.task(*WASH), steps=5, match=same_words)
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


def test_a_relation_of_one_video_is_not_a_step() -> None:
    script = discover(spoken.task(*WASH), steps=50, match=same_words)
    assert "feed the dog" not in labels(script)


def test_ties_are_never_split() -> None:
    script = discover(spoken.task(*["fill tub; dry cat"] * 3), steps=1, match=same_words)
    assert script.steps == ()


def test_one_narration_is_its_own_script() -> None:
    script = discover(spoken.task("fill tub; dry cat"), match=same_words)
    assert labels(script) == ["fill the tub", "dry the cat"]


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


def narrations(generator: np.random.Generator, videos: int, steps: int) -> list[list[int]]:
    """Relations of videos that name most steps in order, with noise in between."""
    rows = []
    for _ in range(videos):
        said = [step for step in range(steps) if generator.random() < 0.85]
        for _ in range(3):
            said.insert(int(generator.integers(len(said) + 1)), int(generator.integers(20, 60)))
        rows.append(said)
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("steps", [5, 9, 13])
def test_the_number_of_steps_is_what_two_halves_agree_on(steps: int, seed: int) -> None:
    rows = narrations(np.random.default_rng(seed), 24, steps)
    assert abs(choose_step_count(rows, np.eye(60, dtype=bool), seed=seed) - steps) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_without_agreement_of_the_halves_k_is_the_usual_number(seed: int) -> None:
    rows = np.random.default_rng(seed).integers(60, size=(20, 10)).tolist()
    assert choose_step_count(rows, np.eye(60, dtype=bool), seed=seed) == USUAL_STEPS


def test_k_is_that_of_the_highest_gain_or_the_usual_number() -> None:
    noise = np.random.default_rng(0).normal(0, 0.5, size=(24, len(STEP_COUNTS)))
    steps = np.array(STEP_COUNTS)
    assert best_step_count(noise - 1) == USUAL_STEPS  # no gain
    assert best_step_count(noise + 3) == USUAL_STEPS  # all the same
    assert abs(best_step_count(noise + 3 - abs(steps - 6)) - 6) <= 1
    assert abs(best_step_count(noise + 3 - abs(steps - 14)) - 14) <= 1


LONG = "; ".join(f"move part{n}" for n in range(14))
LONGER = "; ".join(f"move part{n}" for n in range(20))


@pytest.mark.parametrize("videos", [1, 2, 3, 9])
@pytest.mark.parametrize(("said", "steps"), [(LONG, 14), (LONGER, 20)])
def test_a_chosen_k_never_empties_the_script(said: str, steps: int, videos: int) -> None:
    found = discover(spoken.task(*[said] * videos), match=same_words).steps
    assert [step.label for step in found] == [f"move the part{n}" for n in range(steps)]


def test_few_narrations_show_their_best_support_levels() -> None:
    most = "; ".join(f"move part{n}" for n in range(10))
    task = spoken.task(LONG, LONG, most)  # 10 slots of support 3, 4 of support 2
    assert len(discover(task, match=same_words).steps) == 14
    task = spoken.task(LONGER, LONGER, most)  # 10 of support 3, 10 of support 2: too many
    assert len(discover(task, match=same_words).steps) == 10


def test_common_steps_are_those_that_match_in_order() -> None:
    match = np.eye(4, dtype=bool)
    assert common_steps([0, 1, 2], [0, 1, 2], match) == 3
    assert common_steps([0, 1], [1, 0], match) == 1
    assert common_steps([], [1], match) == 0


def said(video: str, noun: str, at: float) -> Mention:
    return Mention(video, "fill", noun, f"fill the {noun}", at, at + 1)


VIDEOS = tuple(
    Video(f"v{n}", mentions=(said(f"v{n}", "tub", 1.0), said(f"v{n}", "cup", 5.0)))
    for n in range(8)
)
TASK = Task("bath", VIDEOS)


def step(task: Task, noun: str) -> Step:
    return Step(noun, tuple(m for v in task.videos for m in v.mentions if m.noun == noun))


def test_a_step_that_every_subsample_recovers_is_stable() -> None:
    script = Script((step(TASK, "tub"), step(TASK, "cup")))
    sure = with_stability(script, TASK, lambda subsample: Script((step(subsample, "tub"),)))
    assert [each.stability for each in sure.steps] == [1.0, 0.0]
    assert [each.label for each in sure.steps] == ["tub", "cup"]


def test_subsamples_are_three_quarters_of_the_videos() -> None:
    sizes = []

    def again(subsample: Task) -> Script:
        sizes.append(len(subsample.videos))
        return Script(())

    with_stability(Script((step(TASK, "tub"),)), TASK, again)
    assert sizes == [6] * SUBSAMPLES


def test_a_step_merged_with_another_is_recovered_if_it_is_half_of_it() -> None:
    def joined(subsample: Task) -> Script:
        return Script((Step("all", tuple(m for v in subsample.videos for m in v.mentions)),))

    script = Script((step(TASK, "tub"),))
    assert with_stability(script, TASK, joined).steps[0].stability == 1.0
    small = Script((Step("tub", step(TASK, "tub").mentions[:2]),))
    assert with_stability(small, TASK, joined).steps[0].stability == 0.0


def test_a_step_that_a_subsample_splits_is_recovered() -> None:
    def split(subsample: Task) -> Script:
        mentions = step(subsample, "tub").mentions
        return Script((Step("some", mentions[:3]), Step("others", mentions[3:])))

    script = Script((step(TASK, "tub"), step(TASK, "cup")))
    assert [s.stability for s in with_stability(script, TASK, split).steps] == [1.0, 0.0]


def test_unnamed_steps_and_few_videos_have_no_stability() -> None:
    assert (
        with_stability(Script((Step("x", ()),)), TASK, lambda _: Script(())).steps[0].stability
        is None
    )
    few = Task("bath", VIDEOS[: MIN_VIDEOS - 1])
    script = Script((step(few, "tub"),))
    assert with_stability(script, few, lambda subsample: Script(())) == script
