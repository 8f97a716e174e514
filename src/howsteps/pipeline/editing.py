"""The stage ``editor``: a language model edits the script, and its replies are cached."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from howsteps.editor import Edit, Editor, EditorError, edit_script, edit_with_answer, make_question
from howsteps.engine.cache import key_of
from howsteps.engine.context import Context
from howsteps.errors import Problem
from howsteps.task import Script, Task

_EDITOR = 1  # version of what is cached
STAGE = "editor"


def edit(
    task: Task, script: Script, editor: Editor, context: Context
) -> tuple[Task, Script, list[Problem]]:
    """Let a model edit a script; what it cannot do leaves the script as it was.

    Its replies are cached under the question, so a second run asks nobody.

    Returns
    -------
    The task without the videos that are of another job, the script, and what there is to say.
    """
    key = key_of(
        _EDITOR, question=make_question(task).text, address=editor.address, model=editor.model
    )
    known = context.cached(STAGE, key, _replies) or []
    replies: list[str] = []

    def reply(messages: Sequence[dict[str, str]]) -> str:
        turn = len(replies)
        replies.append(known[turn] if turn < len(known) else editor.reply(messages))
        return replies[-1]

    with context.stage(STAGE, task.name, 1) as progress:
        try:
            found = edit_script(task, script, reply)
        except EditorError as error:
            progress.done(task.name, cached=False)
            return task, script, [_problem(task, f"the script was not edited: {error}")]
        if replies != known:
            context.cache.put_json(STAGE, key, replies)
        progress.done(task.name, cached=replies == known)
    if found.script is None:
        reasons = "; then: ".join(found.refused)
        return task, script, [_problem(task, f"the script was not edited: {reasons}")]
    return applied(task, found, editor.model)


def _replies(value: object) -> list[str]:
    """The replies that were cached."""
    if not (isinstance(value, list) and all(isinstance(reply, str) for reply in value)):
        raise TypeError("not a list of replies")
    return value


def take_answer(
    task: Task, script: Script, answer: str, name: str
) -> tuple[Task, Script, list[Problem]]:
    """Make a script of an answer that a person brought.

    Raises
    ------
    AnswerError
        It breaks a rule; the message says which.
    """
    return applied(task, edit_with_answer(task, script, answer), name)


def applied(task: Task, found: Edit, name: str) -> tuple[Task, Script, list[Problem]]:
    """A task and its script after an edit."""
    script = replace(found.script or Script(()), editor=name, changes=found.changes)
    other = set(found.other_job)
    problems = [
        Problem(
            video.media or Path(video.id), f"set aside: of another job, says {name}", harmless=True
        )
        for video in task.videos
        if video.id in other
    ]
    return (
        replace(task, videos=tuple(v for v in task.videos if v.id not in other)),
        script,
        problems,
    )


def _problem(task: Task, reason: str) -> Problem:
    return Problem(Path(task.name), reason)
