"""Only the form of an answer is strict."""

import json

import pytest

from howsteps.reader import Answer, AnswerError, parse_answer
from howsteps.reader.dialogue import SCHEMA, AnsweredStep
from tests.reader.jobs import QUESTION, answer

STEPS = answer()["steps"]
assert isinstance(STEPS, list)


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
    found = parse_answer(around.format(json.dumps(answer())), QUESTION.key)
    assert [step.acts for step in found.steps] == [("a1",), ("a2",), ("a3", "a4"), ("a5",)]
    assert [step.optional for step in found.steps] == [False, True, False, False]


REFUSED = {
    "another question": (answer(question="0123"), "this one is"),
    "no question": ({"steps": STEPS}, "has no 'question'"),
    "acts as numbers": (answer({"acts": [1]}), "expected str"),
    "a step without a name": (answer(steps=[{"acts": ["a1"]}] * 3), "has no 'name'"),
    "two steps": (answer(steps=STEPS[:2]), "length >= 3"),
    "too many steps": (answer(steps=STEPS * 6), "length <= 20"),
    "steps that are not a list": (answer(steps="all"), "expected array"),
    "optional in words": (answer({"optional": "yes"}), "expected bool"),
    "true as a step": (answer(any_order=[[True, 2]]), "expected int"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_answer_that_is_not_in_form_is_refused_with_the_reason(case: str) -> None:
    value, reason = REFUSED[case]
    with pytest.raises(AnswerError, match=reason):
        parse_answer(json.dumps(value), QUESTION.key)


@pytest.mark.parametrize(
    "text", ["", "I cannot help with that.", '{"steps": [', "{" * 100_000, "[" * 100_000, "null"]
)
def test_incomplete_and_missing_json_is_refused(text: str) -> None:
    with pytest.raises(AnswerError, match="no complete JSON object"):
        parse_answer(text, QUESTION.key)


def test_an_endless_answer_is_refused() -> None:
    with pytest.raises(AnswerError, match="longer than"):
        parse_answer(" " * 1_000_001, QUESTION.key)


def test_the_schema_describes_what_is_parsed() -> None:
    step = SCHEMA["properties"]["steps"]["items"]
    assert tuple(SCHEMA["properties"]) == Answer.__struct_fields__
    assert tuple(step["properties"]) == AnsweredStep.__struct_fields__
