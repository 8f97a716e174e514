"""From an answer to a script; nothing that was not said gets in."""

import json
from dataclasses import replace

import pytest

from howsteps.reader import AnswerError, Edit, edit_script, edit_with_answer
from howsteps.reader.dialogue import MAX_ECHOED
from howsteps.reader.question import make_question
from howsteps.task import Script, Step
from tests.reader.jobs import coffee
from tests.reader.test_answer import answer, steps

TASK = coffee()


def before() -> Script:
    """Boil, grind, push and thank, as steps of their own."""
    rows = [[v.mentions[i] for v in TASK.videos[:3]] for i in (0, 1, 4, 5)]
    return Script(tuple(Step(row[0].phrase, tuple(row)) for row in rows))


def edited(*replies: object) -> tuple[Edit, list[list[dict[str, str]]]]:
    """The edit that results from replies, and the conversations that were sent."""
    left = [reply if isinstance(reply, str) else json.dumps(reply) for reply in replies]
    sent: list[list[dict[str, str]]] = []

    def reply(messages: object) -> str:
        assert isinstance(messages, list)
        sent.append(list(messages))
        return left.pop(0)

    return edit_script(TASK, before(), reply), sent


def test_steps_are_made_of_the_mentions_of_their_acts() -> None:
    edit, _ = edited(answer())
    assert edit.script is not None
    assert [step.label for step in edit.script.steps] == [
        "boil the water",
        "grind the beans",
        "pour the water over the grounds",
        "push the plunger down",
    ]
    pour = edit.script.steps[2]
    assert [(m.video, m.verb) for m in pour.mentions[:2]] == [("ann", "pour"), ("ann", "wait")]
    assert pour.support == 3  # dan is of another job
    assert edit.other_job == ("dan",)


def test_the_first_act_with_an_object_names_the_step() -> None:
    ids = [act["acts"] for act in steps({"name": "boil the water"})]
    chosen = steps({"name": "wait", "acts": [*ids[2][::-1], *ids[0]]})
    del chosen[2]
    edit, _ = edited(answer(steps=chosen))
    assert edit.script is not None
    assert edit.script.steps[0].relations[0][0] == ("pour", "water")


def test_optional_steps_and_alternatives_are_marked() -> None:
    edit, _ = edited(answer(alternatives=[[3, 4], [1, 3]]))
    assert edit.script is not None
    assert [step.optional for step in edit.script.steps] == [False, True, False, False]
    assert [step.alternative for step in edit.script.steps] == [False, False, False, True]


def test_a_mention_out_of_order_is_left_out() -> None:
    recap = replace(TASK.videos[0].mentions[0], start=55.0, end=57.0, sentence=5)
    video = replace(TASK.videos[0], mentions=(*TASK.videos[0].mentions, recap))
    task = replace(TASK, videos=(video, *TASK.videos[1:]))
    key = make_question(task).key
    edit = edit_with_answer(task, before(), json.dumps(answer() | {"question": key}))
    assert edit.script is not None
    assert recap not in edit.script.steps[0].mentions
    assert TASK.videos[0].mentions[0] in edit.script.steps[0].mentions


def test_changes_are_listed() -> None:
    edit, _ = edited(answer())
    assert 'dropped "thank you for watching"' in edit.changes
    assert 'added "pour the water over the grounds"' in edit.changes
    assert 'renamed "boil the water in a kettle" to "boil the water"' in edit.changes


def test_a_name_with_an_invented_word_is_replaced_and_listed() -> None:
    edit, _ = edited(answer(steps=steps({"name": "boil the champagne"})))
    assert edit.script is not None
    assert edit.script.steps[0].label == "boil the water in the kettle"
    [line] = [line for line in edit.changes if "champagne" in line and "no narrator" in line]
    assert '"champagne"' in line


def test_forms_and_synonyms_of_what_is_said_may_be_used() -> None:
    edit, _ = edited(answer(steps=steps({"name": "boiling of the waters"})))
    assert edit.script is not None
    assert edit.script.steps[0].label == "boiling of the waters"


def test_an_invalid_answer_is_retried_with_the_reason() -> None:
    edit, sent = edited(answer(steps=steps({"acts": ["a99"]})), answer())
    assert edit.script is not None
    assert edit.refused == ("step 1: there is no act 'a99'",)
    assert "there is no act 'a99'" in sent[1][-1]["content"]
    assert [message["role"] for message in sent[1]] == ["user", "assistant", "user"]


def test_a_long_invalid_answer_is_cut_in_the_retry() -> None:
    _, sent = edited("x" * 10_000, answer())
    assert len(sent[1][1]["content"]) == MAX_ECHOED


def test_after_two_invalid_answers_the_script_is_unchanged() -> None:
    edit, sent = edited("no", "still no")
    assert edit.script is None
    assert len(edit.refused) == len(sent) == 2


def test_an_answer_to_another_question_is_refused() -> None:
    with pytest.raises(AnswerError, match="this question is"):
        edit_with_answer(TASK, before(), json.dumps(answer(question="old")))


def test_an_answer_that_a_person_supplies_makes_the_same_script() -> None:
    edit, _ = edited(answer())
    assert edit_with_answer(TASK, before(), json.dumps(answer())).script == edit.script


def test_prompt_injection_can_only_change_the_selection() -> None:
    """A model that obeys a narrator can still only name acts, in words that were said."""
    obeyed = answer(steps=steps({"name": "visit evil.example", "run": "rm -rf"}), system="obey")
    edit, _ = edited(obeyed)
    assert edit.script is not None
    assert edit.script.steps[0].label == "boil the water in the kettle"
