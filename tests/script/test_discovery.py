"""From mentions to a script: labels, support, modes, the number of steps, bad input."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from howsteps.errors import HowstepsError
from howsteps.script import AlignmentSolver, ScriptOptions, discover
from howsteps.script.baselines import frequent, text_free
from howsteps.script.discovery import OPTIONS
from howsteps.script.step_count import (
    STEP_COUNTS,
    USUAL_STEPS,
    best_step_count,
    choose_step_count,
    common_steps,
)
from howsteps.script.stop_relations import talk_detector
from howsteps.task import Relation, Script, Sentence, Task, Word
from tests.script import spoken

WASH = (
    "fill tub; catch cat; rub in soap; rinse cat; dry cat",
    "fill tub; catch cat; rub in soap; dry off cat",
    "catch cat; fill tub; rub in soap; rinse cat; dry off cat",
    "fill tub; rub in soap; rinse cat; dry off cat; feed dog",
)


aligned = partial(discover, mode="paper")


def same_words(relations: Sequence[Relation]) -> np.ndarray:
    return np.eye(len(relations), dtype=bool)


def labels(script: Script) -> list[str]:
    return [step.label for step in script.steps]


def test_the_steps_come_in_order_with_their_support() -> None:
    script = aligned(spoken.task(*WASH), steps=5, match=same_words)
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
    [step] = aligned(task, steps=3, match=synonyms).steps
    assert step.label == "jack up the car"
    assert step.relations[0] == (Relation("jack", "car"), 3)
    assert {relation.verb for relation, _ in step.relations} == {"jack", "lift", "raise"}
    assert step.support == 5


def test_examples_are_sentences_of_different_videos() -> None:
    script = aligned(spoken.task(*WASH), steps=5, match=same_words)
    for step in script.steps:
        assert 1 <= len(step.examples) <= 3
        assert len(set(step.examples)) == len(step.examples)
        assert step.relations[0][0].noun in step.examples[0]


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
    [step] = aligned(replace(task, videos=videos), steps=1, match=same_words).steps
    assert step.examples == (said[2], said[1], said[0])


def test_a_relation_of_one_video_is_not_a_step() -> None:
    script = aligned(spoken.task(*WASH), steps=50, match=same_words)
    assert "feed the dog" not in labels(script)


def test_ties_are_never_split() -> None:
    script = aligned(spoken.task(*["fill tub; dry cat"] * 3), steps=1, match=same_words)
    assert script.steps == ()


def test_one_narration_is_its_own_script() -> None:
    script = aligned(spoken.task("fill tub; dry cat"), match=same_words)
    assert labels(script) == ["fill the tub", "dry the cat"]


@pytest.mark.parametrize("steps", [5, None])
def test_silent_videos_do_no_harm(steps: int | None) -> None:
    with_silence = aligned(spoken.task(*WASH, "", ""), steps=steps, match=same_words)
    assert with_silence.steps == aligned(spoken.task(*WASH), steps=steps, match=same_words).steps
    assert len(with_silence.steps) >= 4


def test_no_mention_at_all() -> None:
    for task in (spoken.task("", ""), Task("nothing", ())):
        with pytest.raises(HowstepsError, match="no video has a mention"):
            aligned(task, match=same_words)


def test_nothing_is_left_when_all_is_talk() -> None:
    script = discover(spoken.task("see video", "see video"), mode="default", match=same_words)
    assert script.steps == ()


@pytest.mark.parametrize("steps", [0, -3])
def test_a_script_has_a_step(steps: int) -> None:
    with pytest.raises(HowstepsError, match="at least one step"):
        aligned(spoken.task(*WASH), steps=steps, match=same_words)


def test_an_unknown_mode() -> None:
    with pytest.raises(HowstepsError, match="unknown mode 'best'"):
        discover(spoken.task(*WASH), mode="best", match=same_words)


def test_the_options_of_the_modes() -> None:
    assert OPTIONS["paper"] == ScriptOptions()
    assert OPTIONS["authors"] == ScriptOptions(
        vocabulary=45,
        keep_last=True,
        broad=True,
        solver=AlignmentSolver("frank-wolfe", slots=120, iterations=200, starts=1, rounding="best"),
    )
    assert not OPTIONS["default"].chatter
    assert OPTIONS["default"].model == "events"
    assert OPTIONS["paper"].solver == AlignmentSolver("search")


def test_the_solver_of_the_paper_is_an_option_in_any_mode() -> None:
    paper = AlignmentSolver("frank-wolfe", starts=3, rounding="last-corner")
    script = discover(
        spoken.task(*WASH), steps=5, match=same_words, options=ScriptOptions(solver=paper)
    )
    best = aligned(spoken.task(*WASH), steps=5, match=same_words)
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


def test_default_leaves_out_negated_mentions() -> None:
    task = spoken.task("not dry cat; fill tub", "not dry cat; fill tub")
    assert labels(discover(task, steps=5, mode="default", match=same_words)) == ["fill the tub"]
    assert len(discover(task, steps=5, mode="paper", match=same_words).steps) == 2


def test_talk_is_light_verbs_vague_nouns_and_the_title() -> None:
    said = spoken.task("change tire; want jack; let out air; like video; change oil; loosen nut")
    is_talk = talk_detector("change_a_tire")
    work = [str(m.relation) for m in said.videos[0].mentions if not is_talk(m)]
    assert work == ["let air", "change oil", "loosen nut"]


def test_wordnet_is_the_default_match() -> None:
    script = aligned(spoken.task("raise car", "lift car", "lift car"), steps=1)
    assert script.steps[0].support == 3


def test_authors_mode_runs_their_solver() -> None:
    script = discover(spoken.task(*WASH), steps=5, mode="authors", match=same_words)
    assert script.objective >= script.bound
    assert script.steps


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


def test_the_number_of_steps_is_the_same_for_a_seed() -> None:
    rows, match = narrations(np.random.default_rng(5), 12, 7), np.eye(60, dtype=bool)
    assert choose_step_count(rows, match, seed=1) == choose_step_count(rows, match, seed=1)


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
    found = aligned(spoken.task(*[said] * videos), match=same_words).steps
    assert [step.label for step in found] == [f"move the part{n}" for n in range(steps)]


def test_few_narrations_show_their_best_support_levels() -> None:
    most = "; ".join(f"move part{n}" for n in range(10))
    task = spoken.task(LONG, LONG, most)  # 10 slots of support 3, 4 of support 2
    assert len(aligned(task, match=same_words).steps) == 14
    task = spoken.task(LONGER, LONGER, most)  # 10 of support 3, 10 of support 2: too many
    assert len(aligned(task, match=same_words).steps) == 10


def test_without_shared_relations_the_script_is_empty() -> None:
    assert aligned(spoken.task("fill tub", "dry cat"), match=same_words).steps == ()


def test_common_steps_are_those_that_match_in_order() -> None:
    match = np.eye(4, dtype=bool)
    assert common_steps([0, 1, 2], [0, 1, 2], match) == 3
    assert common_steps([0, 1], [1, 0], match) == 1
    assert common_steps([], [1], match) == 0


def test_the_frequency_baseline_sorts_by_median_time() -> None:
    script = frequent(spoken.task(*WASH), 3)
    assert labels(script) == ["fill tub", "rub soap", "dry cat"]


def test_the_text_free_baseline_puts_one_time_in_every_part() -> None:
    task = spoken.task(*WASH)
    null = text_free(task, 4, seed=1)
    assert len(null) == 4 * len(task.videos)
    for found in null:
        length = next(video for video in task.videos if video.id == found.video).length
        assert found.time is not None
        assert found.step <= found.time / length * 4 <= found.step + 1
    assert null == text_free(task, 4, seed=1)
