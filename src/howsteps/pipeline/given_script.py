"""The stages ``labels`` and ``editor``: a script given by a person, or edited by a language model.

Acts are extracted from labels that have no mentions. Simple labels need no parser; for the others
the parser's output is cached, because loading the parser takes longer than everything else.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from howsteps.errors import InputError, Problem
from howsteps.io.files import key_of
from howsteps.io.text import read_text
from howsteps.narration.labels import plain_act
from howsteps.pipeline.cache import stage_key
from howsteps.pipeline.context import Context
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.work_folder import SCRIPT, SCRIPT_TEXT
from howsteps.reader import Edit, Editor, EditorError, edit_script, edit_with_answer, make_question
from howsteps.script.text_form import parse_script_text
from howsteps.script.text_mentions import script_of_text, with_matches
from howsteps.store import check_script, read_script
from howsteps.task import Mention, Script, Task

LABELS = "labels"


def is_text(path: Path) -> bool:
    """Whether a script file is text: anything but JSON."""
    return path.suffix.lower() != ".json"


def check_given_script(path: Path, task: Task) -> None:
    """Check the syntax of a script, before the narrations are processed.

    Raises
    ------
    InputError
        The file is not a script; the message says where.
    """
    if is_text(path):
        parse_script_text(read_text(path), path)
    else:
        check_script(path, task)


def read_given_script(
    given: Path | str,
    task: Task,
    known: Script,
    options: RunOptions,
    context: Context,
) -> tuple[Script, list[Problem]]:
    """Read a script from a file or a string.

    Parameters
    ----------
    given
        The path of a file (``.json``, else text), or the text itself.
    task
        The task, with mentions.
    known
        The script that the text was made from (:func:`known_script`).

    Raises
    ------
    InputError
        It cannot be used; the message gives the line.
    """
    if isinstance(given, Path) and not is_text(given):
        return read_script(given, task), []
    path = given if isinstance(given, Path) else Path(SCRIPT_TEXT)
    text = read_text(given) if isinstance(given, Path) else given
    steps = parse_script_text(text, path)
    reader = partial(_read_labels, task=task.name, options=options, context=context)
    return script_of_text(steps, task, known, reader, path)


def match_unmentioned_steps(
    script: Script, task: Task, options: RunOptions, context: Context
) -> Script:
    """Match the steps that have no mentions with what is said."""
    reader = partial(_read_labels, task=task.name, options=options, context=context)
    return with_matches(script, task, reader)


def known_script(folders: Iterable[Path], task: Task) -> Script:
    """The first script of this task in some work folders; an empty one if there is none."""
    for folder in folders:
        with suppress(InputError):
            return read_script(folder / SCRIPT, task)
    return Script(())


def _read_labels(
    labels: Sequence[str], task: str, options: RunOptions, context: Context
) -> list[Sequence[Mention]]:
    plain = {label: (act,) for label in labels if (act := plain_act(label)) is not None}
    jobs = [
        (label, stage_key("narration", label=label, parser=options.parser), (label, options.parser))
        for label in labels
        if label not in plain
    ]
    parsed, _ = context.compute_each(
        LABELS,
        task,
        jobs,
        _read_label,
        tuple[Mention, ...],
        lambda _, acts: acts,
        max_serial=len(jobs),
    )
    return [plain.get(label) or parsed.get(label, ()) for label in labels]


def _read_label(job: tuple[str, str | None]) -> tuple[Mention, ...]:
    from howsteps.narration.labels import acts_of_labels  # noqa: PLC0415 - loads spaCy

    label, parser = job
    [acts] = acts_of_labels([label], model=parser)
    return tuple(acts)


_EDITOR = 1  # version of the cache entries
EDITOR = "editor"


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
    cached = context.cached(EDITOR, key, list[str]) or []
    replies: list[str] = []

    def reply(messages: Sequence[dict[str, str]]) -> str:
        turn = len(replies)
        replies.append(cached[turn] if turn < len(cached) else editor.reply(messages))
        return replies[-1]

    with context.stage(EDITOR, task.name, 1) as progress:
        try:
            found = edit_script(task, script, reply)
        except EditorError as error:
            progress.done(task.name, cached=False)
            return task, script, [_problem(task, f"the script was not edited: {error}")]
        if replies != cached:
            context.cache.put(EDITOR, key, replies)
        progress.done(task.name, cached=replies == cached)
    if found.script is None:
        reasons = "; then: ".join(found.refused)
        return task, script, [_problem(task, f"the script was not edited: {reasons}")]
    return apply_edit(task, found, editor.model)


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
