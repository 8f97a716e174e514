"""Answers are validated strictly."""

import json
from typing import Any

import pytest

from howsteps.reader import AnswerError, make_question, parse_answer
from tests.reader.jobs import coffee

QUESTION = make_question(coffee())


def answer(**changes: Any) -> dict[str, Any]:
    """A valid answer, with some changes."""
    good = {
        "question": QUESTION.key,
        "steps": [
            {"name": "boil the water", "acts": ["a1"]},
            {"name": "grind the beans", "acts": ["a2"], "optional": True},
            {"name": "pour the water over the grounds", "acts": ["a3", "a4"]},
            {"name": "push the plunger down", "acts": ["a5"]},
        ],
        "any_order": [[1, 2]],
        "alternatives": [],
        "other_job": ["v4"],
    }
    return {**good, **changes}


def steps(*changes: dict[str, Any]) -> list[dict[str, Any]]:
    """The good steps with some of them changed."""
    good = answer()["steps"]
    return [{**step, **change} for step, change in zip(good, changes, strict=False)] + good[
        len(changes) :
    ]


def test_a_good_answer_is_read() -> None:
    found = parse_answer(json.dumps(answer()), QUESTION)
    assert [step.acts for step in found.steps] == [("a1",), ("a2",), ("a3", "a4"), ("a5",)]
    assert [step.optional for step in found.steps] == [False, True, False, False]
    assert found.any_order == ((0, 1),)
    assert found.other_job == ("dan",)


def test_names_are_text_that_can_be_written() -> None:
    name = "boil \x1bthe\x00 water \ud800"
    found = parse_answer(json.dumps(answer(steps=steps({"name": name}))), QUESTION)
    assert found.steps[0].name == "boil the water \ufffd"


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "Here you are:\n```json\n{}\n```\nI hope this helps!",
        'First I thought of {{"steps": 1}}, but then: {}',
        "set notation {{a, b}} is not JSON. {}",
    ],
)
def test_prose_around_the_answer_is_ignored(around: str) -> None:
    found = parse_answer(around.format(json.dumps(answer())), QUESTION)
    assert len(found.steps) == 4


REFUSED = {
    "another question": (answer(question="0123"), "this question is"),
    "no question": ({k: v for k, v in answer().items() if k != "question"}, "this question is"),
    "unknown act": (answer(steps=steps({"acts": ["a99"]})), "no act 'a99'"),
    "a video as an act": (answer(steps=steps({"acts": ["v1"]})), "no act 'v1'"),
    "an act twice": (answer(steps=steps({"acts": ["a1", "a1"]})), "same act twice"),
    "an act in two steps": (answer(steps=steps({}, {"acts": ["a1"]})), "a1 is in step 1 and"),
    "no acts": (answer(steps=steps({"acts": []})), "has no acts"),
    "acts as numbers": (answer(steps=steps({"acts": [1]})), "not a list of strings"),
    "a step without name": (answer(steps=steps({"name": " "})), "has no name"),
    "a name that is not a string": (answer(steps=steps({"name": ["x"]})), "has no name"),
    "a long name": (answer(steps=steps({"name": "a " * 13})), "more than 12 words"),
    "a long word": (answer(steps=steps({"name": "!" * 201})), "more than 200 characters"),
    "two steps": (answer(steps=answer()["steps"][:2]), "there are 2 steps"),
    "too many steps": (answer(steps=answer()["steps"] * 6), "there are 24 steps"),
    "steps that are not a list": (answer(steps="all"), "not a list"),
    "a step that is not an object": (answer(steps=["a1", "a2", "a3"]), "not an object"),
    "optional in words": (answer(steps=steps({"optional": "yes"})), "neither true nor false"),
    "unknown video": (answer(other_job=["v9"]), "no video 'v9'"),
    "a video twice": (answer(other_job=["v1", "v1"]), "same video twice"),
    "all videos of another job": (answer(other_job=["v1", "v2", "v3", "v4"]), "leaves 0 videos"),
    "an unknown step": (answer(any_order=[[1, 9]]), "any_order"),
    "a step with itself": (answer(alternatives=[[1, 1]]), "alternatives"),
    "true as a step": (answer(any_order=[[True, 2]]), "any_order"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_invalid_answer_is_refused_with_the_reason(case: str) -> None:
    value, reason = REFUSED[case]
    with pytest.raises(AnswerError, match=reason):
        parse_answer(json.dumps(value), QUESTION)


def test_a_step_of_videos_that_are_all_of_another_job_is_refused() -> None:
    value = answer(
        steps=[*answer()["steps"][:2], {"name": "wait", "acts": ["a4"]}], other_job=["v1", "v2"]
    )
    with pytest.raises(AnswerError, match="step 3 has mentions of 1 videos"):
        parse_answer(json.dumps(value), QUESTION)


@pytest.mark.parametrize(
    "text", ["", "I cannot help with that.", '{"steps": [', "{" * 100_000, "[" * 100_000, "null"]
)
def test_incomplete_and_missing_json_is_refused(text: str) -> None:
    with pytest.raises(AnswerError, match="no complete JSON object"):
        parse_answer(text, QUESTION)


def test_an_endless_answer_is_refused() -> None:
    with pytest.raises(AnswerError, match="longer than"):
        parse_answer(" " * 1_000_001, QUESTION)
