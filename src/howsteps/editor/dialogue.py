"""Ask, check, ask once more, and make a script of the answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from howsteps.editor.answer import Answer, AnsweredStep, AnswerError, parse_answer
from howsteps.editor.naming import unsaid_words
from howsteps.editor.question import Act, Question, make_question, video_end
from howsteps.editor.rare_acts import nearest_steps
from howsteps.script.chains import keep_in_order
from howsteps.script.step_names import name_steps
from howsteps.task import Mention, Relation, Script, Step, Task
from howsteps.wordnet import WordNet

Reply = Callable[[Sequence[dict[str, str]]], str]
"""From a conversation to what the model says next."""
REPEATED = 2000  # characters of a wrong answer that are sent back: a small model has little room


@dataclass(frozen=True, slots=True)
class Edit:
    """What became of a question.

    Attributes
    ----------
    script
        The script as it was edited; None when no answer could be used.
    other_job
        Ids of the videos that are said to be of another job.
    changes
        What was done to the script, one line each, for people to read.
    refused
        Why answers were refused, in the order in which they came.
    """

    script: Script | None
    other_job: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def edit_script(task: Task, script: Script, reply: Reply) -> Edit:
    """Let a model edit the script of a task.

    An answer that breaks a rule is refused, and the model is asked once more with the reason.

    Raises
    ------
    EditorError
        The model cannot be reached.
    """
    question = make_question(task)
    conversation = [{"role": "user", "content": question.text}]
    refused: list[str] = []
    for _ in range(2):
        text = reply(conversation)
        try:
            edit = _edited(question, script, parse_answer(text, question))
        except AnswerError as error:
            refused.append(str(error))
            again = f"That cannot be used: {error}. Answer again, with one whole JSON object."
            conversation += [
                {"role": "assistant", "content": text[:REPEATED]},
                {"role": "user", "content": again},
            ]
        else:
            return replace(edit, refused=tuple(refused))
    return Edit(None, refused=tuple(refused))


def edit_with_answer(task: Task, script: Script, text: str) -> Edit:
    """Make a script of an answer that a person brought.

    Raises
    ------
    AnswerError
        It cannot be used; the message says why.
    """
    question = make_question(task)
    return _edited(question, script, parse_answer(text, question))


def _edited(question: Question, before: Script, answer: Answer) -> Edit:
    task = _without(question.task, answer.other_job)
    sentences = {video.id: video.sentences for video in task.videos}
    steps: list[Step] = []
    changes: list[str] = []
    for number, mentions in enumerate(_members(question, answer, task)):
        given = answer.steps[number]
        first = question.acts[given.acts[0]].act
        [own] = name_steps(task, [[m for m in mentions if Act.of(m) == first] or mentions])
        step = replace(
            own,
            label=given.name,
            mentions=tuple(mentions),
            optional=given.optional,
            # Alternatives that stand side by side can be shown as such.
            alternative=any({number - 1, number} <= {*group} for group in answer.alternatives),
        )
        step = step.led_by(_naming_relation(question, given))
        said = [
            m for act in given.acts for m in question.acts[act].mentions if m.video in sentences
        ]
        if unsaid := unsaid_words(given.name, [*mentions, *said], dict(sentences)):
            words = ", ".join(f'"{word}"' for word in unsaid)
            changes.append(
                f'"{given.name}" is called "{own.label}": no narrator of it says {words}'
            )
            step = replace(step, label=own.label)
        steps.append(step)
    script = Script(tuple(steps))
    return Edit(script, answer.other_job, (*_differences(before, script), *changes))


def _naming_relation(question: Question, given: AnsweredStep) -> Relation:
    """The relation that names a step best, as the answer has it: its first act with an object."""
    acts = [question.acts[act].act for act in given.acts]
    best = next((act for act in acts if act.noun), acts[0])
    return Relation(best.verb, best.noun)


def _members(question: Question, answer: Answer, task: Task) -> list[list[Mention]]:
    """The mentions of every step: those of its acts, and of rare acts that are similar to them.

    In every video those are kept that follow the order of the answer, as in any script: previews,
    recaps, and what the same words mean elsewhere ("put the eggs on the plate") are set aside.
    """
    asked = {row.act for row in question.acts.values()}
    steps = [[question.acts[act].act for act in given.acts] for given in answer.steps]
    mentions = [m for video in task.videos for m in video.mentions if not m.negated]
    rare = {Act.of(mention) for mention in mentions} - asked
    step_of = nearest_steps(rare, steps, WordNet.load())
    step_of |= {act: number for number, step in enumerate(steps) for act in step}
    said = [m for m in sorted(mentions, key=_time_order(task)) if Act.of(m) in step_of]
    step = np.array([step_of[Act.of(mention)] for mention in said])
    ends = {video.id: video_end(video) for video in task.videos}
    groups = [np.flatnonzero(step == number) for number in range(len(steps))]
    kept = keep_in_order(
        groups,
        np.unique([mention.video for mention in said], return_inverse=True)[1],
        np.array([min(1.0, mention.start / ends[mention.video]) for mention in said]),
        (*answer.any_order, *answer.alternatives),
        np.array([mention.work for mention in said]),
    )
    # A step that only ever comes out of order is still a step.
    return [
        [said[at] for at in (own if len(own) else whole)]
        for own, whole in zip(kept, groups, strict=True)
    ]


def _without(task: Task, videos: Sequence[str]) -> Task:
    return replace(task, videos=tuple(v for v in task.videos if v.id not in videos))


def _time_order(task: Task) -> Callable[[Mention], tuple[int, float, float]]:
    number = {video.id: place for place, video in enumerate(task.videos)}
    return lambda mention: (number[mention.video], mention.start, mention.end)


def _differences(before: Script, after: Script) -> list[str]:
    """What happened to every step of the script as it was."""
    owner = {mention: step for step in after.steps for mention in step.mentions}
    goes_to: dict[str, list[str]] = {}
    lines = []
    for step in before.steps:
        counts: dict[str, int] = {}
        for mention in step.mentions:
            if mention in owner:
                label = owner[mention].label
                counts[label] = counts.get(label, 0) + 1
        if not counts:
            lines.append(f'dropped "{step.label}"')
        else:
            goes_to.setdefault(max(counts, key=lambda label: counts[label]), []).append(step.label)
    for step in after.steps:
        parts = goes_to.get(step.label, [])
        if not parts:
            lines.append(f'added "{step.label}"')
        elif len(parts) > 1:
            joined = ", ".join(f'"{part}"' for part in parts)
            lines.append(f'joined {joined} as "{step.label}"')
        elif parts != [step.label]:
            lines.append(f'renamed "{parts[0]}" to "{step.label}"')
    return lines
