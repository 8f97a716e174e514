"""Ask the model, validate its answer, retry once, and make a script of the answer."""

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
"""From a conversation to the reply of the model."""
MAX_ECHOED = 2000  # characters of an invalid answer in the retry: small models have short contexts


@dataclass(frozen=True, slots=True)
class Edit:
    """The result of an edit.

    Attributes
    ----------
    script
        The edited script; None if there was no valid answer.
    other_job
        Ids of the videos that the answer says are of another job.
    changes
        What was changed in the script, one line each, for people.
    refused
        Why answers were refused, in order.
    """

    script: Script | None
    other_job: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def edit_script(task: Task, script: Script, reply: Reply) -> Edit:
    """Let a model edit the script of a task.

    An invalid answer is refused, and the model is asked once more with the reason.

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
            edit = _apply(question, script, parse_answer(text, question))
        except AnswerError as error:
            refused.append(str(error))
            again = f"That cannot be used: {error}. Answer again, with one complete JSON object."
            conversation += [
                {"role": "assistant", "content": text[:MAX_ECHOED]},
                {"role": "user", "content": again},
            ]
        else:
            return replace(edit, refused=tuple(refused))
    return Edit(None, refused=tuple(refused))


def edit_with_answer(task: Task, script: Script, text: str) -> Edit:
    """Edit a script with an answer that a person supplies.

    Raises
    ------
    AnswerError
        It is invalid; the message says why.
    """
    question = make_question(task)
    return _apply(question, script, parse_answer(text, question))


def _apply(question: Question, before: Script, answer: Answer) -> Edit:
    """Make the script of a valid answer, and list the changes."""
    task = _without(question.task, answer.other_job)
    sentences = {video.id: video.sentences for video in task.videos}
    steps: list[Step] = []
    changes: list[str] = []
    for index, mentions in enumerate(_mentions_by_step(question, answer, task)):
        given = answer.steps[index]
        first = question.acts[given.acts[0]].act
        [default] = name_steps(task, [[m for m in mentions if Act.of(m) == first] or mentions])
        step = replace(
            default,
            label=given.name,
            mentions=tuple(mentions),
            optional=given.optional,
            # Only adjacent alternatives can be shown as such.
            alternative=any({index - 1, index} <= {*group} for group in answer.alternatives),
        )
        step = step.led_by(_naming_relation(question, given))
        of_acts = [
            m for act in given.acts for m in question.acts[act].mentions if m.video in sentences
        ]
        if unsaid := unsaid_words(given.name, [*mentions, *of_acts], dict(sentences)):
            words = ", ".join(f'"{word}"' for word in unsaid)
            changes.append(
                f'"{given.name}" is called "{default.label}": no narrator of it says {words}'
            )
            step = replace(step, label=default.label)
        steps.append(step)
    script = Script(tuple(steps))
    return Edit(script, answer.other_job, (*_changes(before, script), *changes))


def _naming_relation(question: Question, given: AnsweredStep) -> Relation:
    """The relation that names a step best: the first of its acts that has an object."""
    acts = [question.acts[act].act for act in given.acts]
    best = next((act for act in acts if act.noun), acts[0])
    return Relation(best.verb, best.noun)


def _mentions_by_step(question: Question, answer: Answer, task: Task) -> list[list[Mention]]:
    """The mentions of every step: those of its acts, and of rare acts that are similar to them.

    Mentions that break the order of the answer in their video are left out, as in any script:
    previews, recaps, and other uses of the same words ("put the eggs on the plate").
    """
    in_question = {row.act for row in question.acts.values()}
    steps = [[question.acts[act].act for act in given.acts] for given in answer.steps]
    mentions = [m for video in task.videos for m in video.mentions if not m.negated]
    rare = {Act.of(mention) for mention in mentions} - in_question
    step_of = nearest_steps(rare, steps, WordNet.load())
    step_of |= {act: index for index, step in enumerate(steps) for act in step}
    of_steps = [m for m in sorted(mentions, key=_time_key(task)) if Act.of(m) in step_of]
    step = np.array([step_of[Act.of(mention)] for mention in of_steps])
    ends = {video.id: video_end(video) for video in task.videos}
    groups = [np.flatnonzero(step == index) for index in range(len(steps))]
    kept = keep_in_order(
        groups,
        np.unique([mention.video for mention in of_steps], return_inverse=True)[1],
        np.array([min(1.0, mention.start / ends[mention.video]) for mention in of_steps]),
        (*answer.any_order, *answer.alternatives),
        np.array([mention.work for mention in of_steps]),
    )
    # A step keeps all of its mentions if none follows the order.
    return [
        [of_steps[i] for i in (in_order if len(in_order) else group)]
        for in_order, group in zip(kept, groups, strict=True)
    ]


def _without(task: Task, videos: Sequence[str]) -> Task:
    return replace(task, videos=tuple(v for v in task.videos if v.id not in videos))


def _time_key(task: Task) -> Callable[[Mention], tuple[int, float, float]]:
    order = {video.id: index for index, video in enumerate(task.videos)}
    return lambda mention: (order[mention.video], mention.start, mention.end)


def _changes(before: Script, after: Script) -> list[str]:
    """What happened to the steps, one line each: dropped, added, joined or renamed."""
    owner = {mention: step for step in after.steps for mention in step.mentions}
    sources: dict[str, list[str]] = {}
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
            sources.setdefault(max(counts, key=lambda label: counts[label]), []).append(step.label)
    for step in after.steps:
        old = sources.get(step.label, [])
        if not old:
            lines.append(f'added "{step.label}"')
        elif len(old) > 1:
            joined = ", ".join(f'"{label}"' for label in old)
            lines.append(f'joined {joined} as "{step.label}"')
        elif old != [step.label]:
            lines.append(f'renamed "{old[0]}" to "{step.label}"')
    return lines
