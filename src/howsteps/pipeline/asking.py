"""What a language model does in a run: it writes the script, and reads every video.

What it answered before is not asked again: replies are cached under their questions. Where a
question changed and has no answer, what the same reader made in an earlier run holds.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from howsteps.errors import Problem
from howsteps.io.files import key_of
from howsteps.pipeline.context import Context, Sends
from howsteps.pipeline.earlier import moved, steps_now, unchanged
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.placing import read_labels
from howsteps.pipeline.stages import path_of
from howsteps.reader import (
    AnswerError,
    AnswerFolder,
    LanguageModelError,
    Reader,
    Unanswered,
    edit_script,
    make_question,
)
from howsteps.reader.answer import SCHEMA, as_read, without_unsaid
from howsteps.reader.dialogue import SECOND_TOKENS
from howsteps.reader.exchange import Recorded, estimated_tokens
from howsteps.reader.question import most_different
from howsteps.reader.reading import Asker, VideoQuestions, VideoReading, contradiction
from howsteps.script.matching import with_videos_searched
from howsteps.task import Reading, Result, Script, SetAside, Task, Video

_EDITOR = _READING = 1  # versions of the cache entries
EDITOR, READING = "editor", "reading"
ANEW = {"script", EDITOR}  # stages that find the steps: if forced, none of before is kept


class Asked(NamedTuple):
    """What became of a task and its script, what was read in which videos, and problems.

    ``unasked`` are the steps about which nobody was asked in some of these videos.
    """

    task: Task
    script: Script
    set_aside: tuple[SetAside, ...] = ()
    readings: tuple[Reading, ...] = ()
    read_videos: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()
    unasked: frozenset[int] = frozenset()


def ask(
    task: Task,
    script: Script,
    reader: Reader,
    options: RunOptions,
    context: Context,
    set_aside: Sequence[SetAside] | None,
    before: Result | None = None,
) -> Asked:
    """Let a language model write the script, and read every video.

    If what it reads contradicts the narrators, neither is used.

    Parameters
    ----------
    set_aside
        Videos that are not in the task. None: a person wrote the script, which stays.
    before
        The result of an earlier run with this reader.
    """
    found = Asked(task, script)
    if set_aside is not None:
        found = _edit(task, script, reader, options, context, set_aside, before)
    if options.mode == "default":
        found = _read_videos(found, reader, context, before)
    if reason := contradiction(found.script, found.readings, found.read_videos):
        unused = _problem(task, f"nothing of {reader.model} is used: {reason}")
        return Asked(task, script, problems=(*found.problems, unused))
    read = as_read(found.script, found.task, found.readings, found.read_videos)
    steps = enumerate(zip(found.script.steps, read.steps, strict=True))
    read = replace(read, steps=tuple(old if k in found.unasked else new for k, (old, new) in steps))
    if set_aside is None:
        return found._replace(script=read)
    said, readings = without_unsaid(read, found.readings)
    return found._replace(script=said, readings=readings)


def tidied(reader: Reader | None) -> list[Problem]:
    """Remove questions that are not asked any more, if they are in a folder; return a remark."""
    return reader.tidy() if isinstance(reader, AnswerFolder) else []


# The script


def _edit(
    task: Task,
    script: Script,
    reader: Reader,
    options: RunOptions,
    context: Context,
    set_aside: Sequence[SetAside],
    before: Result | None,
) -> Asked:
    """Let a language model write the script; if that fails, the script is unchanged.

    If it wrote one before and the question has changed since, that one stays, unless there is an
    answer to the new question.
    """
    keep = [video.id for video in task.videos] if options.keep_all else options.keep
    question = make_question(task, script, set_aside, steps=options.steps, keep=keep)
    key = key_of(_EDITOR, question=question.text, model=reader.model)
    known = _known_replies(EDITOR, key, reader, context)
    kept = _kept(task, reader, options, context, before)
    if kept and not known and not isinstance(reader, AnswerFolder):
        return kept
    if not known and reader.address:
        tokens = round(2 * estimated_tokens(question.text)) + SECOND_TOKENS
        context.callback(Sends(task.name, "the script", reader.address, 2, tokens))
    reply = Recorded(partial(reader.reply, schema=SCHEMA), known)
    label_reader = partial(read_labels, parser=options.parser)
    with context.stage(EDITOR, task.name, 1) as progress:
        try:
            found = edit_script(question, reply, label_reader)
        except (AnswerError, LanguageModelError) as error:
            unedited = kept or Asked(task, script)
            if _is_asked(error, reader) or (kept and isinstance(error, Unanswered)):
                return unedited
            problem = _failed(Path(task.name), f"the script was not edited: {error}", error)
            return unedited._replace(problems=(*unedited.problems, problem))
        finally:
            progress.done(task.name, cached=bool(known) and reply.replies == known)
        if reply.replies != known:
            context.cache.put(EDITOR, key, reply.replies)
    said = _of_another_job(reader)
    other = [video for video in task.videos if video.id in found.other_job]
    problems = [Problem(path_of(v), f"set aside: {said}", harmless=True) for v in other]
    if found.failure and not _is_asked(found.failure, reader):
        reason = f"{reader.model} has no second answer about the script: {found.failure}"
        problems.append(_problem(task, reason))
    changes = (*found.changes, *found.remarks)
    return Asked(
        replace(task, videos=tuple(video for video in task.videos if video not in other)),
        replace(found.script, editor=reader.model, changes=changes),
        tuple(SetAside(video.id, video.title, said) for video in other),
        problems=tuple(problems),
    )


def _kept(
    task: Task, reader: Reader, options: RunOptions, context: Context, before: Result | None
) -> Asked | None:
    """What a reader made of the script in an earlier run, if videos and options still allow it.

    Its steps are looked for in the videos that are new.
    """
    if before is None or before.script.editor != reader.model or context.redo & ANEW:
        return None
    same, most = unchanged(task, before), options.steps or len(before.steps)
    if not same or options.mode != "default" or len(before.steps) > most:
        return None
    said, ids = _of_another_job(reader), {video.id for video in task.videos}
    other = tuple(
        each
        for each in before.set_aside
        if each.reason == said and each.video in ids  # others are set aside already
        if not options.keep_all and each.video not in options.keep
    )
    out = {each.video for each in other}
    task = replace(task, videos=tuple(video for video in task.videos if video.id not in out))
    new = {video.id for video in task.videos if video.id not in same}
    script = with_videos_searched(before.script.within(same), task, new)
    reason = (
        f"the script that {reader.model} wrote before is kept, as the question has changed since; "
        "to ask again: `force` editor"
    )
    return Asked(task, script, other, problems=(_problem(task, reason),))


def _of_another_job(reader: Reader) -> str:
    return f"of another job, says {reader.model}"


def _problem(task: Task, reason: str) -> Problem:
    return Problem(Path(task.name), reason, harmless=True)


def _failed(path: Path, reason: str, error: Exception) -> Problem:
    """The problem of an answer that there is not: without a question, nothing is lost."""
    return Problem(path, reason, harmless=isinstance(error, Unanswered))


def _is_asked(error: Exception, reader: Reader) -> bool:
    """Whether a question was just written, to be listed at the end of the run."""
    return isinstance(error, Unanswered) and isinstance(reader, AnswerFolder) and reader.ask


def _known_replies(stage: str, key: str, reader: Reader, context: Context) -> list[str]:
    """The replies of an earlier run; files are read again, as they may have been corrected."""
    known = None if isinstance(reader, AnswerFolder) else context.cached(stage, key, list[str])
    return known or []


# The videos


def _read_videos(asked: Asked, reader: Reader, context: Context, before: Result | None) -> Asked:
    """Let a language model read where the steps are done, each video by itself.

    If not all videos can be read for the tokens that may be sent, the most different ones are. What
    was read before in a video that is not read now stays.
    """
    task, script = asked.task, asked.script
    questions = {v.id: VideoQuestions(task, script, v) for v in task.videos if v.sentences}
    read, failed = _answers(task, questions, reader, context)
    readings = [reading for own in read.values() for reading in own.readings]
    problems: list[Problem] = []
    stay: set[str] = set()
    unasked: set[int] = set()
    if before is not None and (stay := (unchanged(task, before) & before.read_videos) - {*read}):
        still = moved(before.within(stay).readings, steps_now(before.script, script))
        readings += still
        old = {step.label for step in before.steps}
        unasked = {k for k, step in enumerate(script.steps) if step.label not in old}
        unasked -= {reading.step for reading in still}
    if unasked:
        reason = (
            f"what {reader.model} read before stays, but no video is read for new steps; to read "
            "them: `llm`"
        )
        problems.append(_problem(task, reason))
    for video, own in questions.items():
        if video in failed and not (video in stay and failed[video].harmless):
            problems.append(failed[video])
        if video in read:
            problems += _remarks(own.video, read[video], reader)
    order = {video.id: n for n, video in enumerate(task.videos)}
    return asked._replace(
        readings=tuple(sorted(readings, key=lambda reading: order[reading.video])),
        read_videos=frozenset({*read, *stay}),
        problems=(*asked.problems, *problems),
        unasked=frozenset(unasked),
    )


def _answers(
    task: Task, questions: Mapping[str, VideoQuestions], reader: Reader, context: Context
) -> tuple[dict[str, VideoReading], dict[str, Problem]]:
    """What was read in which videos, and why nothing was read in others.

    Replies are cached for each video, so a run can be interrupted, repeated and extended. What
    fails costs that video alone.
    """
    keys = {
        video: key_of(_READING, questions=own.texts, model=reader.model)
        for video, own in questions.items()
    }
    known = {video: _known_replies(READING, keys[video], reader, context) for video in questions}
    tokens = {video: 0 if known[video] else own.tokens for video, own in questions.items()}
    chosen = most_different([own.video for own in questions.values()], tokens, reader.tokens)
    too_many = (
        f"not read: all videos take {sum(tokens.values()):,} tokens, and at most {reader.tokens:,} "
        "may be sent (`llm_tokens`)"
    )
    failed = {
        video: Problem(path_of(questions[video].video), too_many, harmless=True)
        for video in questions.keys() - {*chosen}
    }
    if (sent := sum(tokens[video] for video in chosen)) and reader.address:
        requests = sum(len(questions[video].pieces) for video in chosen if not known[video])
        context.callback(Sends(task.name, "transcripts", reader.address, requests, sent))
    read: dict[str, VideoReading] = {}
    asker = Asker(reader)
    with (
        context.stage(READING, task.name, len(chosen)) as progress,
        ThreadPoolExecutor(reader.parallel) as pool,
    ):
        jobs = {pool.submit(asker.read, questions[v], known[v]): v for v in chosen}
        try:
            for job in as_completed(jobs):
                video = jobs[job]
                try:
                    read[video], replies = job.result()
                    if replies != known[video]:
                        context.cache.put(READING, keys[video], replies)
                except (LanguageModelError, AnswerError) as error:
                    path = path_of(questions[video].video)
                    if not _is_asked(error, reader):
                        failed[video] = _failed(path, f"not read: {error}", error)
                progress.done(video, cached=bool(known[video]))
        except BaseException:  # such as Ctrl-C, after which nothing more is sent
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return read, failed


def _remarks(video: Video, read: VideoReading, reader: Reader) -> list[Problem]:
    """What is remarkable about a reading."""
    reasons = [] if read.readings else [f"{reader.model} read no step in it"]
    reasons += [f"a part of the answer of {reader.model} was not used: {r}" for r in read.remarks]
    return [Problem(path_of(video), reason, harmless=True) for reason in reasons]
