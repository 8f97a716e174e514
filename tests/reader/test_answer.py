"""From an answer to a script: only the form is strict, and every mention is a narrator's."""

import json
from dataclasses import replace
from pathlib import Path
from time import process_time

import pytest

from howsteps.reader import (
    AnswerError,
    AnswerFolder,
    LanguageModelError,
    Unanswered,
    make_question,
)
from howsteps.reader.answer import (
    SCHEMA,
    Answer,
    AnsweredStep,
    as_read,
    parse_answer,
    without_unsaid,
)
from howsteps.reader.exchange import MAX_REPLY
from howsteps.reader.names import named_by_label, plain_name
from howsteps.task import Mention, Reading, Script, Step
from tests.reader.jobs import TASK, answer, found, labels, made, narrator

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
    parsed, _ = parse_answer(around.format(json.dumps(answer())))
    assert [step.acts for step in parsed.steps] == [("a1",), ("a2",), ("a3", "a4"), ("a5",)]
    assert [step.optional for step in parsed.steps] == [False, True, False, False]


REFUSED = {
    "acts as numbers": (answer({"acts": [1]}), "expected str"),
    "a step without a name": (answer(steps=[{"acts": ["a1"]}] * 3), "has no 'name'"),
    "two steps": (answer(steps=STEPS[:2]), "length >= 3"),
    "too many steps": (answer(steps=STEPS * 6), "length <= 20"),
    "steps that are not a list": (answer(steps="all"), "expected array"),
    "optional in words": (answer({"optional": "yes"}), "expected bool"),
    "true as a step": (answer(any_order=[[True, 2]]), "expected int"),
    "half a character in a name": (answer({"\ud800": 1}), "surrogates not allowed"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_answer_that_is_not_in_form_is_refused_with_the_reason(case: str) -> None:
    value, reason = REFUSED[case]
    with pytest.raises(AnswerError, match=reason):
        parse_answer(json.dumps(value))


@pytest.mark.parametrize(
    "text", ["", "I cannot help with that.", '{"steps": [', "{" * 100_000, "[" * 100_000, "null"]
)
def test_incomplete_and_missing_json_is_refused(text: str) -> None:
    with pytest.raises(AnswerError, match="no complete JSON object"):
        parse_answer(text)


@pytest.mark.parametrize(
    "text",
    ['{"a":[' * 900 + "1," * 2**17, "{" * 2**20],  # read or counted to the end, a minute and more
    ids=["objects", "brackets"],
)
def test_objects_that_never_end_take_a_second(monkeypatch, text) -> None:
    monkeypatch.setattr("howsteps.reader.exchange.MAX_REPLY", 2**18)
    began = process_time()
    with pytest.raises(AnswerError, match="no complete JSON object"):
        parse_answer(text)
    assert process_time() - began < 5


def test_the_file_of_an_answer_has_a_size(tmp_path: Path) -> None:
    folder = AnswerFolder(tmp_path, ask=True)
    with pytest.raises(Unanswered):
        folder.reply([{"role": "user", "content": "What?"}])
    [question] = tmp_path.iterdir()
    with (tmp_path / f"{question.stem}.answer.json").open("wb") as file:
        file.truncate(MAX_REPLY + 1)
    with pytest.raises(LanguageModelError, match="too large"):
        folder.reply([{"role": "user", "content": "What?"}])


def test_the_schema_describes_what_is_parsed() -> None:
    step = SCHEMA["properties"]["steps"]["items"]
    assert tuple(SCHEMA["properties"]) == Answer.__struct_fields__
    assert tuple(step["properties"]) == AnsweredStep.__struct_fields__


def test_steps_are_made_of_the_mentions_of_their_acts() -> None:
    edit = made(answer())
    assert labels(edit)[2] == "pour the water over the grounds"
    pour = edit.script.steps[2]
    assert [(m.video, m.verb) for m in pour.mentions[:2]] == [("ann", "pour"), ("ann", "wait")]
    assert pour.relations[0][0] == ("pour", "water")
    assert [step.optional for step in edit.script.steps] == [False, True, False, False]


def test_the_relation_in_the_words_of_the_label_comes_first() -> None:
    said = [Mention(v, "put", "bowl", "", 0, 1) for v in "abc"]
    said += [Mention("d", "grease", "bowl", "", 0, 1)]
    assert named_by_label(Step("grease the bowl", tuple(said))).relations[0][0].verb == "grease"
    assert named_by_label(Step("begin", tuple(said))).relations[0][0].verb == "put"


def test_an_act_has_precedence_over_a_step_of_the_first_script() -> None:
    edit = made(answer({"acts": ["s1", "s2"]}, {"acts": ["a2"]}))
    assert [{m.verb for m in s.mentions} for s in edit.script.steps[:2]] == [{"boil"}, {"grind"}]


def test_alternatives_are_marked() -> None:
    edit = made(answer(alternatives=[[3, 4], [1, 3], [9, 2]]))
    assert [step.alternative for step in edit.script.steps] == [False, False, False, True]


def test_what_cannot_be_used_is_left_out_with_a_remark() -> None:
    edit = made(answer({"acts": ["a1", "a99", "v1"]}, {"acts": ["a1", "a2"]}))
    assert len(labels(edit)) == 4
    assert "there is no 'a99' for step 1" in edit.remarks
    assert "a1 is in step 1, so not in step 2" in edit.remarks


def test_a_mention_out_of_order_is_left_out() -> None:
    recap = replace(TASK.videos[0].mentions[0], start=55.0, end=57.0, sentence=5)
    video = replace(TASK.videos[0], mentions=(*TASK.videos[0].mentions, recap))
    task = replace(TASK, videos=(video, *TASK.videos[1:]))
    edit = made(answer(), make_question(task, found(task)))
    assert recap not in edit.script.steps[0].mentions
    assert TASK.videos[0].mentions[0] in edit.script.steps[0].mentions


def test_a_step_keeps_all_its_mentions_if_too_few_are_in_order() -> None:
    task = replace(TASK, videos=(*TASK.videos[:3], narrator("dan", (3, 0, 1, 2, 4, 5))))
    wait, *others = [{"name": "wait", "acts": ["a4"]}, *answer()["steps"]]  # type: ignore[misc]
    others[2] = {**others[2], "acts": ["a3"]}
    edit = made(answer(steps=[wait, *others]), make_question(task, found(task)))
    assert [m.video for m in edit.mentions[0]] == ["ann", "bob", "cleo", "dan"]


def test_only_a_step_without_acts_has_what_matches_its_words() -> None:
    words = ["push down the plunger"]
    value = answer({"acts": ["a1"], "look_for": words}, steps=[*STEPS[:3], {"name": "press"}])
    assert {m.verb for m in made(value).mentions[0]} == {"boil"}
    steps = [*STEPS[:3], {"name": "press", "look_for": words}]
    assert {m.verb for m in made(answer(steps=steps)).mentions[3]} == {"push"}


def test_changes_are_listed() -> None:
    edit = made(answer())
    assert 'dropped "thank you for watching"' in edit.changes
    assert 'added "pour the water over the grounds"' in edit.changes
    assert 'renamed "boil the water in a kettle" to "boil the water"' in edit.changes


def test_a_name_in_words_that_nobody_says_is_kept_and_marked() -> None:
    edit = made(answer({"name": "boil the champagne"}, {"name": "grinding of beans"}))
    assert labels(edit)[:2] == ["boil the champagne", "grinding of beans"]
    [line] = [line for line in edit.remarks if "words of the model" in line]
    assert '"champagne"' in line


def test_a_name_that_is_too_long_is_cut() -> None:
    assert plain_name("or " + "very " * 20 + "slowly") == "or" + " very" * 11


def test_a_proposed_step_stays_if_two_videos_say_it_by_mentions_or_readings() -> None:
    steps = answer()["steps"]
    assert isinstance(steps, list)
    del steps[3]
    push = {"name": "press", "look_for": ["push down the plunger"]}
    edit = made(answer(steps=[*steps, push, {"name": "add the sugar"}, {"name": "serve"}]))
    assert labels(edit)[3:] == ["press", "add the sugar", "serve"]
    assert edit.mentions[3][0].verb == "push"
    read = [Reading(v, k, 1, 2, 1, 1) for v, k in (("ann", 4), ("ann", 5), ("bob", 5), ("bob", 0))]
    script, readings = without_unsaid(edit.script.read(read), read)
    assert [(s.label, s.support) for s in script.steps[3:]] == [("press", 4), ("serve", 2)]
    assert script.steps[4].read_in == {"ann", "bob"}
    assert [(r.video, r.step) for r in readings] == [("ann", 4), ("bob", 4), ("bob", 0)]
    script = without_unsaid(replace(edit.script, changes=edit.changes), [])[0]
    assert '"add the sugar" is left out: fewer than 2 videos say it' in script.changes
    assert 'added "add the sugar"' not in script.changes
    either = replace(edit.script.steps[5], alternative=True)
    script = replace(edit.script, steps=(*edit.script.steps[:5], either)).read(read)
    assert not any(step.alternative for step in without_unsaid(script, read)[0].steps)


def test_in_a_video_that_was_read_the_mentions_are_where_the_steps_were_read() -> None:
    edit = made(answer())
    read = [Reading("ann", 0, 0, 5, 1, 1), Reading("bob", 3, 9, 14, 2, 2)]
    read += [Reading("ann", 2, 39, 46, 5, 5), Reading("ann", 3, 29, 60, 4, 6)]
    script = as_read(edit.script, TASK, read, {"ann", "bob"})
    said = [{m.video: m.verb for m in step.mentions} for step in script.steps]
    others = {"cleo": "boil", "dan": "boil"}
    assert said[0] == {"ann": "boil", **others}  # what bob said before was a preview
    assert said[1] == dict.fromkeys(others, "grind")
    assert said[2] == {"cleo": "wait", "dan": "pour"}  # "push" in ann's reading is of the next
    assert said[3] == {"ann": "push", "cleo": "push", "dan": "push"}  # bob's words are others
    assert [step.support for step in script.steps] == [3, 2, 3, 4]
    heated = edit.script.steps[0], replace(edit.script.steps[1], mentions=())
    there = [Reading("bob", 1, 9, 14, 2, 2)]
    script = as_read(Script(heated), TASK, there, {"bob"})
    assert script.steps[1].mentions == (TASK.videos[1].mentions[1],)  # "grind the beans"
    assert as_read(edit.script, TASK, (), ()) == edit.script


def test_a_video_of_another_job_is_set_aside_unless_it_has_the_steps() -> None:
    tea = replace(
        TASK.videos[3],
        id="tea",
        mentions=tuple(replace(m, video="tea", verb="steep") for m in TASK.videos[3].mentions),
    )
    task = replace(TASK, videos=(*TASK.videos, tea))
    edit = made(answer(other_job=["v1", "v5", "v9"]), make_question(task, found(task)))
    assert edit.other_job == ("tea",)
    assert "ann was not set aside: it mentions 4 of the steps" in edit.changes
