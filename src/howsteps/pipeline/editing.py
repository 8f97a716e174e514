"""The stage ``editor``: a language model edits the script, and its replies are cached."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from howsteps.editor import Edit, Editor, EditorError, edit_script, edit_with_answer, make_question
from howsteps.engine.cache import key_of
from howsteps.engine.context import Context
from howsteps.errors import Problem
from howsteps.task import Script, Task

_EDITOR = 1  # version of the cache entries
STAGE = "editor"


def edit(
    task: Task, script: Script, editor: Editor, context: Context
) -> tuple[Task, Script, list[Problem]]:
    """Let a language model edit a script; if that fails, the script is unchanged.

    Replies are cached under the question, so a second run sends no request.

    Returns
    -------
    The task without the videos of another job, the script, and problems.
    """
    key = key_of(
        _EDITOR, question=make_question(task).text, address=editor.address, model=editor.model
    )
    cached = context.cached(STAGE, key, _check_replies) or []
    replies: list[str] = []

    def reply(messages: Sequence[dict[str, str]]) -> str:
        turn = len(replies)
        replies.append(cached[turn] if turn < len(cached) else editor.reply(messages))
        return replies[-1]

    with context.stage(STAGE, task.name, 1) as progress:
        try:
            found = edit_script(task, script, reply)
        except EditorError as error:
            progress.done(task.name, cached=False)
            return task, script, [_problem(task, f"the script was not edited: {error}")]
        if replies != cached:
            context.cache.put_json(STAGE, key, replies)
        progress.done(task.name, cached=replies == cached)
    if found.script is None:
        reasons = "; then: ".join(found.refused)
        return task, script, [_problem(task, f"the script was not edited: {reasons}")]
    return apply_edit(task, found, editor.model)


def _check_replies(value: object) -> list[str]:
    """Check a cache entry: a list of replies."""
    if not (isinstance(value, list) and all(isinstance(reply, str) for reply in value)):
        raise TypeError("not a list of replies")
    return value


def edit_from_answer(
    task: Task, script: Script, answer: str, name: str
) -> tuple[Task, Script, list[Problem]]:
    """Edit a script by an answer that a person got from an assistant called ``name``.

    Raises
    ------
    AnswerError
        It breaks a rule; the message says which.
    """
    return apply_edit(task, edit_with_answer(task, script, answer), name)


def apply_edit(task: Task, found: Edit, name: str) -> tuple[Task, Script, list[Problem]]:
    """Return a task and its script after an edit, with remarks on the videos of another job."""
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
